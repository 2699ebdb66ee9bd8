// Page-locked buffers for copies between the host and the GPU, 8 MB for each thread that copies, made before the first copy.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
// The program's thread: buffers may be made from now to PetscFinalize. threads: of -amgkit_copy_threads, 0: not given. *count: of the
// threads that will copy.
PetscErrorCode expect_copies(PetscInt threads, int *count);
// Another thread, with the device set: the buffers of one more thread that copies, if fewer than count have theirs. How many have; 0 after
// PetscFinalize, -1 without memory.
int make_buffers_ahead(int count);
} // namespace amgkit
