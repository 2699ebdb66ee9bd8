/*
  The model problems of the benchmark, on a grid. Row i has a_ij = -w_ij for the neighbours j inside the grid and
  a_ii = the sum of w_ij over all neighbours, those beyond the boundary included, which is a Dirichlet boundary where w is not 0.
    7       6 neighbours, w = 1
    27      26 neighbours, w = 1
    aniso   6 neighbours, w = 1 in x, 1 in y, 0.01 in z
    jump    6 neighbours, finite volumes: every block of 8 x 8 x 8 cells has a coefficient 10^u, u uniform in (-3, 3) by a
            hash of the block; w = 2 p q / (p + q) between cells of coefficients p and q, w = p at the boundary
    neumann 6 neighbours, w = 1, but 0 beyond the boundary: singular, constant vectors are its null space
  Rows are in natural order (x fastest) and distributed in contiguous blocks, that is in slabs along z.
*/
#ifndef AMGKIT_BENCH_MODEL_PROBLEM_H
#define AMGKIT_BENCH_MODEL_PROBLEM_H

#include <petscmat.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS 0
#endif

typedef enum { SYSTEM_7, SYSTEM_27, SYSTEM_ANISO, SYSTEM_JUMP, SYSTEM_NEUMANN, SYSTEM_COUNT } System;
extern const char *const SystemNames[SYSTEM_COUNT];

/* The matrix of a grid of n x n x nz points; its type is AIJ or what -mat_type says. */
PetscErrorCode ModelProblemCreateMat(MPI_Comm comm, System system, PetscInt n, PetscInt nz, Mat *A);

/* A's rows and columns in another order, the same random one each time, within each process's rows: what an unstructured grid whose points
   nobody ordered gives. Values stay with their points; the type stays. */
PetscErrorCode ModelProblemShuffle(Mat *A);

/* The entries of a row, in ascending order of columns; returns how many. Without vals it tells the columns alone. */
typedef PetscInt (*RowFunction)(const void *problem, PetscInt row, PetscInt cols[], PetscScalar vals[]);

/* The N x N matrix of these rows, of at most `longest` entries: each process asks for its own. Its type is AIJ or what -mat_type says. */
PetscErrorCode RowsCreateMat(MPI_Comm comm, PetscInt N, PetscInt longest, RowFunction row, const void *problem, Mat *A);

/* One step of the splitmix64 generator: 64 well-mixed bits of any 64 bits; and a number in (0, 1) of 64 bits. */
unsigned long long SplitMix64(unsigned long long z);
PetscReal UniformOfBits(unsigned long long bits);

#endif
