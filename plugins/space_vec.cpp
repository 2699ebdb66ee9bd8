#include "plugins/space_vec.hpp"

#include <petsc/private/vecimpl.h>

namespace amgkit
{
namespace
{
// The vector's own array serves one that has lost its space vector.
PetscErrorCode get_array(Vec x, VecUse use, PetscScalar **entries)
{
  SpaceVector *vector = space_vector_of(x);
  PetscFunctionBegin;
  if (vector)
    PetscCall(vector->on_host(use, entries));
  else
    *entries = *static_cast<PetscScalar **>(x->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode VecGetArray_Space(Vec x, PetscScalar **entries) { return get_array(x, VecUse::change, entries); }
PetscErrorCode VecGetArrayWrite_Space(Vec x, PetscScalar **entries) { return get_array(x, VecUse::overwrite, entries); }
PetscErrorCode VecGetArrayRead_Space(Vec x, const PetscScalar **entries)
{
  return get_array(x, VecUse::read, const_cast<PetscScalar **>(entries));
}

PetscErrorCode VecDuplicate_Space(Vec x, Vec *out)
{
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(VecGetBlockSize(x, &bs));
  PetscCall(VecCreate(PetscObjectComm(reinterpret_cast<PetscObject>(x)), out));
  PetscCall(VecSetSizes(*out, x->map->n, x->map->N));
  PetscCall(VecSetBlockSize(*out, bs));
  PetscCall(VecSetType(*out, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode VecDuplicateVecs_Space(Vec x, PetscInt count, Vec **out)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, out));
  for (PetscInt k = 0; k < count; k++) PetscCall(VecDuplicate_Space(x, &(*out)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode make_space_vec(Vec like, PetscScalar *array, SpaceVector &vector, Vec *out)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(like));
  PetscInt n, N, bs;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(VecGetLocalSize(like, &n));
  PetscCall(VecGetSize(like, &N));
  PetscCall(VecGetBlockSize(like, &bs));
  if (size == 1)
    PetscCall(VecCreateSeqWithArray(comm, bs, n, array, out));
  else
    PetscCall(VecCreateMPIWithArray(comm, bs, n, N, array, out));
  (*out)->ops->getarray = VecGetArray_Space;
  (*out)->ops->getarraywrite = VecGetArrayWrite_Space;
  (*out)->ops->getarrayread = VecGetArrayRead_Space;
  (*out)->ops->duplicate = VecDuplicate_Space;
  (*out)->ops->duplicatevecs = VecDuplicateVecs_Space;
  PetscCall(attach(*out, &vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
