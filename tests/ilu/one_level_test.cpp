// Blocks of ILU(0) by themselves: what fails on one rank is known to all.
#include "dist/mat_view.hpp"
#include "ilu/one_level.hpp"
#include "support/failing_allocations.hpp"
#include "support/ilu_matrices.hpp"

namespace amgkit::test
{
namespace
{
// A matrix as a space sees it
template <class Ex> struct Seen {
  OwnedMat mat;
  MatView<Ex> view;
  DistMatrix<Ex> A;

  PetscErrorCode look(Ex &ex, const HostCsr &M)
  {
    PetscFunctionBegin;
    PetscCall(distribute(M, Ex::on_device, mat.out()));
    PetscCall(view.create(mat, A));
    PetscCall(view.access(ex, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex> using OneLevel = SpaceTest<Ex>;
TYPED_TEST_SUITE(OneLevel, Spaces, SpaceName);

// The smallest row with a fault, of all ranks, in the numbers of the user's matrix.
TYPED_TEST(OneLevel, NamesTheFirstFaultOfAllRanks)
{
  HostCsr M = tridiagonal(40);
  for (const int row : {39, 25, 13}) {
    for (int k = M.ptr[row]; k < M.ptr[row + 1]; k++) {
      if (M.col[k] <= row) M.val[k] = 0;
    }
    Seen<TypeParam> seen;
    IluSetup setup;
    OK(seen.look(this->ex, M));
    OneLevelIlu<TypeParam> method{IluParameters{}};
    OK(method.create(this->ex, seen.A, setup));
    EXPECT_EQ(setup.fault, IluFault::zero_pivot);
    EXPECT_EQ(setup.row, row);
    OK(seen.view.release());
  }
}

// Also where the factors have another order.
TYPED_TEST(OneLevel, NamesAFaultInTheUsersNumbers)
{
  HostCsr M = tridiagonal(40);
  for (int k = M.ptr[29]; k < M.ptr[30]; k++) M.val[k] = 0;
  for (const OrderingKind ordering : {OrderingKind::natural, OrderingKind::rcm, OrderingKind::multicolor}) {
    Seen<TypeParam> seen;
    IluSetup setup;
    IluParameters parameters;
    parameters.ordering = ordering;
    OK(seen.look(this->ex, M));
    OneLevelIlu<TypeParam> method{parameters};
    OK(method.create(this->ex, seen.A, setup));
    EXPECT_EQ(setup.fault, IluFault::zero_pivot);
    EXPECT_EQ(setup.row, 29);
    OK(seen.view.release());
  }
}

TYPED_TEST(OneLevel, NamesAMissingDiagonal)
{
  Seen<TypeParam> seen;
  IluSetup setup;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 20; i++) entries[{i, i == 11 ? 12 : i}] = 1;
  OK(seen.look(this->ex, make_csr(20, 20, entries)));
  OneLevelIlu<TypeParam> method{IluParameters{}};
  OK(method.create(this->ex, seen.A, setup));
  EXPECT_EQ(setup.fault, IluFault::no_diagonal);
  EXPECT_EQ(setup.row, 11);
  OK(seen.view.release());
}

TEST(OneLevelFailure, EveryAllocationMayFailOnOneRank)
{
  for (const OrderingKind ordering : {OrderingKind::natural, OrderingKind::rcm, OrderingKind::multicolor}) {
    FailingAllocations failing;
    IluParameters parameters;
    parameters.ordering = ordering;
    parameters.triangular_solve = TriangularSolve::jacobi;
    for (bool more = true; more;) {
      Debug ex;
      IluSetup setup;
      Seen<Debug> seen;
      OK(seen.look(ex, skewed(grid7(5, 4, 4))));
      more = failing.run(ex, [&] {
        OneLevelIlu<Debug> method{parameters};
        PetscFunctionBegin;
        PetscCall(method.create(ex, seen.A, setup));
        PetscCall(method.update_values(ex, seen.A, setup));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
      EXPECT_TRUE(setup.ready());
    }
    EXPECT_GT(failing.failures(), 10);
  }
}

// The transposes come with the first application that needs them.
TEST(OneLevelFailure, TransposesThatFindNoMemoryAreAnErrorOnAllRanks)
{
  FailingAllocations failing;
  for (bool more = true; more;) {
    Debug ex;
    IluSetup setup;
    Seen<Debug> seen;
    OK(seen.look(ex, skewed(grid7(5, 4, 4))));
    OneLevelIlu<Debug> method{IluParameters{}};
    OK(method.create(ex, seen.A, setup));
    const std::vector<double> b(static_cast<std::size_t>(seen.A.rows), 1);
    std::vector<double> x(b);
    failing.begin(ex);
    const PetscErrorCode code = quietly([&] { return method.apply_transpose(ex, seen.A, b.data(), x.data()); });
    EXPECT_TRUE(code == 0 || code == PETSC_ERR_MEM) << code;
    more = failing.next(ex, code != 0);
  }
  EXPECT_GT(failing.failures(), 5);
}
} // namespace amgkit::test
