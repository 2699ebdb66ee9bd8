// Starting the GPU ahead. A process's first use of a GPU starts the driver, opens the device and loads the kernels' code, 0.1 s, 0.15 s and
// up to 0.1 s, in all of which the host waits. In a thread of its own that happens beside what the program does before its first setup.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
struct LoadedAhead {
  int files, of; // of kernels; how many there are
};

// None waits, and none fails for want of a GPU: what is wrong with one is found where it is used. A process has one start, by the first
// call.
#if defined(AMGKIT_HAVE_CUDA)
// For a program that has asked for a GPU. Where it has several processes, one of which may work for all that share a GPU, it starts the
// driver alone, which takes no memory of the GPU.
PetscErrorCode start_gpu_ahead();
// Where PETSc has opened the device: the kernels' code alone.
PetscErrorCode load_kernels_ahead();
// A setup begins: no file is begun after the one that is being loaded, as two threads that load wait for one another.
void end_loading_ahead();
// Waits for the end.
LoadedAhead loaded_ahead();
#else
inline PetscErrorCode start_gpu_ahead() { return PETSC_SUCCESS; }
inline PetscErrorCode load_kernels_ahead() { return PETSC_SUCCESS; }
#endif
} // namespace amgkit
