// A GPU's memory for others.
#pragma once
#include "base/memory.hpp"

namespace amgkit
{
// As memory_allocate() gives scratch memory, but never a part of a larger block: who takes it may free it by cudaFree() or cudaFreeAsync(),
// as PETSc does with the array of a Vec. memory_free() takes it back, too.
PetscErrorCode memory_to_give(Cuda &, std::size_t bytes, void **p);
} // namespace amgkit
