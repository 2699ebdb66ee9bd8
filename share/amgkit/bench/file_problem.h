/* A matrix, and perhaps a right-hand side, that a user has written with MatView() and VecView() to PETSc's binary files. */
#ifndef AMGKIT_BENCH_FILE_PROBLEM_H
#define AMGKIT_BENCH_FILE_PROBLEM_H

#include <petscmat.h>

typedef struct {
  char matrix[PETSC_MAX_PATH_LEN], rhs[PETSC_MAX_PATH_LEN]; /* -f, -rhs */
  PetscBool spd;                                            /* -spd: the user says that the matrix is symmetric positive definite */
} FileProblem;

/* From the options; an error where one of them is given although the system is no file. */
PetscErrorCode FileProblemOptions(FileProblem *problem, PetscBool of_file);
/* Its type is AIJ or what -mat_type says; it has the block size of the file's .info. It must be square. Collective. */
PetscErrorCode FileProblemLoadMat(MPI_Comm comm, const FileProblem *problem, Mat *A);
/* Tells PETSc whether A is symmetric, to 1e-12 of its norm, and with -spd that it is positive definite; an error if A is not symmetric
   then. Collective. */
PetscErrorCode FileProblemDescribeMat(const FileProblem *problem, Mat A, PetscBool *symmetric);
/* b has its layout; a vector of another length is an error. Nothing happens without -rhs. Collective. */
PetscErrorCode FileProblemLoadVec(const FileProblem *problem, Vec b);

#endif
