// Copies within a space, to and from memory that other processes have there, too.
#pragma once
#include "base/memory.hpp"

namespace amgkit
{
// As open(), for memory_copy() and synchronise() alone: takes the stream, and nothing of the device's memory. close() ends it, too.
inline PetscErrorCode open_for_copies(Host &) { return PETSC_SUCCESS; }
PetscErrorCode open_for_copies(Cuda &);
// What was queued in the space has ended.
inline PetscErrorCode synchronise(Host &) { return PETSC_SUCCESS; }
PetscErrorCode synchronise(Cuda &);
// As queue_copy_in(), within the space
PetscErrorCode queue_copy_within(Host &, std::size_t number, void *to, const void *from, std::size_t bytes);
PetscErrorCode queue_copy_within(Cuda &, std::size_t number, void *to, const void *from, std::size_t bytes);
} // namespace amgkit
