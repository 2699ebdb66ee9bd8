/* A matrix, and perhaps a right-hand side, that a user has written with MatView() and VecView() to PETSc's binary files. */
#ifndef AMGKIT_BENCH_FILE_PROBLEM_H
#define AMGKIT_BENCH_FILE_PROBLEM_H

#include <petscmat.h>

/* Its type is AIJ or what -mat_type says; it has the block size of the file's .info. It must be square. Collective. */
PetscErrorCode FileProblemLoadMat(MPI_Comm comm, const char file[], Mat *A);
/* b has its layout; a vector of another length is an error. Collective. */
PetscErrorCode FileProblemLoadVec(const char file[], Vec b);

#endif
