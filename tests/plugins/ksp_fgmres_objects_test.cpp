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
// What a user's call before each application saw, and whether the KSP destroyed it. It changes the preconditioner now and then.
struct Modifier {
  std::vector<std::pair<PetscInt, PetscInt>> iterations; // of the solve, and of the cycle
  std::vector<PetscReal> norms;
  std::vector<const char *> types; // in turn
  int destroyed = 0;
};
PetscErrorCode modify(KSP ksp, PetscInt its, PetscInt its_of_cycle, PetscReal norm, void *context)
{
  Modifier &modifier = *static_cast<Modifier *>(context);
  const std::size_t call = modifier.norms.size(), count = modifier.types.size();
  PC pc;

  PetscFunctionBegin;
  modifier.iterations.emplace_back(its, its_of_cycle);
  modifier.norms.push_back(norm);
  PetscCall(KSPGetPC(ksp, &pc));
  if (call % 2 == 0) PetscCall(PCSetType(pc, modifier.types[call / 2 % count]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// PETSc says the place of the context since 3.23, as void ** or void *.
template <class Pointer> PetscErrorCode destroy_modifier(Pointer context)
{
#if PETSC_VERSION_LT(3, 23, 0)
  static_cast<Modifier *>(context)->destroyed++;
#else
  (*static_cast<Modifier **>(static_cast<void *>(context)))->destroyed++;
#endif
  return PETSC_SUCCESS;
}
PetscErrorCode set_modifier(KSP ksp, Modifier *modifier)
{
#if PETSC_VERSION_LT(3, 25, 0)
  return KSPFGMRESSetModifyPC(ksp, modify, modifier, destroy_modifier);
#else
  return KSPFlexibleSetModifyPC(ksp, modify, modifier, destroy_modifier);
#endif
}
// A solve with a KSP of its own that calls a modifier
PetscErrorCode solve_modified(Mat A, Vec b, Vec x, const std::string &options, Modifier *modifier, Solution *solution)
{
  OwnedKSP ksp;
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PetscCall(replace_options(options));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(set_modifier(ksp, modifier));
  PetscCall(VecSet(x, 0));
  PetscCall(test::solve(ksp, b, x, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// Called as PETSc's fgmres calls it
TEST_F(FlexibleGMRES, LetsTheUserModifyThePreconditioner)
{
  Modifier ours, theirs;
  Solution of_theirs;
  ours.types = theirs.types = {"jacobi", "none", "bjacobi"};
  OK(solve_modified(A, b, x, "-ksp_type fgmres -ksp_gmres_restart 7", &theirs, &of_theirs));
  OK(solve_modified(A, b, x, "-ksp_type amgfgmres -ksp_amgfgmres_restart 7", &ours, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1.01e-9);
  EXPECT_EQ(solution.iterations, of_theirs.iterations);
  EXPECT_EQ(ours.iterations, theirs.iterations);
  ASSERT_EQ(ours.norms.size(), static_cast<std::size_t>(solution.iterations));
  for (std::size_t k = 0; k < ours.norms.size(); k++) EXPECT_NEAR(ours.norms[k], theirs.norms[k], 1e-6 * theirs.norms[k]) << k;
  EXPECT_EQ(ours.destroyed, 1);
}

// With a product and without one, and with one in another space
TEST_F(FlexibleGMRES, TakesTheProductOfThePreconditionerThatThereIs)
{
  Modifier modifier;
  modifier.types = {"amgsa", "jacobi", "amgclassical", "amgsa", "ilu2level"};
  for (const std::string &options : {in_debug("amgsa"), std::string()}) { // of the first one
    OK(solve_modified(A, b, x, "-ksp_type amgfgmres -pc_type amgsa" + options, &modifier, &solution));
    EXPECT_TRUE(solution.converged()) << options;
    EXPECT_LE(solution.residual, 1.01e-9) << options;
  }
  EXPECT_EQ(modifier.destroyed, 2);
}

// Another call, another type or another solve
TEST_F(FlexibleGMRES, DestroysWhatTheUserGaveOnce)
{
  Modifier first, second;
  first.types = second.types = {"jacobi"};
  OK(KSPSetType(ksp, "amgfgmres"));
  OK(set_modifier(ksp, &first));
  OK(set_modifier(ksp, &second));
  EXPECT_EQ(first.destroyed, 1);
  solve("-ksp_type amgfgmres -pc_type jacobi");
  EXPECT_EQ(second.norms.size(), static_cast<std::size_t>(solution.iterations));
  OK(KSPReset(ksp));
  EXPECT_EQ(second.destroyed, 0);
  solve("-ksp_type gmres -pc_type jacobi");
  EXPECT_EQ(second.destroyed, 1);
  solve("-ksp_type amgfgmres -pc_type jacobi");
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(second.destroyed, 1);
}

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
