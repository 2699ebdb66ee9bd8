// Flexible GMRES with preconditioners and vectors of the user's.
#include "support/flexible_gmres.hpp"

#include <array>
#include <cmath>
#include <map>

namespace amgkit::test
{
namespace
{
// A preconditioner of the user's that is another one each time, writes the ghosts of its vectors where there are any, and fails in the end.
struct Shell {
  int calls = 0, fails = -1;
};
PetscErrorCode apply_shell(PC pc, Vec x, Vec y)
{
  Shell *shell;
  PetscBool parallel;
  Vec with_ghosts = nullptr;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &shell));
  shell->calls++;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, shell->calls == shell->fails ? std::nan("") : 1e-3 * (1 + shell->calls % 3)));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(y), VECMPI, &parallel));
  if (parallel) PetscCall(VecGhostGetLocalForm(y, &with_ghosts));
  if (with_ghosts) {
    PetscCall(VecGhostRestoreLocalForm(y, &with_ghosts));
    PetscCall(VecGhostUpdateBegin(y, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGhostUpdateEnd(y, INSERT_VALUES, SCATTER_FORWARD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode take_shell(KSP ksp, Shell *shell)
{
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPSetType(ksp, "amgfgmres"));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, shell));
  PetscCall(PCShellSetApply(pc, apply_shell));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

TEST_F(FlexibleGMRES, TakesAPreconditionerThatChanges)
{
  Shell shell;
  solve("-ksp_type fgmres -pc_type none");
  const PetscInt iterations = solution.iterations;
  OK(take_shell(ksp, &shell));
  OK(KSPSetOperators(ksp, A, A));
  OK(VecSet(x, 0));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_NEAR(solution.iterations, iterations, 1 + iterations / 50);
  EXPECT_LE(solution.residual, 1.01e-9);
  // fails, and keeps what it has found before
  shell = {0, 6};
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_EQ(solution.reason, KSP_DIVERGED_NANORINF);
  EXPECT_EQ(solution.iterations, 5);
  EXPECT_LE(solution.residual, 0.9);
}

TEST_F(FlexibleGMRES, EndsWhereThePreconditionerFails)
{
  constexpr int n = 20;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = i == 7 ? 0 : 1;
  OwnedMat M;
  OwnedVec y, f;
  OK(distribute(make_csr(n, n, entries), have_gpu(), M.out()));
  OK(make_system(M, y.out(), f.out()));
  OK(solve_alone(M, f, y, "-ksp_type amgfgmres -pc_type ilu2level", &solution));
  EXPECT_EQ(solution.reason, KSP_DIVERGED_PC_FAILED);
}

// Vectors of the user's that are more than their entries: made of parts, and with ghosts.
TEST_F(FlexibleGMRES, TakesVectorsOfParts)
{
  OwnedMat nest;
  OwnedVec y, f, r;
  OwnedKSP other;
  PetscReal norm, size;
  Mat blocks[4] = {A, nullptr, nullptr, A};
  OK(MatCreateNest(PETSC_COMM_WORLD, 2, nullptr, 2, nullptr, blocks, nest.out()));
  OK(MatCreateVecs(nest, y.out(), f.out()));
  OK(MatNestSetVecType(nest, VECNEST));
  OK(MatCreateVecs(nest, y.out(), f.out()));
  OK(VecSet(f, 1));
  OK(KSPCreate(PETSC_COMM_WORLD, other.out()));
  OK(replace_options("-ksp_type amgfgmres -pc_type fieldsplit -fieldsplit_pc_type jacobi -ksp_rtol 1e-9 -ksp_max_it 300"));
  OK(KSPSetOperators(other, nest, nest));
  OK(KSPSetFromOptions(other));
  PC pc;
  OK(KSPGetPC(other, &pc));
  std::array<IS, 2> rows{};
  OK(MatNestGetISs(nest, rows.data(), nullptr));
  OK(PCFieldSplitSetIS(pc, "0", rows[0]));
  OK(PCFieldSplitSetIS(pc, "1", rows[1]));
  OK(KSPSolve(other, f, y));
  KSPConvergedReason reason;
  OK(KSPGetConvergedReason(other, &reason));
  EXPECT_GT(reason, 0);
  OK(VecDuplicate(f, r.out()));
  OK(MatMult(nest, y, r));
  OK(VecAYPX(r, -1, f));
  OK(VecNorm(r, NORM_2, &norm));
  OK(VecNorm(f, NORM_2, &size));
  EXPECT_LE(norm, 1.01e-9 * size);
}

TEST_F(FlexibleGMRES, TakesVectorsWithGhosts)
{
  OwnedVec y;
  PetscInt rows, whole;
  Shell shell;
  OK(VecGetLocalSize(x, &rows));
  OK(VecGetSize(x, &whole));
  const std::array<PetscInt, 3> ghosts = {0, whole / 2, whole - 1};
  OK(VecCreateGhost(PETSC_COMM_WORLD, rows, whole, 3, ghosts.data(), y.out()));
  OK(VecSet(y, 0));
  OK(replace_options(""));
  OK(take_shell(ksp, &shell));
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  OK(test::solve(ksp, b, y, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1.01e-9);
}

TEST_F(FlexibleGMRES, TakesVectorsOfEitherSide)
{
  take_vectors_of_either_side("amgfgmres", convection_diffusion(3, 11, 10, Wind::rotating));
}
} // namespace amgkit::test
