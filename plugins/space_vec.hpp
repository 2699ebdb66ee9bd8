// PETSc vectors whose entries are in a space: see dist/space_vector.hpp.
#pragma once
#include "dist/space_vector.hpp"

namespace amgkit
{
// Of a process: of its entries, and of all.
struct VecSizes {
  PetscInt block = 1, own = 0, all = 0;
};
// Collective over comm. Whatever PETSc does with the vector on the host asks the space vector, which must outlive it, for the entries; what
// sets them to zero or copies them from another one of the space does so there. array: where they are on the host, or nullptr where the
// space vector takes memory for them when they are asked for. Duplicates are plain vectors of the host.
PetscErrorCode make_space_vec(MPI_Comm comm, VecSizes, PetscScalar *array, SpaceVector &, Vec *out);
// Collective: the 2-norm of the entries that such a vector has now is known to be this one, and VecNorm() need not bring them to the host.
PetscErrorCode know_norm(Vec, PetscReal norm);
// With like's communicator and sizes
PetscErrorCode make_space_vec(Vec like, PetscScalar *array, SpaceVector &, Vec *out);
} // namespace amgkit
