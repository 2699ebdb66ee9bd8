#include "file_problem.h"
#include "model_problem.h" /* PETSC_SUCCESS, which older versions lack */

#include <petscviewer.h>

PetscErrorCode FileProblemOptions(FileProblem *problem, PetscBool of_file)
{
  PetscBool matrix, rhs, spd;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(problem, sizeof(*problem)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", problem->matrix, sizeof(problem->matrix), &matrix));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-rhs", problem->rhs, sizeof(problem->rhs), &rhs));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spd", &problem->spd, &spd));
  PetscCheck(of_file || !(matrix || rhs || spd), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONGSTATE, "-f, -rhs and -spd are for -system file");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FileProblemDescribeMat(const FileProblem *problem, Mat A, PetscBool *symmetric)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatIsSymmetric(A, 1e-12 * norm, symmetric));
  PetscCheck(*symmetric || !problem->spd, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "-spd: the matrix of %s is not symmetric",
             problem->matrix);
  /* MatIsSymmetric() also finds entries that are stored on one side alone, if they are 1e-17: then nothing is said of the matrix. */
  if (*symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  if (problem->spd) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FileProblemLoadMat(MPI_Comm comm, const FileProblem *problem, Mat *A)
{
  const char *file = problem->matrix;
  PetscViewer viewer;
  PetscInt rows, cols;

  PetscFunctionBeginUser;
  PetscCheck(file[0], comm, PETSC_ERR_ARG_WRONGSTATE, "-system file needs -f FILE, a matrix in PETSc's binary format");
  PetscCall(PetscViewerBinaryOpen(comm, file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetSize(*A, &rows, &cols));
  PetscCheck(rows == cols, comm, PETSC_ERR_ARG_SIZ, "The matrix of %s has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", file, rows,
             cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FileProblemLoadVec(const FileProblem *problem, Vec b)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  if (!problem->rhs[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerBinaryOpen(PetscObjectComm((PetscObject)b), problem->rhs, FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(b, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
