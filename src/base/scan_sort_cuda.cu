// Scans and sorts of the parallel vocabulary on CUDA: CUB's.
#include "base/parallel.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

namespace amgkit
{
PetscErrorCode exclusive_scan(Cuda &ex, std::int64_t n, int *x, std::int64_t *total)
{
  PetscFunctionBegin;
  PetscCall(reduce<std::int64_t>(
      ex, n, [=] __device__(std::int64_t i) { return static_cast<std::int64_t>(x[i]); }, 0, Sum{}, total));
  PetscCheck(*total <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  PetscCall(memory_zero(ex, x + n, sizeof(int)));
  PetscCall(detail::with_scratch(
      ex, [&](void *scratch, std::size_t &bytes) { return cub::DeviceScan::ExclusiveSum(scratch, bytes, x, x, n + 1, ex.stream); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// CUB goes to and fro between the caller's arrays and these, or it would take as many again.
template <class Key, class T> PetscErrorCode stable_sort_pairs(Cuda &ex, std::int64_t n, Key *key, T *value, int bits)
{
  Array<Key, Cuda> key_out;
  Array<T, Cuda> value_out;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(key_out.allocate(ex, n));
  PetscCall(value_out.allocate(ex, n));
  cub::DoubleBuffer<Key> keys(key, key_out.data());
  cub::DoubleBuffer<T> values(value, value_out.data());
  PetscCall(detail::with_scratch(ex, [&](void *scratch, std::size_t &bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, values, n, 0, bits, ex.stream);
  }));
  if (keys.Current() != key) PetscCall(memory_copy(ex, key, keys.Current(), key_out.bytes()));
  if (values.Current() != value) PetscCall(memory_copy(ex, value, values.Current(), value_out.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template PetscErrorCode stable_sort_pairs(Cuda &, std::int64_t, std::uint32_t *, int *, int);
template PetscErrorCode stable_sort_pairs(Cuda &, std::int64_t, std::uint64_t *, int *, int);
template PetscErrorCode stable_sort_pairs(Cuda &, std::int64_t, std::uint64_t *, double *, int);
} // namespace amgkit
