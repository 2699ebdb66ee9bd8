// Processes that hand what they have on a GPU to one of them, on the same GPU. Skipped without one, and where PETSc has no CUDA.
#include "support/shared_rows.hpp"

namespace amgkit::test
{
class ConsolidatedOnGpu : public Consolidated {
protected:
  void SetUp() override
  {
    Consolidated::SetUp();
    if (!have_gpu()) GTEST_SKIP() << "no GPU here";
    matrix_type_ = "aijcusparse";
  }
  const std::array<std::string, 2> ways = {"", " -amgkit_cuda_ipc no"};
};
INSTANTIATE_TEST_SUITE_P(Types, ConsolidatedOnGpu, all_types());

TEST_P(ConsolidatedOnGpu, SolvesAsTheHeadsAlone)
{
  for (const std::string &way : ways) {
    for (const char *krylov : {"amgfcg", "cg"}) {
      for (const char *how : {"even", "first empty", "last has all"})
        compare(grid7(9, 8, 11, 1, 1, 0.3), 1, how, 1,
                std::string("-ksp_type ") + krylov + " -ksp_norm_type unpreconditioned" + small + way, solve_once);
    }
  }
}

// By PETSc on the GPU, by an assembly on the host, and on another pattern, for which PETSc frees what it had.
TEST_P(ConsolidatedOnGpu, TakesNewValuesAndPatterns)
{
  for (const std::string &way : ways)
    compare(grid7(9, 8, 11), 1, "even", 1, "-ksp_type amgfcg" + small + way, [](Mat A, KSP ksp, std::vector<Left> *all) {
      PetscInt first, last;
      OwnedVec x, y;
      OK(MatCreateVecs(A, x.out(), y.out()));
      OK(MatGetOwnershipRange(A, &first, &last));
      solve_once(A, ksp, all); // the values are on the host alone
      OK(VecSet(x, 1));
      OK(MatMult(A, x, y));
      OK(MatScale(A, 3));
      solve_once(A, ksp, all);
      for (PetscInt i = first; i < last; i++) OK(MatSetValue(A, i, i, 0.25, ADD_VALUES));
      OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      solve_once(A, ksp, all);
      OK(MatMult(A, x, y));
      OK(MatScale(A, 0.5));
      solve_once(A, ksp, all);
      OK(add_antidiagonal(A));
      solve_once(A, ksp, all);
      OK(MatMult(A, x, y));
      OK(MatScale(A, 2));
      solve_once(A, ksp, all);
    });
}

TEST_P(ConsolidatedOnGpu, BeginsWithTheUsersGuess)
{
  for (const std::string &way : ways)
    compare(grid7(9, 8, 11), 1, "even", 1, "-ksp_type amgfcg" + small + way, [](Mat A, KSP ksp, std::vector<Left> *all) {
      OwnedVec b, x;
      OK(right_hand_side(A, b.out()));
      OK(VecDuplicate(b, x.out()));
      OK(VecSet(x, 3));
      OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
      for (int round = 0; round < 2; round++) {
        PetscReal residual;
        all->emplace_back();
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetIterationNumber(ksp, &all->back().iterations));
        OK(true_residual(A, b, x, &residual));
        EXPECT_LE(residual, 2e-5);
      }
    });
}
} // namespace amgkit::test
