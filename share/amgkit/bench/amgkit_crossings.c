static char help[] = "Counts what crosses between processes in a setup, a setup for new values and a solve: crossings.py starts it.\n\
  -system, -n, -weak       : as amgkit_bench has them\n\
Counts do not depend on times. Where -pc_TYPE_space is debug, the waits of a GPU's host are counted, too.\n\n";

/*
  The windows are setup, values (a setup for new values) and solve, whose iterations the line that begins with "solved" says. What the first
  of everything costs, as PETSc's own duplicates of communicators, is not counted: a first setup and solve go before.
*/
#include "crossings.h"
#include "systems.h"
#include <petscksp.h>

typedef struct {
  PetscInt system, n;
  PetscBool weak;
  FileProblem file;
  Mat A;
  Vec b, x;
} Crossings;

static PetscErrorCode Options(Crossings *c)
{
  const char *names[SYSTEMS_COUNT];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < SYSTEMS_COUNT; k++) names[k] = SystemsName(k);
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->system = SYSTEM_7;
  c->n = 16;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "amgkit_crossings", NULL);
  PetscCall(PetscOptionsEList("-system", "The matrix", NULL, names, SYSTEMS_COUNT, names[c->system], &c->system, NULL));
  PetscCall(PetscOptionsInt("-n", "Grid points a side", NULL, c->n, &c->n, NULL));
  PetscCall(PetscOptionsBool("-weak", "n is for each rank", NULL, c->weak, &c->weak, NULL));
  PetscOptionsEnd();
  PetscCall(FileProblemOptions(&c->file, c->system == SYSTEMS_FILE ? PETSC_TRUE : PETSC_FALSE));
  PetscCheck(c->n > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " must be positive", c->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every process passes before the next window, so that none waits in it for work of another. */
static PetscErrorCode Window(const char name[])
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(CrossingsWindow(name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Crossings *c, PetscBool counted, PetscInt *its, KSPConvergedReason *reason)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, c->A, c->A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));
  if (counted) PetscCall(Window("setup"));
  PetscCall(KSPSetUp(ksp));
  PetscCall(CrossingsWindow(NULL));
  PetscCall(MatScale(c->A, 2.0));
  PetscCall(KSPSetOperators(ksp, c->A, c->A));
  if (counted) PetscCall(Window("values"));
  PetscCall(KSPSetUp(ksp));
  PetscCall(CrossingsWindow(NULL));
  PetscCall(VecSet(c->x, 0.0));
  if (counted) PetscCall(Window("solve"));
  PetscCall(KSPSolve(ksp, c->b, c->x));
  PetscCall(CrossingsWindow(NULL));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Crossings c;
  PetscInt its, rows;
  PetscBool symmetric;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Options(&c));
  PetscCall(SystemsCreateMat(PETSC_COMM_WORLD, c.system, &c.file, c.weak, PETSC_FALSE, &c.n, &c.A));
  PetscCall(SystemsDescribeMat(c.system, &c.file, PETSC_FALSE, c.A, &symmetric));
  PetscCall(MatCreateVecs(c.A, &c.x, &c.b));
  PetscCall(SystemsFillRhs(&c.file, c.A, c.b));
  PetscCall(CrossingsBegin());
  PetscCall(Run(&c, PETSC_FALSE, &its, &reason));
  PetscCall(Run(&c, PETSC_TRUE, &its, &reason));
  PetscCall(MatGetSize(c.A, &rows, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved %" PetscInt_FMT " rows in %" PetscInt_FMT " iterations %s\n", rows, its,
                        KSPConvergedReasons[reason]));
  PetscCall(CrossingsPrint(PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&c.x));
  PetscCall(VecDestroy(&c.b));
  PetscCall(MatDestroy(&c.A));
  PetscCall(PetscFinalize());
  return 0;
}
