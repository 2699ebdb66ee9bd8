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
    OK(distribute(grid7(12, 11, 10, 1, 1, 0.1), have_gpu(), &A));
    OK(make_system(A, &x, &b));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  }
  void TearDown() override
  {
    OK(KSPDestroy(&ksp));
    OK(VecDestroy(&x));
    OK(VecDestroy(&b));
    OK(MatDestroy(&A));
    OK(PetscOptionsClear(nullptr));
  }

  void solve(const std::string &options)
  {
    OK(PetscOptionsClear(nullptr));
    OK(PetscOptionsInsertString(nullptr, options.c_str()));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    OK(KSPSetFromOptions(ksp));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &iterations));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetResidualNorm(ksp, &norm));
  }
  PetscReal true_residual()
  {
    Vec r;
    PetscReal size = -1, of_b = 1;
    EXPECT_EQ(static_cast<int>(VecDuplicate(b, &r)), 0);
    EXPECT_EQ(static_cast<int>(MatMult(A, x, r)), 0);
    EXPECT_EQ(static_cast<int>(VecAYPX(r, -1, b)), 0);
    EXPECT_EQ(static_cast<int>(VecNorm(r, NORM_2, &size)), 0);
    EXPECT_EQ(static_cast<int>(VecNorm(b, NORM_2, &of_b)), 0);
    EXPECT_EQ(static_cast<int>(VecDestroy(&r)), 0);
    return size / of_b;
  }

  Mat A = nullptr;
  Vec x = nullptr, b = nullptr;
  KSP ksp = nullptr;
  PetscInt iterations = 0;
  PetscReal norm = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
};
} // namespace

// With a fixed preconditioner it is conjugate gradients; with a changing one, PETSc's fcg of one direction.
TEST_F(FlexibleCG, TakesTheIterationsOfPETScsMethods)
{
  const std::string unpreconditioned = " -ksp_norm_type unpreconditioned";
  solve("-ksp_type cg -pc_type jacobi" + unpreconditioned);
  const PetscInt cg = iterations;
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_NEAR(iterations, cg, 1);
  EXPECT_LE(true_residual(), 2e-9);
  const std::string kcycle = " -pc_type amgmatching -pc_amgmatching_cycle_type k -pc_amgmatching_coarse_eq_limit 20";
  solve("-ksp_type fcg -ksp_fcg_mmax 1" + kcycle + unpreconditioned);
  const PetscInt fcg = iterations;
  solve("-ksp_type amgfcg" + kcycle);
  EXPECT_NEAR(iterations, fcg, 1);
  EXPECT_LE(true_residual(), 2e-9);
}

TEST_F(FlexibleCG, KnowsTheNormsAndTheGuess)
{
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type natural");
  EXPECT_GT(static_cast<int>(reason), 0);
  EXPECT_LE(true_residual(), 1e-7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type none -ksp_max_it 7");
  EXPECT_EQ(reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(iterations, 7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400");
  const PetscInt from_zero = iterations;
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400 -ksp_initial_guess_nonzero");
  EXPECT_GT(static_cast<int>(reason), 0);
  EXPECT_LT(iterations, from_zero);
  EXPECT_LE(true_residual(), 2e-9);
}

TEST_F(FlexibleCG, SaysWhyItCannotGoOn)
{
  OK(VecZeroEntries(b));
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_GT(static_cast<int>(reason), 0);
  EXPECT_EQ(iterations, 0);
  OK(VecSet(b, 1));
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 2");
  EXPECT_EQ(reason, KSP_DIVERGED_ITS);
  EXPECT_EQ(iterations, 2);
  OK(MatScale(A, -1));
  solve("-ksp_type amgfcg -pc_type none -ksp_max_it 100");
  EXPECT_EQ(reason, KSP_DIVERGED_INDEFINITE_MAT);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 100");
  EXPECT_EQ(reason, KSP_DIVERGED_INDEFINITE_PC);
  OK(VecSet(b, std::nan("")));
  solve("-ksp_type amgfcg -pc_type none");
  EXPECT_EQ(reason, KSP_DIVERGED_NANORINF);
}
} // namespace amgkit::test
