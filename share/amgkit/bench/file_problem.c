#include "file_problem.h"
#include "model_problem.h" /* PETSC_SUCCESS, which older versions lack */

#include <petscviewer.h>

PetscErrorCode FileProblemLoadMat(MPI_Comm comm, const char file[], Mat *A)
{
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

PetscErrorCode FileProblemLoadVec(const char file[], Vec b)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PetscObjectComm((PetscObject)b), file, FILE_MODE_READ, &viewer));
  PetscCall(VecLoad(b, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
