// Whether there is a GPU that this build can use.
#pragma once
#include "base/compat.hpp"

#include <string>

namespace amgkit
{
inline constexpr int most_copy_threads = 16; // of -amgkit_copy_threads
// What is missing for that, as part of a sentence; empty: nothing. Local. The first call starts the driver.
#if defined(AMGKIT_HAVE_CUDA)
std::string why_no_gpu();
// How many there are. Opens none.
int count_gpus();
#else
inline int count_gpus() { return 0; }
inline std::string why_no_gpu() { return "this build of AMGKit has no CUDA: configure it with -DAMGKIT_CUDA=ON"; }
#endif
} // namespace amgkit
