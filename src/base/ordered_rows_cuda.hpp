// Rows that wait for one another, on CUDA: see ordered_rows.hpp.
#pragma once
#include "base/ordered_rows.hpp"

#include <cuda/atomic>

namespace amgkit
{
__device__ inline double pending_cell() { return __longlong_as_double(static_cast<long long>(pending_bits)); }
__device__ inline bool is_pending(double x) { return static_cast<std::uint64_t>(__double_as_longlong(x)) == pending_bits; }

namespace detail
{
template <class T> __device__ cuda::atomic_ref<T, cuda::thread_scope_device> shared_cell(const T *p)
{
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*const_cast<T *>(p));
}
__device__ inline double not_pending(double x) { return is_pending(x) ? __longlong_as_double(static_cast<long long>(other_nan_bits)) : x; }
__device__ inline int not_pending(int x) { return x; }
} // namespace detail

template <class T> __device__ void set_cell(T *p, T x) { detail::shared_cell(p).store(detail::not_pending(x), cuda::memory_order_relaxed); }
template <class T> __device__ T peek_cell(const T *p) { return detail::shared_cell(p).load(cuda::memory_order_relaxed); }
template <class T> __device__ void set_cell_after(T *p, T x)
{
  detail::shared_cell(p).store(detail::not_pending(x), cuda::memory_order_release);
}
// Waiting without acquiring: each acquisition empties the first-level cache.
template <class T> __device__ T peek_cell_first(const T *p)
{
  const T x = peek_cell(p);
  return is_pending(x) ? x : detail::shared_cell(p).load(cuda::memory_order_acquire);
}

// Several terms are asked for at once: they tend to get there together, and each asking takes as long as all of them.
template <int Lanes, class F> __device__ int add_while_ready(const CudaTeam<Lanes> &team, int begin, int end, double &s, F f)
{
  if constexpr (Lanes == 1) {
    constexpr int together = 4;
    for (int k = begin; k < end; k += together) {
      double x[together];
      bool there[together];
#pragma unroll
      for (int t = 0; t < together; t++) there[t] = k + t < end && f(k + t, x + t);
#pragma unroll
      for (int t = 0; t < together; t++) {
        if (!there[t]) return k + t;
        s += x[t];
      }
    }
  } else {
    for (int k = begin; k < end; k += Lanes) {
      double x = 0;
      const bool there = k + team.rank() < end && f(k + team.rank(), &x);
      const unsigned missing = ~team.tile.ballot(there) & (Lanes < 32 ? (1U << Lanes % 32) - 1 : ~0U);
      const int count = missing ? __ffs(static_cast<int>(missing)) - 1 : Lanes;
      for (int lane = 0; lane < count; lane++) s += team.tile.shfl(x, lane);
      if (missing) return k + count;
    }
  }
  return end;
}

namespace detail
{
inline constexpr int ordered_threads = 128; // of a block: small ones, for few rows to spread over all multiprocessors

// A warp draws a ticket for its next indices: all before them are done or under way on warps that run, and so get done. A warp's teams ask
// in turns, never one until it has an answer: one of them may wait for another. The last block puts the tickets back.
template <int Lanes, class Work> __global__ void in_order_kernel(std::int64_t n, Work work, unsigned *tickets)
{
  constexpr unsigned all = 0xffffffffU, teams = 32 / Lanes;
  const CudaTeam<Lanes> team{cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block())};
  const unsigned lane = threadIdx.x % 32;
  using Known = decltype(work.begin(team, 0));
  for (;;) {
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(tickets, teams);
    first = __shfl_sync(all, first, 0);
    if (first >= n) break;
    const std::int64_t i = std::int64_t{first} + lane / Lanes;
    bool done = i >= n;
    Known known{};
    if (!done) known = work.begin(team, i);
    while (__any_sync(all, !done)) {
      if (!done) done = work.advance(team, known);
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(tickets + 1, gridDim.x - 1) == gridDim.x - 1) {
    __threadfence();
    tickets[0] = 0;
  }
}
} // namespace detail

template <int Lanes, class Work> PetscErrorCode for_rows_in_order(Cuda &ex, std::int64_t n, RowOrder order, Work work)
{
  constexpr std::int64_t room = std::int64_t{1} << 18, least = std::int64_t{1} << 12; // threads
  const std::int64_t wanted = order.at_once > 0 ? std::clamp(order.at_once * Lanes, least, room) : room;

  PetscFunctionBegin;
  if (n > 0) {
    detail::in_order_kernel<Lanes>
        <<<detail::blocks(std::min(wanted, n * Lanes), detail::ordered_threads), detail::ordered_threads, 0, ex.stream>>>(n, work,
                                                                                                                          order.tickets);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
