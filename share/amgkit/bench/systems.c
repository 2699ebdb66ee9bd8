#include "systems.h"
#include "elasticity_problem.h"

const char *SystemsName(PetscInt system)
{
  if (system < SYSTEMS_MESH) return SystemNames[system];
  if (system < SYSTEMS_ELASTICITY) return MeshNames[system - SYSTEMS_MESH];
  return system == SYSTEMS_ELASTICITY ? "elasticity" : "file";
}

PetscErrorCode SystemsCreateMat(MPI_Comm comm, PetscInt system, const FileProblem *file, PetscBool weak, PetscBool shuffle, PetscInt *n,
                                Mat *A)
{
  PetscMPIInt size;
  PetscInt block;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(!(system == SYSTEMS_FILE && weak), comm, PETSC_ERR_SUP, "-weak is for grids");
  PetscCheck(!(system == SYSTEMS_MESH + MESH_P2 && weak), comm, PETSC_ERR_SUP, "-weak is not for p2");
  if (system == SYSTEMS_MESH + MESH_P2 && *n % 2 == 0) --*n;
  const PetscInt nz = weak ? *n * size : *n;
  if (system == SYSTEMS_FILE)
    PetscCall(FileProblemLoadMat(comm, file, A));
  else if (system == SYSTEMS_ELASTICITY)
    PetscCall(ElasticityCreateMat(comm, *n, nz, A));
  else if (system >= SYSTEMS_MESH)
    PetscCall(MeshProblemCreateMat(comm, (MeshSystem)(system - SYSTEMS_MESH), *n, nz, A));
  else
    PetscCall(ModelProblemCreateMat(comm, (System)system, *n, nz, A));
  if (system == SYSTEMS_FILE) PetscCall(MatGetSize(*A, n, NULL));
  PetscCall(MatGetBlockSize(*A, &block));
  PetscCheck(!shuffle || block == 1, comm, PETSC_ERR_SUP, "-shuffle is not for blocks");
  if (shuffle) PetscCall(ModelProblemShuffle(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemsDescribeMat(PetscInt system, const FileProblem *file, PetscBool check, Mat A, PetscBool *symmetric)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  *symmetric = PETSC_TRUE;
  if (system == SYSTEMS_FILE) {
    PetscCall(FileProblemDescribeMat(file, A, symmetric));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (check) PetscCall(MatIsSymmetric(A, system == SYSTEMS_ELASTICITY ? 1e-15 : 0.0, symmetric)); /* elasticity: sums in another order */
  if (system != SYSTEM_NEUMANN) {
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemsFillRhs(const FileProblem *file, Mat A, Vec b)
{
  MatNullSpace constants;
  PetscInt start, end, N;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 1.0));
  PetscCall(FileProblemLoadVec(file, b));
  PetscCall(MatGetNullSpace(A, &constants));
  if (!constants) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  PetscCall(VecGetSize(b, &N));
  PetscCall(VecGetArrayWrite(b, &values));
  for (PetscInt row = start; row < end; row++) values[row - start] = row < N / 2 ? 1.0 : -1.0;
  PetscCall(VecRestoreArrayWrite(b, &values));
  PetscCall(MatNullSpaceRemove(constants, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
