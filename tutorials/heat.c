/* Heat flows in a plate whose conductivity depends on the temperature. Every time step changes the matrix's values, not its nonzero
   pattern.

     u_t = div(k(u) grad u) on the unit square, no flux through its boundary, k(u) = 0.01 + u^3
     u = 1 in a disk at the start, 0 elsewhere

   Implicit Euler with the previous step's conductivity, finite volumes on n x n cells: (h^2/dt + K(u_old)) u_new = h^2/dt u_old.

   Run it with the preconditioner from the plugin:
     PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" ./heat -n 256 -steps 20 -pc_type amgmatching
   The first step sets up aggregates and prolongators. Later steps keep them and recompute only the coarse matrices: the column "setup"
   shows the difference. To build everything again in each step, add:
     -pc_amgmatching_reuse_interpolation 0

   To skip every later setup, call KSPSetReusePreconditioner(), or add:
     -dt 1e-5 -ksp_reuse_preconditioner

   It pays off when the matrix changes little, as it does with this small -dt. If it changes too much, the iterations grow, or CG stops with
   an indefinite preconditioner. With the default -dt this happens in the second step.

   The program checks two properties of the solution after each step: the sum over the plate stays the same, and no temperature leaves the
   range of the initial ones.

   On CPUs with several processes set OMP_NUM_THREADS=1. */
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef struct {
  DM da;
  PetscInt n, steps;
  PetscReal dt;
} Plate;

static PetscReal conductivity(PetscReal u) { return 0.01 + u * u * u; }

static PetscErrorCode create_plate(Plate *plate)
{
  PetscFunctionBeginUser;
  plate->n = 128;
  plate->steps = 20;
  plate->dt = 1e-3;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &plate->n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &plate->steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-dt", &plate->dt, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, plate->n, plate->n, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &plate->da));
  PetscCall(DMSetFromOptions(plate->da));
  PetscCall(DMSetUp(plate->da));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_first_temperatures(const Plate *plate, Vec u)
{
  DMDALocalInfo grid;
  PetscScalar **value;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(plate->da, &grid));
  PetscCall(DMDAVecGetArrayWrite(plate->da, u, &value));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++) {
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      const PetscReal x = (i + 0.5) / plate->n - 0.5, y = (j + 0.5) / plate->n - 0.5;

      value[j][i] = x * x + y * y < 0.1 ? 1 : 0;
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(plate->da, u, &value));
  PetscFunctionReturn(0);
}

/* A = h^2/dt + K(u): between two cells flows the mean of their conductivities times the difference of their temperatures. Every call
   overwrites all entries and adds none, so PETSc and the preconditioner know that only values have changed. */
static PetscErrorCode fill_matrix(const Plate *plate, Vec u, Mat A)
{
  DMDALocalInfo grid;
  Vec with_ghosts;
  const PetscScalar **value;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(plate->da, &grid));
  PetscCall(DMGetLocalVector(plate->da, &with_ghosts));
  PetscCall(DMGlobalToLocal(plate->da, u, INSERT_VALUES, with_ghosts));
  PetscCall(DMDAVecGetArrayRead(plate->da, with_ghosts, &value));
  for (PetscInt j = grid.ys; j < grid.ys + grid.ym; j++) {
    for (PetscInt i = grid.xs; i < grid.xs + grid.xm; i++) {
      const MatStencil cell = {.j = j, .i = i},
                       around[4] = {{.j = j, .i = i - 1}, {.j = j, .i = i + 1}, {.j = j - 1, .i = i}, {.j = j + 1, .i = i}};
      MatStencil columns[5] = {cell};
      PetscScalar entries[5] = {1 / (plate->dt * plate->n * plate->n)};
      PetscInt count = 1;

      for (PetscInt s = 0; s < 4; s++) {
        const PetscInt k = around[s].i, l = around[s].j;

        if (PetscMin(k, l) < 0 || PetscMax(k, l) >= plate->n) continue; /* the boundary */
        columns[count] = around[s];
        entries[count] = -(conductivity(value[j][i]) + conductivity(value[l][k])) / 2;
        entries[0] -= entries[count++];
      }
      PetscCall(MatSetValuesStencil(A, 1, &cell, count, columns, entries, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDAVecRestoreArrayRead(plate->da, with_ghosts, &value));
  PetscCall(DMRestoreLocalVector(plate->da, &with_ghosts));
  PetscFunctionReturn(0);
}

/* From u to the temperatures one step later: new values, a setup for them, a solve that begins with the old temperatures. */
static PetscErrorCode take_step(const Plate *plate, KSP ksp, Mat A, Vec b, Vec u, PetscLogDouble *setup_seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(fill_matrix(plate, u, A));
  PetscCall(VecCopy(u, b));
  PetscCall(VecScale(b, 1 / (plate->dt * plate->n * plate->n)));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetOperators(ksp, A, A)); /* the same Mat: its values are looked at again */
  PetscCall(KSPSetUp(ksp));              /* KSPSolve() would do it; here it is timed */
  PetscCall(PetscTime(&end));
  PetscCall(KSPSolve(ksp, b, u));
  *setup_seconds = end - begin;
  PetscFunctionReturn(0);
}

/* What must hold after every step, up to the tolerance of the solves. */
static PetscErrorCode check_temperatures(Vec u, PetscScalar first_sum)
{
  PetscScalar sum;
  PetscReal least, most;

  PetscFunctionBeginUser;
  PetscCall(VecSum(u, &sum));
  PetscCall(VecMin(u, NULL, &least));
  PetscCall(VecMax(u, NULL, &most));
  PetscCheck(PetscAbsScalar(sum - first_sum) < 1e-6 * first_sum, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Heat was %g and is now %g",
             (double)first_sum, (double)sum);
  PetscCheck(least > -1e-6 && most < 1 + 1e-6, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Temperatures from %g to %g", (double)least,
             (double)most);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Plate plate;
  Mat A;
  Vec u, b;
  KSP ksp;
  PetscScalar sum;
  PetscInt iterations, most_iterations = 0;
  PetscLogDouble setup = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, "-n <128>: cells in each direction, -steps <20>, -dt <0.001>\n"));
  PetscCall(create_plate(&plate));
  PetscCall(DMCreateMatrix(plate.da, &A));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &u, &b));
  PetscCall(set_first_temperatures(&plate, u));
  PetscCall(VecSum(u, &sum));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE)); /* no step goes on from a wrong one */
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step  iterations  setup\n"));
  for (PetscInt step = 1; step <= plate.steps; step++) {
    PetscCall(take_step(&plate, ksp, A, b, u, &setup));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4d  %10d  %8.2f ms\n", (int)step, (int)iterations, 1000 * setup));
    PetscCall(check_temperatures(u, sum));
    most_iterations = PetscMax(most_iterations, iterations);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d steps, each right, at most %d iterations\n", (int)plate.steps, (int)most_iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&plate.da));
  PetscCall(PetscFinalize());
  return 0;
}
