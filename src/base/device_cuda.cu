#include "base/device.hpp"

#include "base/cuda.hpp"
#include "base/gpu.hpp"
#include "base/outcome.hpp"

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

__global__ void probe_kernel() {}

// Empty where the GPU of this process has code in this build; else its compute capability.
std::string capability_without_code()
{
  int device = 0, major = 0, minor = 0;
  cudaFuncAttributes code;

  cudaError_t status = cudaGetDevice(&device);
  if (!status) status = cudaFuncGetAttributes(&code, probe_kernel);
  static_cast<void>(cudaGetLastError());
  if (status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction) return "";
  static_cast<void>(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  static_cast<void>(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return std::to_string(major) + "." + std::to_string(minor);
}

// Another process may have the device for itself, or all of its memory. This is no error yet: the CPU may do.
std::string why_not_opened()
{
  PetscErrorCode code = PETSC_SUCCESS;
  std::string message;

  if (outcome_of(try_device, &code, &message)) return "the GPU cannot be tried";
  static_cast<void>(cudaGetLastError());
  if (!code) return "";
  if (const std::string capability = capability_without_code(); !capability.empty())
    return "this build has no code for the GPU's compute capability " + capability + ": see CMAKE_CUDA_ARCHITECTURES";
  if (code == PETSC_ERR_MEM) return "the GPU has no memory left";
  return "the GPU cannot be used: " + (message.empty() ? "PETSc error " + std::to_string(code) : message);
}
} // namespace

bool serves_processes_at_once()
{
  constexpr auto service = static_cast<cudaDeviceAttr>(133); // cudaDevAttrMpsEnabled, which old toolkits lack and old drivers refuse
  int device = 0, has = 0;

  cudaError_t status = cudaGetDevice(&device);
  if (!status) status = cudaDeviceGetAttribute(&has, service, device);
  if (status) static_cast<void>(cudaGetLastError());
  return !status && has > 0;
}

std::string why_no_gpu()
{
  int driver = 0, devices = 0;
  const auto version = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };

  cudaError_t status = cudaDriverGetVersion(&driver);
  if (status || driver == 0) return "there is no NVIDIA driver (libcuda.so.1)";
  status = cudaGetDeviceCount(&devices);
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorNoDevice || (!status && devices == 0)) return "there is no NVIDIA GPU";
  if (status == cudaErrorInsufficientDriver)
    return "the NVIDIA driver is for CUDA " + version(driver) + " and this build needs one for CUDA " + version(CUDART_VERSION);
  if (status) return std::string("the NVIDIA driver fails: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";

#if defined(PETSC_HAVE_CUDA)
  static std::string failed; // PETSc loses memory each time that it tries again
  if (failed.empty()) failed = why_not_opened();
  return failed;
#else
  return why_not_opened();
#endif
}

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
  if (cudaGetDeviceProperties(&properties, device)) { // why_no_gpu() says what is wrong with it
    static_cast<void>(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
