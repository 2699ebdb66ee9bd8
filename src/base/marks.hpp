// How the host waits for some of what a space has been told to do, and not for what it was told after.
#pragma once
#include "base/space.hpp"

namespace amgkit
{
// Remembers what has been queued so far; and waits until that is done. One mark of the process at a time: a later one takes its place.
inline PetscErrorCode mark(Host &) { return PETSC_SUCCESS; }
inline PetscErrorCode wait_for_mark(Host &) { return PETSC_SUCCESS; }
PetscErrorCode mark(Cuda &);
PetscErrorCode wait_for_mark(Cuda &);
} // namespace amgkit
