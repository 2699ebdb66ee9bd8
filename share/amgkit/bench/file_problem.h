/* A matrix, and perhaps a right-hand side, that a user has written with MatView() and VecView() to PETSc's binary files. */
#ifndef AMGKIT_BENCH_FILE_PROBLEM_H
#define AMGKIT_BENCH_FILE_PROBLEM_H

#include <petscmat.h>

typedef struct {
  char matrix[PETSC_MAX_PATH_LEN], rhs[PETSC_MAX_PATH_LEN]; /* -f, -rhs */
  PetscBool spd;                                            /* -spd: the user says that the matrix is symmetric positive definite */
} FileProblem;

/* Of the options; an error where one of them is given and not asked for. */
PetscErrorCode FileProblemOptions(FileProblem *problem, PetscBool asked_for);
/* Its type is AIJ or what -mat_type says; it has the block size of the file's .info. It must be square. PETSc knows of it whether it is
   symmetric (to 1e-12 of its norm), and positive definite only with -spd, which must not be wrong about symmetry. Collective. */
PetscErrorCode FileProblemLoadMat(MPI_Comm comm, const FileProblem *problem, Mat *A);
/* b has its layout; a vector of another length is an error. Nothing happens without -rhs. Collective. */
PetscErrorCode FileProblemLoadVec(const FileProblem *problem, Vec b);

#endif
