#include "amg/cycle.hpp"

#include "amg/prolongation_matching.hpp"
#include "support/petsc_problems.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using Cycle = SpaceTest<Ex>;
TYPED_TEST_SUITE(Cycle, Spaces, SpaceName);

namespace
{
template <class Ex> struct Solver {
  Mat A = nullptr;
  Hierarchy<Ex> hierarchy;
  SetupStatus status = SetupStatus::ready;

  PetscErrorCode create(Ex &ex, const HostCsr &M, const AmgParameters &parameters)
  {
    PetscFunctionBegin;
    PetscCall(distribute(M, Ex::on_device, &A));
    PetscCall(hierarchy.build(ex, A, parameters, *make_matching_prolongation<Ex>({}), &status));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  int rows() const { return hierarchy.levels.front()->A.rows; }
  PetscInt first() const { return hierarchy.levels.front()->A.first(rank_of_world()); }
  PetscErrorCode apply(Ex &ex, PetscInt sweeps, const std::vector<double> &b, std::vector<double> &x)
  {
    Array<double, Ex> B, X;
    PetscFunctionBegin;
    PetscCall(upload(ex, b, B));
    PetscCall(X.allocate(ex, B.size()));
    PetscCall(hierarchy.finest.access(ex, hierarchy.levels.front()->A));
    PetscCall(v_cycle(ex, hierarchy, sweeps, B.data(), X.data()));
    PetscCall(hierarchy.finest.release());
    PetscCall(download(ex, X.data(), X.size(), x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ~Solver() { static_cast<void>(MatDestroy(&A)); }
};

double dot(const std::vector<double> &x, const std::vector<double> &y)
{
  double s = 0;
  for (std::size_t i = 0; i < x.size(); i++) s += x[i] * y[i];
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return s;
}
} // namespace

TYPED_TEST(Cycle, IsASymmetricPositiveOperatorForAnySweeps)
{
  for (PetscInt sweeps : {1, 2, 3, 4}) {
    Solver<TypeParam> solver;
    AmgParameters parameters;
    parameters.coarse_eq_limit = 20;
    OK(solver.create(this->ex, grid7(9, 8, 7, 1, 1, 0.1), parameters));
    ASSERT_GT(solver.hierarchy.levels.size(), 1U);
    std::vector<double> u(solver.rows()), v(solver.rows()), Bu, Bv;
    for (int i = 0; i < solver.rows(); i++) {
      u[i] = std::sin(0.3 * static_cast<double>(solver.first() + i));
      v[i] = std::cos(1.1 * static_cast<double>(solver.first() + i));
    }
    OK(solver.apply(this->ex, sweeps, u, Bu));
    OK(solver.apply(this->ex, sweeps, v, Bv));
    EXPECT_NEAR(dot(Bu, v), dot(u, Bv), 1e-12 * std::abs(dot(Bu, u)));
    EXPECT_GT(dot(Bu, u), 0);
    EXPECT_GT(dot(Bv, v), 0);
  }
}

TYPED_TEST(Cycle, OneLevelIsExact)
{
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, grid7(6, 5, 4), {}));
  ASSERT_EQ(solver.hierarchy.levels.size(), 1U);
  std::vector<double> b(solver.rows(), 1.0), x;
  const PetscScalar *entries;
  OK(solver.apply(this->ex, 1, b, x));
  Vec X, R;
  OK(MatCreateVecs(solver.A, &X, &R));
  for (int i = 0; i < solver.rows(); i++) OK(VecSetValue(X, solver.first() + i, x[i], INSERT_VALUES));
  OK(VecAssemblyBegin(X));
  OK(VecAssemblyEnd(X));
  OK(MatMult(solver.A, X, R));
  OK(VecGetArrayRead(R, &entries));
  for (int i = 0; i < solver.rows(); i++) EXPECT_NEAR(entries[i], 1, 1e-12);
  OK(VecRestoreArrayRead(R, &entries));
  OK(VecDestroy(&X));
  OK(VecDestroy(&R));
}

TYPED_TEST(Cycle, DenseLimitFallsBackToTheSmoother)
{
  Solver<TypeParam> solver;
  AmgParameters parameters;
  parameters.coarse_solver = static_cast<int>(CoarseKind::smoother);
  OK(solver.create(this->ex, grid7(6, 5, 4), parameters));
  EXPECT_EQ(solver.hierarchy.coarse_solver.description(), "20 sweeps of the smoother");
  std::vector<double> b(solver.rows(), 1.0), x;
  OK(solver.apply(this->ex, 4, b, x));
  EXPECT_GT(dot(b, x), 0);
}

TYPED_TEST(Cycle, SingularCoarseMatrixIsReported)
{
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, from_edges(4, {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 1}}, 0), {}));
  EXPECT_EQ(solver.status, SetupStatus::singular_coarse);
}
} // namespace amgkit::test
