/* A 3D Poisson problem as any PETSc program has it. Nothing in it refers to AMGKit.

     -laplace(u) = 1 on the unit cube, u = 0 on its boundary, 7-point differences on an n x n x n grid

   Run it with the preconditioner from the plugin:
     PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" ./poisson -n 64 -pc_type amgmatching -ksp_monitor -ksp_view
   and on a GPU:
     ... -dm_mat_type aijcusparse -dm_vec_type cuda */
#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode fill_matrix(DM da, Mat A)
{
  DMDALocalInfo grid;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &grid));
  for (PetscInt z = grid.zs; z < grid.zs + grid.zm; z++) {
    for (PetscInt y = grid.ys; y < grid.ys + grid.ym; y++) {
      for (PetscInt x = grid.xs; x < grid.xs + grid.xm; x++) {
        const PetscInt steps[7][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
        MatStencil row = {.k = z, .j = y, .i = x}, columns[7];
        PetscScalar values[7];
        PetscInt n = 0;

        for (PetscInt s = 0; s < 7; s++) {
          const PetscInt i = x + steps[s][0], j = y + steps[s][1], k = z + steps[s][2];
          if (PetscMin(PetscMin(i, j), k) < 0 || i >= grid.mx || j >= grid.my || k >= grid.mz) continue; /* u = 0 there */
          columns[n] = (MatStencil){.k = k, .j = j, .i = i};
          values[n++] = s == 0 ? 6 : -1;
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, n, columns, values, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt n = 32, iterations;
  PetscReal error, size;
  DM da;
  Mat A;
  Vec u, b, r;
  KSP ksp;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "-n <32>: grid points in each direction\n"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(fill_matrix(da, A));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(VecSet(b, 1. / ((n + 1.) * (n + 1.))));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, u));

  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &error));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations, relative residual %.1e\n", KSPConvergedReasons[reason], (int)iterations,
                        (double)(error / size)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
