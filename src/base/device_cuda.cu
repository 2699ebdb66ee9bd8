#include "base/device.hpp"

#include <cuda_runtime.h>
#include <petscdevice_cuda.h>

namespace amgkit
{
PetscErrorCode name_of_device(std::string *name)
{
  constexpr char digits[] = "0123456789abcdef";
  cudaDeviceProp properties;
  int device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
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
