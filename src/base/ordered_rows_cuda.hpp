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

template <int Lanes> inline constexpr int lanes_of<CudaTeam<Lanes>> = Lanes;
template <int Lanes> __device__ int lane_of(const CudaTeam<Lanes> &team) { return team.rank(); }

// A lane's share of the next chunks * Lanes terms from `first` on. What takes long to read is read before the cells are waited for, and
// none of it twice.
template <class Team> struct Ahead {
  static constexpr int chunks = lanes_of<Team> >= 16 ? 3 : 4;
  int first;
  const double *cell[chunks];
  double factor[chunks], x[chunks]; // 0 and 0 beyond the end
};
template <> struct Ahead<CudaTeam<1>> {};

template <int Lanes, class Cell, class Factor>
__device__ Ahead<CudaTeam<Lanes>> look_ahead(const CudaTeam<Lanes> &team, int begin, int end, Cell cell_of, Factor factor_of)
{
  using Terms = Ahead<CudaTeam<Lanes>>;
  Terms ahead;
  if constexpr (Lanes > 1) {
    ahead.first = begin;
#pragma unroll
    for (int c = 0; c < Terms::chunks; c++) {
      const int k = begin + c * Lanes + team.rank();
      ahead.cell[c] = k < end ? cell_of(k) : nullptr;
      ahead.factor[c] = k < end ? factor_of(k) : 0;
      ahead.x[c] = k < end ? pending_cell() : 0;
    }
  }
  return ahead;
}

namespace detail
{
// One lane asks for several cells at once: they tend to get there together, and each asking takes as long as all of them. Whatever else it
// reads is read before: no other read is between a cell's and the sum.
template <int Together, class Cell, class Factor>
__device__ int subtract_alone(int begin, int end, double &s, Cell cell_of, Factor factor_of)
{
  for (int k = begin; k < end; k += Together) {
    const double *cell[Together];
    double factor[Together], x[Together];
#pragma unroll
    for (int t = 0; t < Together; t++) {
      cell[t] = cell_of(min(k + t, end - 1));
      factor[t] = factor_of(min(k + t, end - 1));
    }
#pragma unroll
    for (int t = 0; t < Together; t++) x[t] = peek_cell(cell[t]);
#pragma unroll
    for (int t = 0; t < Together; t++) {
      if (k + t >= end) return end;
      if (is_pending(x[t])) return k + t;
      s -= factor[t] * x[t];
    }
  }
  return end;
}

// s <- s - the products of the lanes begin <= lane < end, in this order. s - 0 is s, also for s = -0: the others subtract 0.
template <int Lanes> __device__ void subtract_lanes(const CudaTeam<Lanes> &team, double product, int begin, int end, double &s)
{
  constexpr int together = Lanes < 8 ? Lanes : 8;
  if (begin >= end) return;
  const double mine = team.rank() >= begin && team.rank() < end ? product : 0;
  for (int lane = begin / together * together; lane < end; lane += together) {
#pragma unroll
    for (int t = 0; t < together; t++) s -= team.tile.shfl(mine, lane + t);
  }
}
} // namespace detail

template <int Together, int Lanes, class Cell, class Factor>
__device__ int subtract_while_ready(const CudaTeam<Lanes> &team, Ahead<CudaTeam<Lanes>> &ahead, int begin, int end, double &s, Cell cell_of,
                                    Factor factor_of)
{
  if constexpr (Lanes == 1) {
    return detail::subtract_alone<Together>(begin, end, s, cell_of, factor_of);
  } else {
    constexpr int chunks = Ahead<CudaTeam<Lanes>>::chunks;
    for (int k = begin;;) {
#pragma unroll
      for (int c = 0; c < chunks; c++) {
        if (is_pending(ahead.x[c])) ahead.x[c] = peek_cell(ahead.cell[c]);
      }
      unsigned missing[chunks];
#pragma unroll
      for (int c = 0; c < chunks; c++) missing[c] = team.tile.ballot(is_pending(ahead.x[c]));
#pragma unroll
      for (int c = 0; c < chunks; c++) {
        const int first = ahead.first + c * Lanes;
        if (k >= end || k >= first + Lanes) continue;
        const int ready = missing[c] ? __ffs(static_cast<int>(missing[c])) - 1 : min(Lanes, end - first);
        detail::subtract_lanes(team, ahead.factor[c] * ahead.x[c], k - first, ready, s);
        k = first + ready;
        if (missing[c]) return k;
      }
      if (k >= end) return end;
      ahead = look_ahead(team, k, end, cell_of, factor_of);
    }
  }
}

namespace detail
{
inline constexpr int ordered_threads = 128; // of a block: small ones, for few rows to spread over all multiprocessors

// A warp draws a ticket for its next indices: all before them are done or under way on warps that run, and so get done. A warp's teams ask
// in turns, never one until it has an answer: one of them may wait for another. The last block puts the tickets back.
template <int Lanes, class S, class Work> __global__ void in_order_kernel(std::int64_t n, Work work, unsigned *tickets)
{
  constexpr unsigned all = 0xffffffffU, teams = 32 / Lanes;
  __shared__ S scratch[ordered_threads / Lanes];
  S &mine = scratch[threadIdx.x / Lanes];
  const CudaTeam<Lanes> team{cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block())};
  const unsigned lane = threadIdx.x % 32;
  using Known = decltype(work.begin(team, 0, mine));
  for (;;) {
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(tickets, teams);
    first = __shfl_sync(all, first, 0);
    if (first >= n) break;
    const std::int64_t i = std::int64_t{first} + lane / Lanes;
    bool done = i >= n;
    Known known{};
    if (!done) known = work.begin(team, i, mine);
    while (__any_sync(all, !done)) {
      if (!done) done = work.advance(team, known, mine);
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

template <int Lanes, class S, class Work> PetscErrorCode for_rows_in_order_with(Cuda &ex, std::int64_t n, RowOrder order, Work work)
{
  constexpr std::int64_t room = std::int64_t{1} << 18, least = std::int64_t{1} << 12; // threads
  const std::int64_t wanted = order.at_once > 0 ? std::clamp(order.at_once * Lanes, least, room) : room;

  PetscFunctionBegin;
  if (n > 0) {
    detail::in_order_kernel<Lanes, S>
        <<<detail::blocks(std::min(wanted, n * Lanes), detail::ordered_threads), detail::ordered_threads, 0, ex.stream>>>(n, work,
                                                                                                                          order.tickets);
    AMGKIT_CALL_CUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
