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
} // namespace amgkit
