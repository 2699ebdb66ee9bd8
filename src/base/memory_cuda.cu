// The device's memory: a stream-ordered pool for what stays on one GPU, cudaMalloc for what MPI sees.
#include "base/memory.hpp"

#include <cuda_runtime.h>
#include <petscdevice_cuda.h>

namespace amgkit
{
PetscErrorCode open(Cuda &ex)
{
  cudaMemPoolProps properties{};
  std::uint64_t keep = UINT64_MAX; // hold on to freed memory until trim()
  int device;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&ex.stream));
  PetscCallCUDA(cudaGetDevice(&device));
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  PetscCallCUDA(cudaMemPoolCreate(&ex.pool, &properties));
  PetscCallCUDA(cudaMemPoolSetAttribute(ex.pool, cudaMemPoolAttrReleaseThreshold, &keep));
  PetscCallCUDA(cudaMallocHost(&ex.host_scalars, Cuda::host_scalars_bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode close(Cuda &ex)
{
  PetscFunctionBegin;
  if (ex.host_scalars) PetscCallCUDA(cudaFreeHost(ex.host_scalars));
  if (ex.pool) {
    PetscCallCUDA(cudaStreamSynchronize(ex.stream));
    PetscCallCUDA(cudaMemPoolDestroy(ex.pool));
  }
  ex = Cuda{};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode synchronize(Cuda &ex)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trim(Cuda &ex)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(ex.stream));
  PetscCallCUDA(cudaMemPoolTrimTo(ex.pool, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_allocate(Cuda &ex, Memory kind, std::size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const cudaError_t status = kind == Memory::communicated ? cudaMalloc(p, bytes) : cudaMallocFromPoolAsync(p, bytes, ex.pool, ex.stream);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); // the caller handles it; later launches must not report it again
    *p = nullptr;
    PetscFunctionReturn(PETSC_ERR_MEM);
  }
  PetscCallCUDA(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_free(Cuda &ex, Memory kind, void *p)
{
  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind == Memory::communicated)
    PetscCallCUDA(cudaFree(p));
  else
    PetscCallCUDA(cudaFreeAsync(p, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_copy(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_zero(Cuda &ex, void *p, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) PetscCallCUDA(cudaMemsetAsync(p, 0, bytes, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_to_host(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, ex.stream));
  PetscCallCUDA(cudaStreamSynchronize(ex.stream));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_from_host(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ex.stream));
  PetscCallCUDA(cudaStreamSynchronize(ex.stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
