/* A beam that is clamped on the left and loaded on the right: what multigrid needs to know for elasticity.

     plane stress, E = 1, nu = 0.3, on (0, 4) x (0, 1), n bilinear squares across the beam, displacements (u, v)

   Smoothers hardly reduce errors that deform the body little: its translations and rotations, the rigid body modes. So the coarse levels
   must represent them. A preconditioner can compute them from two things that this program sets: the block size of the matrix, 2, and
   the coordinates of its nodes. Run it with the preconditioner from the plugin:
     PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" ./elasticity -n 64 -pc_type amgsa -ksp_monitor -ksp_view
   without the coordinates, for comparison:
     ... -coordinates 0
   and on a GPU:
     ... -dm_mat_type aijcusparse -dm_vec_type cuda */
#include <petscdmda.h>
#include <petscksp.h>

#define LENGTH 4
static const PetscReal force = 1e-3, nu = 0.3;

typedef struct {
  PetscScalar u, v;
} Displacement;

/* The matrix of a square, of whatever size, by Gauss's rule with 2 x 2 points. Corner c is at (c % 2, c / 2). */
static void fill_square(PetscScalar K[8][8])
{
  const PetscReal lambda = nu / (1 - nu * nu), mu = 0.5 / (1 + nu);

  for (PetscInt q = 0; q < 4; q++) {
    const PetscReal x = 0.5 + (q % 2 - 0.5) / PetscSqrtReal(3.), y = 0.5 + (q / 2 - 0.5) / PetscSqrtReal(3.);
    PetscReal g[4][2]; /* gradients of the functions that are 1 in a corner */

    for (PetscInt c = 0; c < 4; c++) {
      g[c][0] = (c % 2 ? 1 : -1) * (c / 2 ? y : 1 - y);
      g[c][1] = (c / 2 ? 1 : -1) * (c % 2 ? x : 1 - x);
    }
    for (PetscInt r = 0; r < 8; r++) {
      for (PetscInt s = 0; s < 8; s++) {
        const PetscInt a = r / 2, i = r % 2, b = s / 2, j = s % 2;
        const PetscReal both = i == j ? g[a][0] * g[b][0] + g[a][1] * g[b][1] : 0;
        K[r][s] += 0.25 * (lambda * g[a][i] * g[b][j] + mu * (g[a][j] * g[b][i] + both));
      }
    }
  }
}

/* Grid point (0, y) is the first one that is free; the clamped ones left of it are at x = -1, which PETSc leaves out. */
static PetscErrorCode fill_matrix(DM da, Mat A)
{
  DMDALocalInfo grid;
  PetscScalar K[8][8] = {{0}};

  PetscFunctionBeginUser;
  fill_square(K);
  PetscCall(DMDAGetLocalInfo(da, &grid));
  for (PetscInt y = grid.ys; y < PetscMin(grid.ys + grid.ym, grid.my - 1); y++) {
    for (PetscInt x = grid.xs; x < grid.xs + grid.xm; x++) {
      const MatStencil corners[4] = {{.i = x - 1, .j = y}, {.i = x, .j = y}, {.i = x - 1, .j = y + 1}, {.i = x, .j = y + 1}};
      PetscCall(MatSetValuesBlockedStencil(A, 4, corners, 4, corners, &K[0][0], ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* The force, downwards, on the right end. */
static PetscErrorCode fill_load(DM da, Vec b)
{
  DMDALocalInfo grid;
  Displacement **at;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &grid));
  PetscCall(DMDAVecGetArray(da, b, &at));
  if (grid.xs + grid.xm == grid.mx) {
    for (PetscInt y = grid.ys; y < grid.ys + grid.ym; y++)
      at[y][grid.mx - 1].v = -force / (grid.my - 1) * (y == 0 || y == grid.my - 1 ? 0.5 : 1);
  }
  PetscCall(DMDAVecRestoreArray(da, b, &at));
  PetscFunctionReturn(0);
}

/* Tells a preconditioner that asks for it where the nodes of this rank are, in the order of their unknowns. */
static PetscErrorCode give_coordinates(DM da, PC pc)
{
  Vec coordinates;
  PetscScalar *x;
  PetscInt size;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(VecGetLocalSize(coordinates, &size));
  PetscCall(VecGetArray(coordinates, &x));
  PetscCall(PCSetCoordinates(pc, 2, size / 2, x));
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscFunctionReturn(0);
}

static PetscErrorCode report(KSP ksp, Vec x)
{
  const PetscReal theory = force * (4 * LENGTH * LENGTH * LENGTH + 2.4 * (1 + nu) * LENGTH); /* of slender beams; with shear */
  PetscInt iterations;
  PetscReal lowest;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecStrideMin(x, 1, NULL, &lowest));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations, the end sinks by %.4f, by beam theory %.4f\n",
                        KSPConvergedReasons[reason], (int)iterations, (double)-lowest, (double)theory));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt n = 32;
  PetscBool coordinates = PETSC_TRUE;
  DM da;
  Mat A;
  Vec x, b;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, "-n <32>: squares across the beam, -coordinates <1>: whether the solver gets them\n"));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-coordinates", &coordinates, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, LENGTH * n, n + 1, PETSC_DECIDE,
                         PETSC_DECIDE, 2, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, 1. / n, LENGTH, 0, 1, 0, 0));
  PetscCall(DMCreateMatrix(da, &A)); /* its block size is 2 */
  PetscCall(fill_matrix(da, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(fill_load(da, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  if (coordinates) PetscCall(give_coordinates(da, pc)); /* its type must be known by now */
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(report(ksp, x));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
