// The CUDA runtime, and the checks of what it and its libraries return. They are our own, as PETSc has some only where it has CUDA.
#pragma once
#include "base/compat.hpp"

#include <cuda_runtime.h>

#define AMGKIT_CALL_CUDA(...)                                                                                                              \
  do {                                                                                                                                     \
    const cudaError_t amgkit_status = __VA_ARGS__;                                                                                         \
    PetscCheck(amgkit_status == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA error %d (%s): %s", static_cast<int>(amgkit_status),    \
               cudaGetErrorName(amgkit_status), cudaGetErrorString(amgkit_status));                                                        \
  } while (0)
#define AMGKIT_CALL_CUSPARSE(...)                                                                                                          \
  do {                                                                                                                                     \
    const cusparseStatus_t amgkit_status = __VA_ARGS__;                                                                                    \
    PetscCheck(amgkit_status == CUSPARSE_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuSPARSE error %d",                              \
               static_cast<int>(amgkit_status));                                                                                           \
  } while (0)
#define AMGKIT_CALL_CUSOLVER(...)                                                                                                          \
  do {                                                                                                                                     \
    const cusolverStatus_t amgkit_status = __VA_ARGS__;                                                                                    \
    PetscCheck(amgkit_status == CUSOLVER_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuSOLVER error %d",                              \
               static_cast<int>(amgkit_status));                                                                                           \
  } while (0)
