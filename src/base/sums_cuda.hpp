// Sums over many indices on CUDA, left in its memory: sum_into() and the like of parallel.hpp. Included by parallel_cuda.hpp.
#pragma once

namespace amgkit
{
namespace detail
{
template <int N> __device__ void add(const Sums<N> &term, Sums<N> &to)
{
#pragma unroll
  for (int k = 0; k < N; k++) to.of[k] += term.of[k];
}

// to[k] = the sum of the block's threads' mine.of[k], written by thread k
template <int N> __device__ void sum_of_block(const Sums<N> &mine, double *to)
{
  constexpr int warps = threads / 32;
  __shared__ double of_warp[warps][N];
  for (int k = 0; k < N; k++) {
    const double s = warp_sum(mine.of[k]);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][k] = s;
  }
  __syncthreads();
  if (threadIdx.x < N) {
    double s = 0;
    for (int w = 0; w < warps; w++) s += of_warp[w][threadIdx.x];
    to[threadIdx.x] = s;
  }
}

// mine: what the thread has summed; a block sums those of its threads, in parts, and the block that arrives last the parts: it sees what
// the others wrote. *arrived is 0 again afterwards; without it the parts are left.
template <int N> __device__ void sum_of_blocks(const Sums<N> &mine, double *parts, double *sums, unsigned *arrived)
{
  __shared__ bool last;
  sum_of_block(mine, gridDim.x == 1 && arrived ? sums : parts + blockIdx.x * std::int64_t{N});
  if (gridDim.x == 1 || !arrived) return;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  Sums<N> all{};
  for (unsigned t = threadIdx.x; t < gridDim.x; t += threads) {
#pragma unroll
    for (int k = 0; k < N; k++) all.of[k] += __ldcg(parts + t * std::int64_t{N} + k);
  }
  sum_of_block(all, sums);
}

// A grid-stride loop, so that all blocks read memory close to one another.
struct Turns {
  std::int64_t first, step; // of the thread
};
__device__ inline Turns turns(int of_thread)
{
  const std::int64_t of_block = std::int64_t{threads} * of_thread;
  return {blockIdx.x * of_block + threadIdx.x, gridDim.x * of_block};
}

template <int N, class F> __global__ void sums_kernel(std::int64_t n, F f, double *parts, double *sums, unsigned *arrived)
{
  wait_for_kernels_before();
  const Turns mine = turns(1);
  Sums<N> s{};
#pragma unroll 4
  for (std::int64_t i = mine.first; i < n; i += mine.step) add(f(i), s);
  sum_of_blocks(s, parts, sums, arrived);
}

// As many blocks of a multiprocessor at once as sum_read_into() counts on, or some would begin when others end.
constexpr int read_blocks = 4;
template <int N, class Given, class Read, class Use>
__global__ void __launch_bounds__(threads, read_blocks)
    sums_read_kernel(std::int64_t n, Given given, Read read, Use use, double *parts, double *sums, unsigned *arrived)
{
  wait_for_kernels_before();
  const auto value = given();
  const Turns mine = turns(reads_together);
  Sums<N> s{};
  decltype(read(n)) at[reads_together];
  for (std::int64_t i = mine.first; i < n; i += mine.step) {
#pragma unroll
    for (int t = 0; t < reads_together; t++) {
      if (i + t * threads < n) at[t] = read(i + t * threads);
    }
#pragma unroll
    for (int t = 0; t < reads_together; t++) {
      if (i + t * threads < n) add(use(i + t * threads, value, at[t]), s);
    }
  }
  sum_of_blocks(s, parts, sums, arrived);
}

// n: of all lanes of all teams; Team: CudaLanes, or Alone
template <int N, int Registers, class Team, class F>
__global__ void __launch_bounds__(threads, 65536 / threads / Registers)
    sums_of_rows_kernel(std::int64_t n, int lanes, F f, double *parts, double *sums, unsigned *arrived)
{
  wait_for_kernels_before();
  const Turns mine = turns(1);
  Sums<N> s{};
#pragma unroll 1
  for (std::int64_t i = mine.first; i < n; i += mine.step) {
    if constexpr (std::is_same_v<Team, Alone>)
      add(f(Alone{}, i), s);
    else
      add(f(CudaLanes{lanes}, i / lanes), s);
  }
  sum_of_blocks(s, parts, sums, arrived);
}

// At most as many as a large GPU runs at once: of_multiprocessor blocks on each of 128; their parts fit where sum_parts_of(n) do.
inline unsigned sum_blocks(std::int64_t n, int of_thread, int of_multiprocessor)
{
  return n > 0 ? std::min(blocks(n, threads * of_thread), 128U * static_cast<unsigned>(of_multiprocessor)) : 1;
}

// What is left to do where blocks cannot arrive.
template <int N> PetscErrorCode add_parts(Cuda &ex, unsigned blocks, const double *parts, double *sums)
{
  if (ex.arrived) return PETSC_SUCCESS;
  return for_each(ex, N, [=] AMGKIT_FN(std::int64_t k) {
    double s = 0;
    for (unsigned t = 0; t < blocks; t++) s += parts[t * N + k];
    sums[k] = s;
  });
}
} // namespace detail

template <int N, class F> PetscErrorCode sum_into(Cuda &ex, std::int64_t n, F f, double *work, double *sums)
{
  const unsigned blocks = detail::sum_blocks(n, 2, 5);

  PetscFunctionBegin;
  PetscCall(detail::launch(ex, blocks, detail::threads, detail::sums_kernel<N, F>, n, f, work, sums, ex.arrived));
  PetscCall(detail::add_parts<N>(ex, blocks, work, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int N, class Given, class Read, class Use>
PetscErrorCode sum_read_into(Cuda &ex, std::int64_t n, Given given, Read read, Use use, double *work, double *sums)
{
  const unsigned blocks = detail::sum_blocks(n, detail::reads_together, detail::read_blocks);

  PetscFunctionBegin;
  PetscCall(detail::launch(ex, blocks, detail::threads, detail::sums_read_kernel<N, Given, Read, Use>, n, given, read, use, work, sums,
                           ex.arrived));
  PetscCall(detail::add_parts<N>(ex, blocks, work, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int N, int Registers, class F> PetscErrorCode sum_rows_into(Cuda &ex, std::int64_t n, int lanes, F f, double *work, double *sums)
{
  constexpr int of_lanes = std::max(Registers, 80); // few threads may have many
  const unsigned blocks = detail::sum_blocks(n * lanes, 1, 65536 / detail::threads / (lanes > 1 ? of_lanes : Registers));
  const auto kernel =
      lanes > 1 ? detail::sums_of_rows_kernel<N, of_lanes, CudaLanes, F> : detail::sums_of_rows_kernel<N, Registers, Alone, F>;

  PetscFunctionBegin;
  PetscCall(detail::launch(ex, blocks, detail::threads, kernel, n * lanes, lanes, f, work, sums, ex.arrived));
  PetscCall(detail::add_parts<N>(ex, blocks, work, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int N, class F> PetscErrorCode sum_many_into(Cuda &ex, std::int64_t n, F f, double *work, double *sums)
{
  return sum_into<N>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return f(i, Rows<1>{}); }, work, sums);
}
} // namespace amgkit
