// The memory pools of the process, one a device.
#pragma once
#include "base/cuda.hpp"

namespace amgkit
{
// The pool of a device, made at the first call; it stays until PetscFinalize. Reads -amgkit_small_blocks when it makes the first.
PetscErrorCode pool_of_device(int device, cudaMemPool_t *pool);
} // namespace amgkit
