#include "amgkit.h"
#include "support/gallery.hpp"
#include "support/petsc_problems.hpp"

#include <array>
#include <cmath>
#include <map>

namespace amgkit::test
{
namespace
{
class FlexibleCG : public ::testing::Test {
protected:
  void SetUp() override
  {
    OK(AMGKitRegister());
    OK(distribute(grid7(12, 11, 10, 1, 1, 0.1), have_gpu(), A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  }

  void solve(const std::string &options)
  {
    OK(replace_options(options));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    OK(KSPSetFromOptions(ksp));
    OK(test::solve(ksp, b, x, &solution));
  }

  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
};
} // namespace

// With a fixed preconditioner it is conjugate gradients; with a changing one, PETSc's fcg of one direction.
TEST_F(FlexibleCG, TakesTheIterationsOfPETScsMethods)
{
  const std::string unpreconditioned = " -ksp_norm_type unpreconditioned";
  solve("-ksp_type cg -pc_type jacobi" + unpreconditioned);
  const PetscInt cg = solution.iterations;
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_NEAR(solution.iterations, cg, 1);
  EXPECT_LE(solution.residual, 2e-9);
  const std::string kcycle = " -pc_type amgmatching -pc_amgmatching_cycle_type k -pc_amgmatching_coarse_eq_limit 20";
  solve("-ksp_type fcg -ksp_fcg_mmax 1" + kcycle + unpreconditioned);
  const PetscInt fcg = solution.iterations;
  OK(KSPReset(ksp)); // in PETSc 3.26, fcg loses its vectors when another type takes its place
  solve("-ksp_type amgfcg" + kcycle);
  EXPECT_NEAR(solution.iterations, fcg, 1);
  EXPECT_LE(solution.residual, 2e-9);
}

// Its vectors come with the solve and go with a reset or another type, whatever is set up before.
TEST_F(FlexibleCG, MayBeSetUpEarlyResetAndReplaced)
{
  OK(KSPSetOperators(ksp, A, A));
  OK(KSPSetType(ksp, "amgfcg"));
  OK(KSPSetUp(ksp));
  solve("-ksp_type amgfcg -pc_type jacobi");
  const PetscInt iterations = solution.iterations;
  EXPECT_TRUE(solution.converged());
  for (const char *other : {"cg", "gmres", "bcgs", "richardson"}) {
    solve(std::string("-pc_type jacobi -ksp_max_it 3 -ksp_type ") + other);
    solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 300");
    EXPECT_EQ(solution.iterations, iterations) << other;
    OK(KSPReset(ksp));
    solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 300");
    EXPECT_EQ(solution.iterations, iterations) << other;
    OK(KSPReset(ksp));
  }
}

TEST_F(FlexibleCG, KnowsTheNormsAndTheGuess)
{
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type natural");
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1e-7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type none -ksp_max_it 7");
  EXPECT_EQ(solution.reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(solution.iterations, 7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400");
  const PetscInt from_zero = solution.iterations;
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400 -ksp_initial_guess_nonzero");
  EXPECT_TRUE(solution.converged());
  EXPECT_LT(solution.iterations, from_zero);
  EXPECT_LE(solution.residual, 2e-9);
}

TEST_F(FlexibleCG, SaysWhyItCannotGoOn)
{
  OK(VecZeroEntries(b));
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(solution.iterations, 0);
  OK(VecSet(b, 1));
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 2");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS);
  EXPECT_EQ(solution.iterations, 2);
  OK(MatScale(A, -1));
  solve("-ksp_type amgfcg -pc_type none -ksp_max_it 100");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_INDEFINITE_MAT);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 100");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_INDEFINITE_PC);
  OK(VecSet(b, std::nan("")));
  solve("-ksp_type amgfcg -pc_type none");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_NANORINF);
}

// PETSc's fcg of one direction, on matrices that are hard on a coarsening.
TEST_F(FlexibleCG, AgreesWithPETScsFcg)
{
  const std::string method = " -ksp_norm_type unpreconditioned -ksp_max_it 400 -pc_type ";
  for (const Named &named : odd_matrices()) {
    OwnedMat M;
    OwnedVec y, f;
    OK(distribute(named.A, have_gpu(), M.out()));
    OK(make_system(M, y.out(), f.out()));
    for (const char *pc : {"none", "jacobi", "amgsa"}) {
      Solution ours, theirs;
      for (auto [solution, type] : {std::pair(&ours, "amgfcg"), {&theirs, "fcg -ksp_fcg_mmax 1"}}) {
        OwnedKSP one;
        OK(KSPCreate(PETSC_COMM_WORLD, one.out()));
        OK(replace_options("-ksp_type " + (type + method) + pc));
        OK(KSPSetOperators(one, M, M));
        OK(KSPSetTolerances(one, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
        OK(KSPSetFromOptions(one));
        OK(test::solve(one, f, y, solution));
      }
      EXPECT_EQ(ours.converged(), theirs.converged()) << named.name << ' ' << pc;
      // without a preconditioner rounding decides the last of many iterations
      if (!ours.converged()) continue;
      EXPECT_NEAR(ours.iterations, theirs.iterations, 1 + ours.iterations / 50) << named.name << ' ' << pc;
      EXPECT_LE(ours.residual, 1e-7) << named.name << ' ' << pc;
    }
  }
}

// The operator counts, not the matrix that the preconditioner was made of, nor what that was then.
TEST_F(FlexibleCG, MultipliesByTheOperatorAsItIs)
{
  const std::string options = "-ksp_type amgfcg -ksp_rtol 1e-9 -pc_type amgsa -pc_amgsa_coarse_eq_limit 50";
  OwnedMat twice;
  OK(MatDuplicate(A, MAT_COPY_VALUES, twice.out()));
  OK(MatScale(twice, 2));
  OK(replace_options(options));
  OK(KSPSetOperators(ksp, twice, A));
  OK(KSPSetFromOptions(ksp));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  PetscReal residual;
  OK(true_residual(twice, b, x, &residual));
  EXPECT_LE(residual, 2e-9);
  OK(KSPSetOperators(ksp, A, A));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_LE(solution.residual, 2e-9);
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(MatScale(A, 0.9)); // a cycle made for A serves still
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 2e-9);
}

TEST_F(FlexibleCG, KeepsTheHistoryAndAsksTheUsersTest)
{
  std::array<PetscReal, 100> history{};
  PetscInt count;
  OK(KSPSetResidualHistory(ksp, history.data(), static_cast<PetscInt>(history.size()), PETSC_TRUE));
  solve("-ksp_type amgfcg -pc_type jacobi");
  OK(KSPGetResidualHistory(ksp, nullptr, &count));
  EXPECT_EQ(count, solution.iterations + 1);
  PetscReal norm, size;
  OK(KSPGetResidualNorm(ksp, &norm));
  OK(VecNorm(b, NORM_2, &size));
  EXPECT_EQ(norm, history[static_cast<std::size_t>(solution.iterations)]);
  EXPECT_NEAR(norm / size, solution.residual, 1e-10);
  const auto third = [](KSP, PetscInt its, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
    *reason = its == 3 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
    return PETSC_SUCCESS;
  };
  OK(KSPSetConvergenceTest(ksp, third, nullptr, nullptr));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_EQ(solution.reason, KSP_CONVERGED_HAPPY_BREAKDOWN);
  EXPECT_EQ(solution.iterations, 3);
}

// A Laplacian without a boundary and its constant null space: the answer has no part of it.
TEST_F(FlexibleCG, SolvesASingularSystemWithItsNullSpace)
{
  std::map<std::pair<int, int>, double> edges;
  constexpr int n = 400;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = 1;
  for (int i = 0; i + 20 < n; i++) edges[{i, i + 20}] = 1;
  OwnedMat M;
  OwnedVec y, f;
  MatNullSpace constants;
  OK(distribute(from_edges(n, edges, 0), have_gpu(), M.out()));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  OK(MatSetNullSpace(M, constants));
  OK(make_system(M, y.out(), f.out()));
  OK(VecSetRandom(f, nullptr));
  OK(MatNullSpaceRemove(constants, f));
  OK(MatNullSpaceDestroy(&constants));
  for (const char *pc : {"jacobi", "amgsa", "amgmatching"}) {
    PetscReal sum;
    PetscScalar mean;
    OK(replace_options(std::string("-ksp_type amgfcg -ksp_rtol 1e-8 -pc_type ") + pc));
    OK(KSPSetOperators(ksp, M, M));
    OK(KSPSetFromOptions(ksp));
    OK(test::solve(ksp, f, y, &solution));
    EXPECT_TRUE(solution.converged()) << pc;
    OK(VecSum(y, &mean));
    OK(VecNorm(y, NORM_1, &sum));
    EXPECT_LE(std::abs(mean), 1e-10 * sum) << pc;
    OK(KSPReset(ksp));
  }
}
} // namespace amgkit::test
