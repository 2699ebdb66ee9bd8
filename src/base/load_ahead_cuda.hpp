// Included once by each file of kernels. CUDA loads all of a file's kernels before the first one runs: a kernel of no use, on a list, by
// which they can be loaded ahead.
#pragma once

namespace amgkit
{
// Puts it on the list.
bool load_ahead(const void *kernel);

namespace
{
__global__ void of_this_file() {}
[[maybe_unused]] const bool listed = load_ahead(reinterpret_cast<const void *>(of_this_file));
} // namespace
} // namespace amgkit
