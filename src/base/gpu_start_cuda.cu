#include "base/gpu_start.hpp"

#include "base/cuda.hpp"
#include "base/load_ahead_cuda.hpp"

#include <atomic>
#include <petscdevice.h>
#include <petscoptions.h>
#include <thread>
#include <vector>

namespace amgkit
{
namespace
{
std::vector<const void *> &kernels_of_files()
{
  static std::vector<const void *> kernels;
  return kernels;
}

// The thread, from the first call to PetscFinalize(), or to the process's end if the program does without.
struct Start {
  std::thread thread;
  std::atomic<bool> begun{false}, ended{false};
  std::atomic<int> loaded{0};

  void join()
  {
    ended = true;
    if (thread.joinable()) thread.join();
  }
  Start() { static_cast<void>(cudaGetLastError()); } // the runtime, which this uses to the end, ends after it
  Start(const Start &) = delete;
  Start &operator=(const Start &) = delete;
  Start(Start &&) = delete;
  Start &operator=(Start &&) = delete;
  ~Start() { join(); }
};
Start &start()
{
  static Start of_process;
  return of_process;
}
PetscErrorCode join_start()
{
  start().join();
  return PETSC_SUCCESS;
}

// What fails here fails again where the GPU is used, and is reported there.
void load_kernels(int device)
{
  cudaFuncAttributes attributes;
  if (cudaSetDevice(device) || cudaFree(nullptr)) return;
  for (const void *kernel : kernels_of_files()) {
    if (start().ended || cudaFuncGetAttributes(&attributes, kernel)) return;
    start().loaded++;
  }
}

template <class F> PetscErrorCode begin(F work)
{
  PetscFunctionBegin;
  start().begun = true;
  PetscCall(PetscRegisterFinalize(join_start));
  start().thread = std::thread(work);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

bool load_ahead(const void *kernel)
{
  kernels_of_files().push_back(kernel);
  return true;
}

// The device is the one that number_of_device() in device_cuda.cu would find for a single process.
PetscErrorCode start_gpu_ahead()
{
  PetscMPIInt size;
  PetscInt chosen = PETSC_DECIDE;

  PetscFunctionBegin;
  if (start().begun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
#if defined(PETSC_HAVE_CUDA)
  PetscBool set;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select_cuda", &chosen, &set));
  if (!set) PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select", &chosen, nullptr));
#endif
  PetscCall(begin([=] {
    int count = 0;
    if (cudaGetDeviceCount(&count) || count == 0 || size > 1) return;
    load_kernels(chosen >= 0 && chosen < count ? static_cast<int>(chosen) : 0);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode load_kernels_ahead()
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  int device;
  if (start().begun || !PetscDeviceInitialized(PETSC_DEVICE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  AMGKIT_CALL_CUDA(cudaGetDevice(&device));
  PetscCall(begin([=] { load_kernels(device); }));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

void end_loading_ahead() { start().ended = true; }

LoadedAhead loaded_ahead()
{
  if (start().thread.joinable()) start().thread.join();
  return {start().loaded, static_cast<int>(kernels_of_files().size())};
}
} // namespace amgkit
