#include "base/device.hpp"

#include "base/cuda.hpp"
#include "base/gpu.hpp"

#include <map>
#include <petscdevice.h>
#include <petscoptions.h>

namespace amgkit
{
namespace
{
// The device that PETSc has chosen, or would choose, and without its CUDA the one that memory_cuda.cu would: these open it, which takes
// its memory and time in every process.
PetscErrorCode number_of_device(int count, int *device)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaGetDevice(device));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
#if defined(PETSC_HAVE_CUDA)
  PetscInt chosen = PETSC_DECIDE;
  PetscBool set;
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select_cuda", &chosen, &set));
  if (!set) PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select", &chosen, nullptr));
  *device = chosen >= 0 && chosen < count ? static_cast<int>(chosen) : rank % count;
#else
  if (*device == 0) *device = rank % count;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int count_gpus()
{
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status) static_cast<void>(cudaGetLastError()); // no driver, for example
  return status ? 0 : count;
}

PetscErrorCode name_of_device(std::string *name)
{
  constexpr char digits[] = "0123456789abcdef";
  static std::map<int, std::string> known; // asking for the properties takes up to milliseconds
  cudaDeviceProp properties;
  int device;

  PetscFunctionBegin;
  name->clear();
  const int count = count_gpus();
  if (count == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(number_of_device(count, &device));
  if (const auto found = known.find(device); found != known.end()) {
    *name = found->second;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AMGKIT_CALL_CUDA(cudaGetDeviceProperties(&properties, device));
  for (const char byte : properties.uuid.bytes) {
    const auto number = static_cast<unsigned char>(byte);
    *name += {digits[number / 16], digits[number % 16]};
  }
  known[device] = *name;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool lock_pages(void *p, std::size_t bytes)
{
  const bool locked = cudaHostRegister(p, bytes, cudaHostRegisterDefault) == cudaSuccess;
  if (!locked) static_cast<void>(cudaGetLastError()); // which is not to be found by somebody else
  return locked;
}

void unlock_pages(void *p)
{
  if (cudaHostUnregister(p) != cudaSuccess) static_cast<void>(cudaGetLastError());
}
} // namespace amgkit
