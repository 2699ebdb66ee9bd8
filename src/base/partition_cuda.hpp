// partition() and compact() of parallel.hpp on CUDA. Included by parallel_cuda.hpp.
//
// A block of threads takes consecutive indices. A first kernel counts what each block has in each part. In a second, each block adds these
// counts to learn where its indices go, and writes them. Up to 4096 indices need one block, which counts and writes in one launch.
#pragma once
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace amgkit
{
namespace detail
{
inline constexpr int partition_threads = 1024;
inline constexpr int partition_items = 4; // of a thread, in a tile
inline constexpr std::int64_t partition_tile = std::int64_t{partition_threads} * partition_items;
inline constexpr std::int64_t partition_blocks = 256; // at most
inline constexpr int partition_warps = partition_threads / 32;
static_assert(partition_warps == 32); // so that one warp can add the sums of all warps

// all <- part sizes and sums over begin <= i < end, for all threads of a block
template <class Sizes, class F> __device__ void sizes_of_range(std::int64_t begin, std::int64_t end, const F &f, Sizes &all)
{
  __shared__ std::int64_t of_warp[Sizes::count][partition_warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Sizes mine{};
#pragma unroll 4
  for (std::int64_t i = begin + threadIdx.x; i < end; i += partition_threads) mine.add(f(i));
#pragma unroll
  for (int k = 0; k < Sizes::count; k++) {
    const std::int64_t sum = warp_sum(mine.at(k));
    if (lane == 0) of_warp[k][warp] = sum;
  }
  __syncthreads();
  if (warp < Sizes::count) {
    const std::int64_t sum = warp_sum(of_warp[warp][lane]);
    if (lane == 0) all.at(static_cast<int>(warp)) = sum;
  }
  __syncthreads();
}

// all, earlier <- the sums of the sizes of all blocks, and of those before this one, for all threads of a block
template <class Sizes> __device__ void sizes_of_blocks(Sizes *of_block, Sizes &all, Sizes &earlier)
{
  const int k = static_cast<int>(threadIdx.x / 32);
  const unsigned lane = threadIdx.x % 32;
  std::int64_t sum = 0, before = 0;
  for (unsigned b = lane; k < Sizes::count && b < gridDim.x; b += 32) {
    const std::int64_t here = of_block[b].at(k);
    sum += here;
    before += b < blockIdx.x ? here : 0;
  }
  sum = warp_sum(sum);
  before = warp_sum(before);
  if (k < Sizes::count && lane == 0) {
    all.at(k) = sum;
    earlier.at(k) = before;
  }
  __syncthreads();
}

// The range of indices of a block
struct PartitionRange {
  std::int64_t begin, end;
  __device__ PartitionRange(std::int64_t n, std::int64_t length) : begin(blockIdx.x * length), end(min(n, begin + length)) {}
};

template <class Sizes, class F>
__global__ __launch_bounds__(partition_threads) void count_parts_kernel(std::int64_t n, std::int64_t length, F f, Sizes *of_block)
{
  __shared__ Sizes all;
  wait_for_kernels_before();
  const PartitionRange range(n, length);
  sizes_of_range(range.begin, range.end, f, all);
  if (threadIdx.x == 0) of_block[blockIdx.x] = all;
}

// before[p][k][w]. In: how many of warp w's k-th items are in part p. Out: how many items of part p come earlier in the tile. at[p] <-
// next[p], which then grows by the tile's items of part p. One warp a part.
template <int Parts, int Items, int Warps>
__device__ void scan_tile(int (&before)[Parts][Items][Warps], std::int64_t (&at)[Parts], std::int64_t (&next)[Parts])
{
  const unsigned part = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (part >= Parts) return;
  int sum = 0;
  for (int k = 0; k < Items; k++) {
    const int here = before[part][k][lane];
    int up_to = here;
    for (unsigned step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffffU, up_to, step);
      up_to += lane < step ? 0 : other;
    }
    before[part][k][lane] = sum + up_to - here;
    sum += __shfl_sync(0xffffffffU, up_to, 31);
  }
  if (lane > 0) return;
  at[part] = next[part];
  next[part] += sum;
}

// of_block: the sizes of all blocks, or nullptr for a block alone. sizes: on the host.
template <int Parts, class Sizes, class F>
__global__ __launch_bounds__(partition_threads) void write_parts_kernel(std::int64_t n, std::int64_t length, F f, Sizes *of_block, int *out,
                                                                        Sizes *sizes)
{
  static_assert(Sizes::count <= partition_warps);
  __shared__ int before[Parts][partition_items][partition_warps];
  __shared__ std::int64_t at[Parts], next[Parts]; // where the tile's parts are written, and those of the next tile
  __shared__ Sizes all, earlier;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  wait_for_kernels_before();
  const PartitionRange range(n, length);
  if (of_block)
    sizes_of_blocks(of_block, all, earlier);
  else
    sizes_of_range(0, n, f, all);
  if (threadIdx.x == 0) {
    std::int64_t begin = 0;
    for (int p = 0; p < Parts; begin += all.of[p++]) next[p] = begin + (of_block ? earlier.of[p] : 0);
    if (blockIdx.x == 0) *sizes = all;
  }
  for (std::int64_t tile = range.begin; tile < range.end; tile += partition_tile) {
    int part[partition_items], place[partition_items] = {};
#pragma unroll
    for (int k = 0; k < partition_items; k++) {
      const std::int64_t i = tile + k * partition_threads + threadIdx.x;
      part[k] = i < range.end ? f(i).part : Parts;
    }
#pragma unroll
    for (int k = 0; k < partition_items; k++) {
      for (int p = 0; p < Parts; p++) {
        const unsigned same = __ballot_sync(0xffffffffU, part[k] == p);
        if (part[k] == p) place[k] = __popc(same & ((1U << lane) - 1));
        if (lane == 0) before[p][k][warp] = __popc(same);
      }
    }
    __syncthreads();
    scan_tile(before, at, next);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < partition_items; k++) {
      const int p = part[k];
      if (p < Parts) out[at[p] + before[p][k][warp] + place[k]] = static_cast<int>(tile + k * partition_threads + threadIdx.x);
    }
    __syncthreads();
  }
}

// Waits.
template <int Parts, class Sizes, class F> PetscErrorCode write_parts(Cuda &ex, std::int64_t n, F f, int *out, Sizes *sizes)
{
  const std::int64_t tiles = (n + partition_tile - 1) / partition_tile, length = (tiles - 1) / partition_blocks + 1; // tiles of a block
  const std::int64_t indices = length * partition_tile;
  const unsigned blocks_needed = blocks(n, static_cast<int>(indices));
  void *scratch = nullptr;

  PetscFunctionBegin;
  if (blocks_needed > 1) PetscCall(scratch_memory(ex, blocks_needed * sizeof(Sizes), &scratch));
  auto *of_block = static_cast<Sizes *>(scratch);
  if (of_block) PetscCall(launch(ex, blocks_needed, partition_threads, count_parts_kernel<Sizes, F>, n, indices, f, of_block));
  PetscCall(launch(ex, blocks_needed, partition_threads, write_parts_kernel<Parts, Sizes, F>, n, indices, f, of_block, out,
                   scalar_on_host<Sizes>(ex)));
  PetscCall(read_scalar(ex, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace detail

template <int Parts, int Numbers, class F>
PetscErrorCode partition(Cuda &ex, std::int64_t n, F f, int *out, PartSizes<Parts, Numbers> *sizes)
{
  PetscFunctionBegin;
  *sizes = {};
  if (n > 0) PetscCall(detail::write_parts<Parts>(ex, n, f, out, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Up to 4096 indices are selected by a partition with one part: one launch in place of DeviceSelect's two.
template <class F> PetscErrorCode compact(Cuda &ex, std::int64_t n, F f, int *out, std::int64_t *count)
{
  PetscFunctionBegin;
  *count = 0;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (n <= detail::partition_tile) {
    PartSizes<1, 1> size;
    PetscCall(detail::write_parts<1>(
        ex, n,
        [=] AMGKIT_FN(std::int64_t i) {
          return Member<1>{f(i) ? 0 : 1, {0}};
        },
        out, &size));
    *count = size.of[0];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  auto *selected = detail::scalar_on_host<std::int64_t>(ex);
  PetscCall(detail::with_scratch(ex, [&](void *scratch, std::size_t &bytes) {
    return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<int>(0), out, selected, n, detail::Returns<bool, F>{f},
                                 ex.stream);
  }));
  PetscCall(detail::read_scalar(ex, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
