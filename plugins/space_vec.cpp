#include "plugins/space_vec.hpp"

#include <algorithm>
#include <array>
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

PetscErrorCode VecSet_Space(Vec x, PetscScalar value)
{
  SpaceVector *vector = space_vector_of(x);
  PetscScalar *entries;

  PetscFunctionBegin;
  if (vector && value == 0) {
    PetscCall(vector->set_zero());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(get_array(x, VecUse::overwrite, &entries));
  std::fill_n(entries, x->map->n, value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y = x
PetscErrorCode VecCopy_Space(Vec x, Vec y)
{
  SpaceVector *from = space_vector_of(x), *to = space_vector_of(y);
  const PetscScalar *here;
  PetscScalar *there;
  bool copied = false;

  PetscFunctionBegin;
  if (from && to) PetscCall(from->copy_in_space(*to, &copied));
  if (copied) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(x, &here));
  PetscCall(VecGetArrayWrite(y, &there));
  std::copy_n(here, x->map->n, there);
  PetscCall(VecRestoreArrayWrite(y, &there));
  PetscCall(VecRestoreArrayRead(x, &here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By number of processes, one or more: what PETSc's vectors on the host do.
using NormOfVec = PetscErrorCode (*)(Vec, NormType, PetscReal *);
std::array<NormOfVec, 2> &norms_on_host()
{
  static std::array<NormOfVec, 2> of_process{};
  return of_process;
}
// PETSc looks it up in what a vector has room for since it was first told a norm: to be known before that.
PetscInt id_of_norm()
{
  static PetscInt id = -1;
  if (id < 0 && PetscObjectComposedDataRegister(&id)) id = -1;
  return id;
}

PetscErrorCode VecNorm_Space(Vec x, NormType type, PetscReal *norm)
{
  PetscBool known = PETSC_FALSE;
  int size;

  PetscFunctionBegin;
  if (type == NORM_2) PetscCall(PetscObjectComposedDataGetReal(reinterpret_cast<PetscObject>(x), id_of_norm(), *norm, known));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(x)), &size));
  PetscCall(norms_on_host()[size > 1](x, type, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode know_norm(Vec x, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposedDataSetReal(reinterpret_cast<PetscObject>(x), id_of_norm(), norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_space_vec(MPI_Comm comm, VecSizes sizes, PetscScalar *array, SpaceVector &vector, Vec *out)
{
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1)
    PetscCall(VecCreateSeqWithArray(comm, sizes.block, sizes.own, array, out));
  else
    PetscCall(VecCreateMPIWithArray(comm, sizes.block, sizes.own, sizes.all, array, out));
  static_cast<void>(id_of_norm());
  norms_on_host()[size > 1] = (*out)->ops->norm;
  (*out)->ops->norm = VecNorm_Space;
  (*out)->ops->getarray = VecGetArray_Space;
  (*out)->ops->getarraywrite = VecGetArrayWrite_Space;
  (*out)->ops->getarrayread = VecGetArrayRead_Space;
  (*out)->ops->duplicate = VecDuplicate_Space;
  (*out)->ops->duplicatevecs = VecDuplicateVecs_Space;
  (*out)->ops->set = VecSet_Space;
  (*out)->ops->copy = VecCopy_Space;
  PetscCall(attach(*out, &vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_space_vec(Vec like, PetscScalar *array, SpaceVector &vector, Vec *out)
{
  VecSizes sizes;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(like, &sizes.own));
  PetscCall(VecGetSize(like, &sizes.all));
  PetscCall(VecGetBlockSize(like, &sizes.block));
  PetscCall(make_space_vec(PetscObjectComm(reinterpret_cast<PetscObject>(like)), sizes, array, vector, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
