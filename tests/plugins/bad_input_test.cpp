// Bad input: a named error or KSP_DIVERGED_PC_FAILED on every rank, nothing lost, and the object usable afterwards.
#include "support/every_type.hpp"
#include "support/full_device.hpp"

#include <cmath>
#include <limits>

namespace amgkit::test
{
namespace
{
class BadInput : public EveryType {
protected:
  // Setting up on A gives this error on every rank; afterwards the same KSP solves a good system.
  void expect_error(Mat A, int expected, const std::string &name)
  {
    OwnedMat good;
    OwnedKSP ksp;
    PC pc;
    OwnedVec x, b;
    Solution solution;
    OK(make_ksp(A, "", ksp.out()));
    OK(KSPGetPC(ksp, &pc));
    const int code = static_cast<int>(quietly([&] { return PCSetUp(pc); }));
    EXPECT_EQ(code, expected) << name;
    OK(distribute(grid7(5, 5, 5), false, good.out()));
    OK(make_system(good, x.out(), b.out()));
    OK(KSPReset(ksp));
    OK(KSPSetOperators(ksp, good, good));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << name;
    EXPECT_LE(solution.residual, 1e-6) << name;
  }

  // Only the last rows, which the last rank owns, are bad.
  void expect_error_from(const std::map<std::pair<int, int>, double> &change, bool drop_diagonal, int expected, const std::string &name)
  {
    constexpr int n = 30;
    for (bool on_device : {false, true}) {
      if (on_device && !have_gpu()) continue;
      OwnedMat A;
      std::map<std::pair<int, int>, double> entries;
      for (int i = 0; i < n; i++) {
        if (!(drop_diagonal && i == n - 2)) entries[{i, i}] = 2.5;
        if (i > 0) entries[{i, i - 1}] = entries[{i - 1, i}] = -1;
      }
      for (const auto &[where, value] : change) entries[where] = value;
      OK(distribute(make_csr(n, n, entries), on_device, A.out()));
      expect_error(A, expected, name);
    }
  }
};
} // namespace

TEST_P(BadInput, NotFinite)
{
  expect_error_from({{{29, 28}, std::numeric_limits<double>::quiet_NaN()}}, false, PETSC_ERR_FP, "NaN");
  expect_error_from({{{28, 28}, std::numeric_limits<double>::infinity()}}, false, PETSC_ERR_FP, "infinity");
  expect_error_from({{{0, 29}, std::numeric_limits<double>::quiet_NaN()}}, false, PETSC_ERR_FP, "NaN towards another rank");
}

TEST_P(BadInput, Diagonals)
{
  expect_error_from({{{29, 29}, 0}}, false, PETSC_ERR_ARG_WRONG, "zero diagonal");
  expect_error_from({}, true, PETSC_ERR_ARG_WRONG, "missing diagonal");
  expect_error_from({{{29, 29}, -2}}, false, PETSC_ERR_ARG_WRONG, "one negative diagonal");
}

// PETSc may apply a PC whose setup has ended in an error: there must be nothing half-built to crash on.
TEST_P(BadInput, ApplyAfterAFailedSetupGivesInfinity)
{
  OwnedMat A;
  OwnedVec x, b;
  OwnedPC pc;
  PetscReal norm;
  OK(distribute(grid7(5, 5, 5), false, A.out()));
  OK(make_system(A, x.out(), b.out()));
  OK(make_pc(A, "", pc.out()));
  OK(PCSetUp(pc));
  OK(MatScale(A, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), PETSC_ERR_FP);
  if (quietly([&] { return PCApply(pc, b, x); }) == 0) {
    OK(VecNorm(x, NORM_INFINITY, &norm));
    EXPECT_FALSE(norm < std::numeric_limits<double>::infinity());
  }
}

TEST_P(BadInput, NotAssembled)
{
  OwnedMat A;
  OwnedPC pc;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 10, 10, 3, nullptr, 3, nullptr, A.out()));
  OK(make_pc(A, "", pc.out()));
  EXPECT_NE(static_cast<int>(quietly([&] { return PCSetUp(pc); })), 0);
}

TEST_P(BadInput, NotSquare)
{
  OwnedMat A;
  OK(distribute(make_csr(12, 9, {{{0, 0}, 1}}), false, A.out()));
  PetscInt rows, cols;
  OK(MatGetSize(A, &rows, &cols));
  expect_error(A, PETSC_ERR_ARG_SIZ, "12 x 9");
}

TEST_P(BadInput, TypesThatAreNotAIJ)
{
  OwnedMat A;
  OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 8, nullptr, A.out()));
  OK(MatShift(A, 1));
  expect_error(A, PETSC_ERR_SUP, "dense");
}

TEST_P(BadInput, NoSweepAtAllIsAnError)
{
  OwnedMat A;
  OK(distribute(grid7(6, 6, 6), false, A.out()));
  for (const char *after : {"", " -pc_amgmatching_post_sweeps 1"}) {
    OwnedPC pc;
    OK(make_pc(A, std::string("-pc_amgmatching_smoother_sweeps 0") + after, pc.out()));
    EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), *after ? 0 : static_cast<int>(PETSC_ERR_ARG_OUTOFRANGE));
  }
}

// Pure Neumann problems with their null space attached, of one level and of several, under every kind of cycle.
TEST_P(BadInput, SingularMatricesAreSolved)
{
  for (const Use &use : uses()) {
    for (int n : {3, 40}) {
      OwnedMat A;
      OwnedVec x, b;
      OwnedNullSpace constant;
      std::map<std::pair<int, int>, double> edges;
      for (int i = 0; i < n * n; i++) {
        if (i % n + 1 < n) edges[{i, i + 1}] = 1;
        if (i + n < n * n) edges[{i, i + n}] = 1 + i % 3;
      }
      OK(distribute(from_edges(n * n, edges, 0), use.on_device, A.out()));
      OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, constant.out()));
      OK(MatSetNullSpace(A, constant));
      OK(make_system(A, x.out(), b.out()));
      for (const char *krylov : {"cg", "gmres", "amgfcg", "amgfgmres"}) {
        OwnedKSP ksp;
        Solution solution;
        OK(make_ksp(A, use.option + std::string(" -ksp_rtol 1e-9 -ksp_max_it 40 -ksp_type ") + krylov, ksp.out()));
        OK(VecSet(x, 0));
        OK(solve(ksp, b, x, &solution));
        EXPECT_TRUE(solution.converged()) << krylov << " " << n << " " << use.name;
        EXPECT_LE(solution.residual, 1e-7) << krylov << " " << n << " " << use.name;
      }
    }
  }
}

// A small matrix is one level, which is solved exactly, also where its equations are in units of their own: e_i from -200 to 200.
TEST_P(BadInput, RowsTimesPowersOfTwoAreNotSingular)
{
  constexpr int n = 30;
  std::map<std::pair<int, int>, double> entries;
  const auto size = [](int i) { return std::ldexp(1, 137 * i % 401 - 200); };
  for (int i = 0; i < n; i++) {
    entries[{i, i}] = 2.5 * size(i);
    if (i > 0) entries[{i, i - 1}] = -size(i);
    if (i + 1 < n) entries[{i, i + 1}] = -size(i);
  }
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedPC pc;
    OwnedVec x, b, solution;
    PetscReal error;
    OK(distribute(make_csr(n, n, entries), use.on_device, A.out()));
    OK(MatCreateVecs(A, x.out(), b.out()));
    OK(VecDuplicate(x, solution.out()));
    OK(VecSet(solution, 1));
    OK(MatMult(A, solution, b));
    OK(make_pc(A, use.option, pc.out()));
    OK(PCApply(pc, b, x));
    OK(VecAXPY(x, -1, solution));
    OK(VecNorm(x, NORM_INFINITY, &error));
    EXPECT_LT(error, 1e-13) << use.name;
  }
}

TEST_P(BadInput, OutOfDeviceMemory) { solve_on_full_device(type()); }

INSTANTIATE_TEST_SUITE_P(Types, BadInput, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
