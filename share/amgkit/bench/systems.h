/* All systems of amgkit_bench by number: model problems, meshes, elasticity and files. */
#ifndef AMGKIT_BENCH_SYSTEMS_H
#define AMGKIT_BENCH_SYSTEMS_H

#include "file_problem.h"
#include "mesh_problem.h"
#include "model_problem.h"

enum { SYSTEMS_MESH = SYSTEM_COUNT, SYSTEMS_ELASTICITY = SYSTEMS_MESH + MESH_COUNT, SYSTEMS_FILE, SYSTEMS_COUNT };

const char *SystemsName(PetscInt system);
/* The matrix of n points a side, for each rank if weak. n becomes what it has: for p2 an odd number, for a file its rows. */
PetscErrorCode SystemsCreateMat(MPI_Comm comm, PetscInt system, const FileProblem *file, PetscBool weak, PetscBool shuffle, PetscInt *n,
                                Mat *A);
/* Tells PETSc what is known of A: symmetric, positive definite, its null space. Says whether it is symmetric, which is tested if check. */
PetscErrorCode SystemsDescribeMat(PetscInt system, const FileProblem *file, PetscBool check, Mat A, PetscBool *symmetric);
/* b = 1 or the file's. With constants as null space b = 1 in the first half of the rows and -1 in the others, less their mean. */
PetscErrorCode SystemsFillRhs(const FileProblem *file, Mat A, Vec b);

#endif
