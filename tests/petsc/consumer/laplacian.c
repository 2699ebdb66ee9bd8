/* Solves -u'' = 1 in one dimension with a preconditioner of AMGKit, linked and not loaded; in C, which amgkit.h must be. */
#include <amgkit.h>
#include <petscksp.h>

static PetscErrorCode laplacian(PetscInt n, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscInt columns[] = {i > 0 ? i - 1 : -1, i, i < n - 1 ? i + 1 : -1}; /* negative ones are ignored */
    PetscScalar values[] = {-1, 2, -1};

    PetscCall(MatSetValues(*A, 1, &i, 3, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat A;
  Vec x, b;
  KSP ksp;
  PC pc;
  KSPConvergedReason reason;
  PetscInt iterations;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(AMGKitRegister());
  PetscCall(laplacian(10000, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCAMGMATCHING));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations\n", KSPConvergedReasons[reason], (int)iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return reason == KSP_CONVERGED_RTOL && iterations < 50 ? 0 : 1;
}
