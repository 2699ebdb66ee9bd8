#include "amgkit.h"
#include "support/petsc_problems.hpp"

#include <cmath>

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
} // namespace amgkit::test
