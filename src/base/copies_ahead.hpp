// Page-locked buffers for copies between the host and the GPU, made before the first copy.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
// The program's thread: buffers may be made from now to PetscFinalize. *buffers: pairs of them that copies use by default.
PetscErrorCode expect_copies(int *buffers);
// Another thread, with the device set: one more pair, as long as there are fewer than count. Whether there are so many, or one more.
bool make_buffers_ahead(int count);
} // namespace amgkit
