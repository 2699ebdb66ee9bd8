/*
  Linear elasticity on trilinear cubes: n x n x nz nodes above a plane that holds the lowest layer of elements fast, 3 displacements each.
  Young's modulus is 1, but 1e-3 in a ball of a quarter of n elements around the middle of each n x n x n nodes; Poisson's ratio is 1/4.
  As PETSc's ksp ex56 with -alpha 1e-3, whose matrix has the fast plane's rows too. Nodes are in natural order (x fastest) and distributed
  in contiguous blocks. The matrix has its block size and its rigid body modes (MatSetNearNullSpace()).
*/
#ifndef AMGKIT_BENCH_ELASTICITY_PROBLEM_H
#define AMGKIT_BENCH_ELASTICITY_PROBLEM_H

#include <petscmat.h>

/* Its type is AIJ or what -mat_type says. */
PetscErrorCode ElasticityCreateMat(MPI_Comm comm, PetscInt n, PetscInt nz, Mat *A);

#endif
