// Starting the GPU ahead. A process's first use of a GPU starts the driver (0.1 to 0.2 s), opens the device (0.15 s) and loads kernels (up
// to 0.1 s), and page-locking the buffers of copies takes 20 ms. Here a thread does all that while the program assembles its matrix.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
#if defined(AMGKIT_HAVE_CUDA)
// A start, where the option -amgkit_gpu asks for a GPU. It does not wait, and does not fail for want of one: errors are reported where the
// GPU is used. A process has one start. With several processes, one of which may work for all that share a GPU, it is the driver's alone,
// which takes no memory of the GPU. Options count as unused by it.
PetscErrorCode start_gpu_if_asked();
// A setup begins: no file is loaded ahead after the present one, as two threads that load wait for one another.
void end_loading_ahead();
// For tests: waits for the end of the start.
struct MadeAhead {
  int loaded, files; // of kernels
  int buffers;       // threads that copy and have theirs
};
MadeAhead wait_for_start();
#else
inline PetscErrorCode start_gpu_if_asked() { return PETSC_SUCCESS; }
#endif
} // namespace amgkit
