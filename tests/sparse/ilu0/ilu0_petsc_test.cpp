// The factors beside PETSc's own, by what they solve.
#include "sparse/ilu0/ilu0.hpp"

#include "support/ilu_matrices.hpp"
#include "support/petsc_objects.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using IncompleteLuOfPetsc = SpaceTest<Ex>;
TYPED_TEST_SUITE(IncompleteLuOfPetsc, Spaces, SpaceName);

namespace
{
PetscErrorCode sequential(const HostCsr &A, Mat *out)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, out));
  PetscCall(MatSetSizes(*out, A.rows, A.cols, A.rows, A.cols));
  PetscCall(MatSetType(*out, MATSEQAIJ));
  PetscCall(MatSetUp(*out));
  PetscCall(MatSetOption(*out, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(*out, MAT_USE_INODES, PETSC_FALSE)); // they sum in another order
  for (PetscInt i = 0; i < A.rows; i++) {
    const std::vector<PetscInt> cols(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1]);
    PetscCall(MatSetValues(*out, 1, &i, static_cast<PetscInt>(cols.size()), cols.data(), A.val.data() + A.ptr[i], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

MatFactorShiftType petscs(IluShift shift)
{
  switch (shift) {
  case IluShift::none:
    return MAT_SHIFT_NONE;
  case IluShift::nonzero:
    return MAT_SHIFT_NONZERO;
  case IluShift::positive_definite:
    return MAT_SHIFT_POSITIVE_DEFINITE;
  case IluShift::inblocks:
    return MAT_SHIFT_INBLOCKS;
  }
  return MAT_SHIFT_NONE;
}

struct PetscSolution {
  MatFactorError fault = MAT_FACTOR_NOERROR;
  std::vector<double> x, x_t;
};

PetscErrorCode solve_with(Mat F, const std::vector<double> &b, PetscSolution *solution)
{
  OwnedVec rhs, x;
  const PetscScalar *values;
  const auto n = static_cast<PetscInt>(b.size());

  PetscFunctionBegin;
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, b.data(), rhs.out()));
  PetscCall(VecDuplicate(rhs, x.out()));
  for (bool transposed : {false, true}) {
    PetscCall(transposed ? MatSolveTranspose(F, rhs, x) : MatSolve(F, rhs, x));
    PetscCall(VecGetArrayRead(x, &values));
    (transposed ? solution->x_t : solution->x).assign(values, values + n);
    PetscCall(VecRestoreArrayRead(x, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_by_petsc(const HostCsr &A, const IluOptions &options, const std::vector<double> &b, PetscSolution *solution)
{
  OwnedMat M, F;
  OwnedIS rows, cols;
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(sequential(A, M.out()));
  PetscCall(MatGetOrdering(M, MATORDERINGNATURAL, rows.out(), cols.out()));
  PetscCall(MatGetFactor(M, MATSOLVERPETSC, MAT_FACTOR_ILU, F.out()));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = 0;
  info.fill = 1;
  info.zeropivot = options.zero_pivot;
  info.shiftamount = options.shift_amount;
  info.shifttype = static_cast<PetscReal>(petscs(options.shift));
  PetscCall(MatILUFactorSymbolic(F, M, rows, cols, &info));
  PetscCall(MatLUFactorNumeric(F, M, &info));
  PetscCall(MatFactorGetError(F, &solution->fault));
  if (solution->fault == MAT_FACTOR_NOERROR) PetscCall(solve_with(F, b, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void expect_near(const std::vector<double> &got, const std::vector<double> &expected, const std::string &what)
{
  const double size = largest(expected);
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 1e-11 * size) << what << ", row " << i;
}
} // namespace

TYPED_TEST(IncompleteLuOfPetsc, SolvesAreTheSame)
{
  auto matrices = ilu_matrices();
  const std::size_t sound = matrices.size();
  for (auto &bad : troubled()) matrices.push_back(bad);
  for (std::size_t m = 0; m < matrices.size(); m++) {
    const HostCsr &M = matrices[m].A;
    Csr<double, TypeParam> A;
    const auto rhs = wave(M.rows);
    const auto b = this->to_space(rhs);
    auto x = this->to_space(rhs);
    OK(upload(this->ex, M, A));
    for (const auto &[kind, shift] : {std::pair{"none", IluShift::none},
                                      {"nonzero", IluShift::nonzero},
                                      {"positive_definite", IluShift::positive_definite},
                                      {"inblocks", IluShift::inblocks}}) {
      const std::string what = matrices[m].name + ", shift " + kind;
      const IluOptions options{.shift = shift, .zero_pivot = 1e-10, .shift_amount = 1e-4};
      Ilu0<TypeParam> f;
      IluReport report;
      PetscSolution expected;
      OK(solve_by_petsc(M, options, rhs, &expected));
      OK(ilu0_symbolic(this->ex, options, A.view(), f, &report));
      OK(ilu0_numeric(this->ex, A.view(), f, &report));
      ASSERT_EQ(report.fault == IluFault::none, expected.fault == MAT_FACTOR_NOERROR) << what << ", row " << report.row;
      ASSERT_TRUE(m >= sound || report.fault == IluFault::none) << what;
      if (report.fault != IluFault::none) continue;
      OK(ilu0_transpose(this->ex, A.view(), f));
      OK(ilu0_solve(this->ex, f, {}, b.data(), x.data()));
      expect_near(this->to_host(x), expected.x, what);
      OK(ilu0_solve(this->ex, f, {.transposed = true}, b.data(), x.data()));
      expect_near(this->to_host(x), expected.x_t, what + ", transposed");
    }
  }
}
} // namespace amgkit::test
