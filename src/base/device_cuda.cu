#include "base/device.hpp"

#include <cuda_runtime.h>
#include <petscdevice.h>
#include <petscdevice_cuda.h>
#include <petscoptions.h>

namespace amgkit
{
namespace
{
// The device that PETSc has chosen, or would choose: PETSc itself would open it, which takes its memory and time in every process.
PetscErrorCode number_of_device(int *device)
{
  PetscInt chosen = PETSC_DECIDE;
  PetscMPIInt rank;
  PetscBool set;
  int count;

  PetscFunctionBegin;
  if (PetscDeviceInitialized(PETSC_DEVICE_CUDA)) {
    PetscCallCUDA(cudaGetDevice(device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCUDA(cudaGetDeviceCount(&count));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select_cuda", &chosen, &set));
  if (!set) PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-device_select", &chosen, nullptr));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  *device = chosen >= 0 && chosen < count ? static_cast<int>(chosen) : rank % count;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode name_of_device(std::string *name)
{
  constexpr char digits[] = "0123456789abcdef";
  cudaDeviceProp properties;
  int device;

  PetscFunctionBegin;
  PetscCall(number_of_device(&device));
  PetscCallCUDA(cudaGetDeviceProperties(&properties, device));
  name->clear();
  for (const char byte : properties.uuid.bytes) {
    const auto number = static_cast<unsigned char>(byte);
    *name += {digits[number / 16], digits[number % 16]};
  }
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
