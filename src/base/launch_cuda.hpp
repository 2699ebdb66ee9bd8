// How kernels are launched.
#pragma once
#include "base/cuda.hpp"
#include "base/space.hpp"

namespace amgkit::detail
{
// First in every kernel that launch() launches: the next one may be launched from here on, and this one waits for the end of those before
// it, whose results it then sees (programmatic dependent launch).
__device__ inline void wait_for_kernels_before()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

template <class... Parameters, class... Arguments>
PetscErrorCode launch(Cuda &ex, unsigned blocks, int threads_of_block, void (*kernel)(Parameters...), Arguments... arguments)
{
  constexpr unsigned few = 4096; // for which launching takes a part of the time that is worth it
  cudaLaunchAttribute overlap{};
  cudaLaunchConfig_t config{};

  PetscFunctionBegin;
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads_of_block));
  config.stream = ex.stream;
  config.attrs = &overlap;
  config.numAttrs = ex.kernels_overlap && blocks <= few ? 1 : 0;
  AMGKIT_CALL_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::detail
