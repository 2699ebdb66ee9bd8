#include "base/gpu_start.hpp"

#include "base/copies_ahead.hpp"
#include "base/cuda.hpp"
#include "base/gpu.hpp"
#include "base/load_ahead_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <petscdevice.h>
#include <petscoptions.h>
#include <sstream>
#include <string>
#include <system_error>
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

// The thread, from the start to PetscFinalize(), or to the process's end if the program does without.
struct Start {
  std::thread thread;
  bool begun = false;
  std::atomic<bool> ended{false};
  std::atomic<int> loaded{0}, buffers{0};

  void join()
  {
    ended = true;
    if (thread.joinable()) thread.join();
  }
  Start() { static_cast<void>(cudaPeekAtLastError()); } // the runtime, which the thread uses to the end, is destroyed after this
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

// What fails here fails again where the GPU is used, and is reported there. buffers: of copies.
void start_gpu(int device, bool driver_alone, int buffers)
{
  std::fenv_t environment;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed; // a graph that the program captures meanwhile stays valid
  cudaFuncAttributes attributes;
  int count = 0;

  static_cast<void>(std::feholdexcept(&environment)); // -fp_trap is for the program's own arithmetic
  if (cudaThreadExchangeStreamCaptureMode(&mode) || cudaGetDeviceCount(&count) || device >= count || driver_alone) return;
  if (cudaSetDevice(device) || cudaFree(nullptr)) return;
  for (const void *kernel : kernels_of_files()) {
    if (start().ended || cudaFuncGetAttributes(&attributes, kernel)) return;
    start().loaded++;
  }
  for (int made = 0; !start().ended && made < buffers; start().buffers = made) {
    made = make_buffers_ahead(buffers);
    if (made <= 0) return;
  }
}

// Signals are the main thread's: PETSc's handlers call MPI.
void begin(int device, bool driver_alone, int buffers)
{
  sigset_t all, before;

  start().begun = true;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    start().thread = std::thread(start_gpu, device, driver_alone, buffers);
  } catch (const std::system_error &) { // the GPU starts where it is used
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// *value: what follows the option, if that is no option. PETSc's own functions would note that somebody has used it.
PetscErrorCode look_for_option(const std::string &name, bool *given, std::string *value)
{
  char *all = nullptr;
  std::string word;

  PetscFunctionBegin;
  *given = false;
  PetscCall(PetscOptionsGetAll(nullptr, &all));
  std::istringstream words(all ? all : "");
  PetscCall(PetscFree(all));
  while (words >> word) {
    if (*given) {
      if (word[0] != '-') *value = word;
      break;
    }
    *given = word == name;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The one that number_of_device() in device_cuda.cu finds for a single process, so far as the program has chosen it by now.
PetscErrorCode device_by_now(int *device)
{
  PetscFunctionBegin;
  *device = 0;
#if defined(PETSC_HAVE_CUDA)
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) {
    AMGKIT_CALL_CUDA(cudaGetDevice(device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const char *name : {"-device_select_cuda", "-device_select"}) {
    bool given = false;
    std::string value;
    PetscCall(look_for_option(name, &given, &value));
    if (!given) continue;
    *device = std::max(std::atoi(value.c_str()), 0);
    break;
  }
#else
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) PetscFunctionReturn(PETSC_SUCCESS); // nobody has chosen, and asking would start it
  if (cudaGetDevice(device)) *device = 0;
  static_cast<void>(dlclose(driver));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

bool list_file(const void *kernel)
{
  kernels_of_files().push_back(kernel);
  return true;
}

PetscErrorCode start_gpu_if_asked()
{
  PetscMPIInt size;
  GpuWish wish;
  bool given = false, known = false;
  std::string word;
  int device, buffers = 0;

  PetscFunctionBegin;
  PetscCall(look_for_option("-amgkit_gpu", &given, &word));
  PetscCall(gpu_wish_of(word, &wish, &known)); // an unknown word is reported where the GPU is used
  if (start().begun || !given || wish == GpuWish::no) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(device_by_now(&device));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscRegisterFinalize(join_start));
  if (size == 1) {
    std::string threads;
    PetscCall(look_for_option("-amgkit_copy_threads", &given, &threads));
    PetscCall(expect_copies(given ? std::atoi(threads.c_str()) : 0, &buffers));
  }
  begin(device, size > 1, buffers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void end_loading_ahead() { start().ended = true; }

MadeAhead wait_for_start()
{
  if (start().thread.joinable()) start().thread.join();
  return {start().loaded, static_cast<int>(kernels_of_files().size()), start().buffers};
}
} // namespace amgkit
