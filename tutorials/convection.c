/* Warm air that a wind carries through a room: a matrix that is far from symmetric.

     -u_xx - u_yy + wind (w . grad u) = 0 on the square from -1 to 1
     u = 1 on the west side, 0 on the others
     w = (1, 1/2), a draught, or with -round w = (2 y (1 - x^2), -2 x (1 - y^2)), air that turns

   on n x n points, with upwind differences for the convection.

   Run it with incomplete factors from the plugin:
     PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" ./convection -n 100 -wind 2000 -pc_type ilu2level
   and look at the number of iterations:
   - The stronger the draught, the fewer iterations ILU takes: 172 with -wind 20, 10 with -wind 2000, 6 with -wind 20000.
     The factors follow the wind from point to point, and so do the Gauss-Seidel sweeps that multigrid makes on a CPU: 27, 10 and 6 with
     -pc_type amgmatching.
   - The factors leave out the couplings between processes: 13 iterations on four processes.
   - An order by colours lets a GPU factor many points at once, but the factors no longer follow the wind: 296 iterations with
     -pc_ilu2level_ordering multicolor.
   - Jacobi steps replace the triangular solves by steps in which no row waits for another: 23 iterations with
     -pc_ilu2level_triangular_solve jacobi -pc_ilu2level_triangular_sweeps 10.
   - Where the wind turns in circles, no point is upstream of all others, and the factors lose their advantage: -round takes
     over 500 iterations, and fewer than 20 with -pc_type amgclassical.
   On a GPU, add:
     ... -dm_mat_type aijcusparse -dm_vec_type cuda

   The program checks the residual, and two properties of the solution. No point is warmer than the warm side or colder than the others.
   The turning air has the mean temperature 1/4: the four solutions with one warm side each are rotations of one another, and their sum
   is 1.

   On CPUs with several processes set OMP_NUM_THREADS=1. */
#include <petscdmda.h>
#include <petscksp.h>

typedef struct {
  DM da;
  PetscInt n;
  PetscReal h, wind;
  PetscBool round;
} Room;

/* Where the neighbours of a point are: west, east, south, north */
static const PetscInt steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

/* What the neighbour in direction s counts for at point (i, j): diffusion, and what the wind brings if it comes from there */
static PetscReal weight(const Room *room, PetscInt i, PetscInt j, PetscInt s)
{
  const PetscReal x = (i + 1) * room->h - 1, y = (j + 1) * room->h - 1;
  const PetscReal round = s < 2 ? 2 * y * (1 - x * x) : -2 * x * (1 - y * y), through = s < 2 ? 1 : 0.5; /* to the east, to the north */
  const PetscReal blows_to = room->round ? round : through;

  return 1 + room->wind * room->h * PetscMax(0, s % 2 == 0 ? blows_to : -blows_to);
}

static PetscErrorCode create_room(Room *room)
{
  PetscFunctionBeginUser;
  room->n = 100;
  room->wind = 2000;
  room->round = PETSC_FALSE;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &room->n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-wind", &room->wind, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-round", &room->round, NULL));
  room->h = 2. / (room->n + 1);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, room->n, room->n, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &room->da));
  PetscCall(DMSetFromOptions(room->da));
  PetscCall(DMSetUp(room->da));
  PetscFunctionReturn(0);
}

/* A u = b, scaled by h^2. A neighbour on the west side goes to b, those on the others are 0. */
static PetscErrorCode fill_system(const Room *room, Mat A, Vec b)
{
  DMDALocalInfo grid;
  PetscScalar **value;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(room->da, &grid));
  PetscCall(VecSet(b, 0));
  PetscCall(DMDAVecGetArray(room->da, b, &value));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++) {
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      const MatStencil point = {.j = j, .i = i};
      MatStencil columns[5] = {point};
      PetscScalar entries[5] = {0};
      PetscInt count = 1;

      for (PetscInt s = 0; s < 4; s++) {
        const PetscInt k = i + steps[s][0], l = j + steps[s][1];
        const PetscReal w = weight(room, i, j, s);

        entries[0] += w;
        if (k < 0) value[j][i] = w;
        if (PetscMin(k, l) < 0 || PetscMax(k, l) >= room->n) continue; /* a side */
        columns[count] = (MatStencil){.j = l, .i = k};
        entries[count++] = -w;
      }
      PetscCall(MatSetValuesStencil(A, 1, &point, count, columns, entries, INSERT_VALUES));
    }
  }
  PetscCall(DMDAVecRestoreArray(room->da, b, &value));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* What must hold of the solution, up to the tolerance of the solve */
static PetscErrorCode check_temperatures(const Room *room, Mat A, Vec b, Vec u, PetscReal *average)
{
  Vec r;
  PetscScalar sum;
  PetscReal least, most, error, size;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &error));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecDestroy(&r));
  PetscCall(VecMin(u, NULL, &least));
  PetscCall(VecMax(u, NULL, &most));
  PetscCall(VecSum(u, &sum));
  *average = PetscRealPart(sum) / (room->n * room->n);
  PetscCheck(error <= 1e-7 * size, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The relative residual is %g", (double)(error / size));
  PetscCheck(least > -1e-5 && most < 1 + 1e-5, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Temperatures from %g to %g", (double)least,
             (double)most);
  PetscCheck(!room->round || PetscAbsReal(*average - 0.25) < 1e-5, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%g on average",
             (double)*average);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Room room;
  Mat A;
  Vec u, b;
  KSP ksp;
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal average = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL,
                            "-n <100>: points in each direction, -wind <2000>: its strength beside diffusion, -round: it turns\n"));
  PetscCall(create_room(&room));
  PetscCall(DMCreateMatrix(room.da, &A));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(fill_system(&room, A, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT)); /* GMRES then watches the true residual */
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, u));

  PetscCall(check_temperatures(&room, A, b, u, &average));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %d iterations, the air has %.4f on average\n", KSPConvergedReasons[reason],
                        (int)iterations, (double)average));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&room.da));
  PetscCall(PetscFinalize());
  return 0;
}
