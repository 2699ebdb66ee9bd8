// PETSc vectors whose entries are in a space: see dist/space_vector.hpp.
#pragma once
#include "dist/space_vector.hpp"

namespace amgkit
{
// A vector with like's communicator and layout. Whatever PETSc does with it on the host asks the space vector, which must outlive it, for
// the entries. array: where they are on the host, or nullptr where the space vector takes memory for them when they are asked for.
// Duplicates are plain vectors of the host.
PetscErrorCode make_space_vec(Vec like, PetscScalar *array, SpaceVector &, Vec *out);
} // namespace amgkit
