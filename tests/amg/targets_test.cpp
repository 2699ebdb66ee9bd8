// The iteration counts the method must reach with its papers' settings: 3 matching steps, 4 + 4 l1-Jacobi, V-cycle, flexible CG
// to 1e-8 on the true residual, right-hand side of ones. Figures of BootCMatchGX, of which this is the method.
#include "amgkit.h"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
namespace
{
// The n³ 7-point matrix, assembled without the gallery's map
PetscErrorCode grid(PetscInt n, bool on_device, Mat *A)
{
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
  PetscCall(MatSetType(*A, on_device ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(MatXAIJSetPreallocation(*A, 1, nullptr, nullptr, nullptr, nullptr));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, nullptr, 2, nullptr));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt x = i % n, y = i / n % n, z = i / n / n;
    PetscInt columns[7], count = 0;
    PetscScalar values[7];
    auto add = [&](bool inside, PetscInt j, PetscScalar v) {
      if (!inside) return;
      columns[count] = j;
      values[count++] = v;
    };
    add(z > 0, i - n * n, -1);
    add(y > 0, i - n, -1);
    add(x > 0, i - 1, -1);
    add(true, i, 6);
    add(x + 1 < n, i + 1, -1);
    add(y + 1 < n, i + n, -1);
    add(z + 1 < n, i + n * n, -1);
    PetscCall(MatSetValues(*A, 1, &i, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Target {
  PetscInt n, iterations;
};
} // namespace

TEST(Targets, IterationsOfThePapersSettings)
{
  if (size_of_world() > 1) GTEST_SKIP() << "the figures are those of one process";
  std::vector<Target> targets = {{64, 23}, {100, 32}};
  if (have_gpu()) targets = {{64, 23}, {100, 32}, {128, 30}, {200, 47}};
  OK(AMGKitRegister());
  for (const Target &target : targets) {
    Mat A;
    Vec x, b;
    KSP ksp;
    PC pc;
    PetscInt iterations;
    KSPConvergedReason reason;
    OK(grid(target.n, have_gpu(), &A));
    OK(MatCreateVecs(A, &x, &b));
    OK(VecSet(b, 1));
    OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, KSPFCG));
    OK(KSPFCGSetMmax(ksp, 1));
    OK(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCAMGMATCHING));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetIterationNumber(ksp, &iterations));
    OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(static_cast<int>(reason), 0);
    EXPECT_LE(iterations, target.iterations) << target.n;
    RecordProperty("iterations_" + std::to_string(target.n), static_cast<int>(iterations));
    OK(KSPDestroy(&ksp));
    OK(VecDestroy(&x));
    OK(VecDestroy(&b));
    OK(MatDestroy(&A));
  }
}
} // namespace amgkit::test
