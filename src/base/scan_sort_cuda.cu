// Scans and sorts of the parallel vocabulary on CUDA: CUB's.
#include "base/load_ahead_cuda.hpp"
#include "base/parallel.hpp"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <iterator>
#include <thrust/iterator/transform_iterator.h>

namespace amgkit
{
namespace
{
struct TermsOfScan { // n + 1 of them, the last one 0
  const int *x;
  std::int64_t n;
  __device__ std::int64_t operator()(std::int64_t i) const { return i < n ? x[i] : 0; }
};
struct ScanResult {
  std::int64_t total;
  unsigned also;
};
// Where the sums go: x[i], and the last one to the host, too, who sees there whether it is too large for an int. An output iterator, at i,
// of the kind that thrust::tabulate_output_iterator is, which CUDA 12.4 does not have.
struct SumsOfScan {
  using iterator_category = std::random_access_iterator_tag;
  using difference_type = std::int64_t;
  using value_type = void;
  using pointer = void;
  using reference = SumsOfScan;
  int *x;
  std::int64_t n, i;
  ScanResult *result;   // on the host
  const unsigned *also; // for the result
  __host__ __device__ SumsOfScan operator+(std::int64_t k) const { return {x, n, i + k, result, also}; }
  __device__ SumsOfScan operator[](std::int64_t k) const { return *this + k; }
  __device__ void operator=(std::int64_t sum) const
  {
    x[i] = static_cast<int>(sum);
    if (i == n && result) *result = {sum, also ? *also : 0};
  }
};

// What a block scans by itself, in one launch in place of DeviceScan's two. An array of a coarse level or of ghosts often is no longer.
constexpr int scan_threads = 1024, scan_items = 8;
__global__ __launch_bounds__(scan_threads) void scan_by_a_block(TermsOfScan terms, SumsOfScan sums)
{
  using Scan = cub::BlockScan<std::int64_t, scan_threads>;
  __shared__ typename Scan::TempStorage storage;
  std::int64_t sum[scan_items];

  detail::wait_for_kernels_before();
  const std::int64_t first = std::int64_t{threadIdx.x} * scan_items;
  for (int k = 0; k < scan_items; k++) sum[k] = terms(first + k);
  Scan(storage).ExclusiveSum(sum, sum);
  for (int k = 0; k < scan_items; k++) {
    if (first + k <= terms.n) sums[first + k] = sum[k];
  }
}
} // namespace

// A tile of x is read before it is written, so that both may be the same array.
PetscErrorCode exclusive_scan(Cuda &ex, std::int64_t n, int *x, std::int64_t *total, const unsigned *also, unsigned *value)
{
  const TermsOfScan terms = {x, n};
  const SumsOfScan sums = {x, n, 0, total ? detail::scalar_on_host<ScanResult>(ex) : nullptr, also};
  ScanResult result{};

  PetscFunctionBegin;
  if (n < scan_threads * scan_items)
    PetscCall(detail::launch(ex, 1, scan_threads, scan_by_a_block, terms, sums));
  else
    PetscCall(detail::with_scratch(ex, [&](void *scratch, std::size_t &bytes) {
      auto all = thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), terms);
      return cub::DeviceScan::ExclusiveSum(scratch, bytes, all, sums, n + 1, ex.stream);
    }));
  if (!total) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(detail::read_scalar(ex, &result));
  *total = result.total;
  if (value) *value = result.also;
  PetscCheck(*total <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
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
