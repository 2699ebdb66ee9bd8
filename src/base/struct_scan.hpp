// Scans of several numbers at once. Not among the rest of the parallel vocabulary: CUB's code takes nvcc long, and few files need it.
#pragma once
#include "base/parallel.hpp"

#if defined(__CUDACC__)
  #include <cub/device/device_scan.cuh>
#endif

namespace amgkit
{
// x[i] <- first + x[0] + ... + x[i-1] for 0 <= i <= n, by T's operator+; x has room for n + 1. The sums must fit. Waits.
#if defined(__CUDACC__)
template <class T> PetscErrorCode exclusive_scan_of_structs(Cuda &ex, std::int64_t n, T *x, T *total, T first = {})
{
  PetscFunctionBegin;
  PetscCall(memory_zero(ex, x + n, sizeof(T)));
  PetscCall(detail::with_scratch(ex, [&](void *scratch, std::size_t &bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, x, x, Sum{}, first, n + 1, ex.stream);
  }));
  PetscCall(memory_to_host(ex, total, x + n, sizeof(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
template <class T, class Ex> PetscErrorCode exclusive_scan_of_structs(Ex &, std::int64_t n, T *x, T *total, T first = {})
{
  *total = first;
  for (std::int64_t i = 0; i < n; i++) {
    const T here = x[i];
    x[i] = *total;
    *total = *total + here;
  }
  x[n] = *total;
  return PETSC_SUCCESS;
}
#endif
} // namespace amgkit
