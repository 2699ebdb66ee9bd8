// The parallel vocabulary on CUDA: see parallel.hpp. Reductions, scans, sorts and long selections are CUB's.
#pragma once
#include "base/atomics_cuda.hpp"
#include "base/launch_cuda.hpp"
#include "base/log.hpp"
#include "base/merge_sort_cuda.hpp"
#include "base/parallel.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace amgkit
{
inline constexpr bool teams_are_threads = false; // whatever their lanes

inline constexpr int most_rows = 1; // see for_many()
template <class Rows> using Pack = double;
template <class Rows> inline constexpr int pack_size = 1;
template <class P> __device__ P load_pack(const double *from) { return *from; }
__device__ inline void store_pack(double pack, double *to) { *to = pack; }
__device__ inline double sum_of_pack(double pack) { return pack; }

template <int Lanes> struct CudaTeam {
  cooperative_groups::thread_block_tile<Lanes, cooperative_groups::thread_block> tile;

  __device__ int rank() const { return static_cast<int>(tile.thread_rank()); }
  __device__ Strided share(int begin, int end) const { return {begin + rank(), end, Lanes}; }
  template <class T> __device__ T sum(T x) const { return cooperative_groups::reduce(tile, x, cooperative_groups::plus<T>{}); }
  template <class T> __device__ T max(T x) const { return cooperative_groups::reduce(tile, x, cooperative_groups::greater<T>{}); }
  __device__ bool any(bool x) const { return tile.any(x); }
  template <class T, class Op> __device__ T combine(T x, Op op) const
  {
    for (int step = Lanes / 2; step > 0; step /= 2) x = op(x, tile.shfl_xor(x, step));
    return x;
  }
  template <class F> __device__ void once(F f) const
  {
    if (rank() == 0) f();
  }
  __device__ void sync() const { tile.sync(); }
  __device__ auto lane() const { return CudaTeam<1>{cooperative_groups::tiled_partition<1>(cooperative_groups::this_thread_block())}; }
  template <class F> __device__ double ordered_sum(int begin, int end, F f, double s = 0) const
  {
    for (int base = begin; base < end; base += Lanes) {
      const int k = base + rank();
      const double mine = k < end ? f(k) : 0;
      for (int lane = 0; lane < min(Lanes, end - base); lane++) s += tile.shfl(mine, lane);
    }
    return s;
  }
  // What the first entries of four rows load is on its way at once, and where the next four rows lie.
  template <class Range, class Load, class Use> __device__ void for_entries(int rows, Range range, Load load, Use use) const
  {
    entries_of_rows<true>(AllLanes{rank()}, rows, range, load, use);
  }
  // Without the latter. With it amgmatching's setup takes 25.8 ms in place of 23.7 at 7-point 200³, as aggregates have about four rows.
  template <class Range, class Load, class Use> __device__ void for_entries_of_few(int rows, Range range, Load load, Use use) const
  {
    entries_of_rows<false>(AllLanes{rank()}, rows, range, load, use);
  }
  template <class Range, class Load, class Use> __device__ void for_entries_by(int lanes, int rows, Range range, Load load, Use use) const
  {
    entries_of_rows<true>(Group{lanes, rank() / lanes * rows_ahead, Lanes / lanes * rows_ahead, rank() & (lanes - 1)}, rows, range, load,
                          use);
  }
  template <class Range, class Load, class Use> __device__ void for_entries_in_order(int rows, Range range, Load load, Use use) const
  {
    for_numbered_entries_in_order(rows, range, unnumbered(load), use);
  }
  template <class Range, class Load, class Use>
  __device__ void for_numbered_entries_in_order(int rows, Range range, Load load, Use use) const
  {
    for_rows_together<true>(AllLanes{rank()}, rows, range, load, [&](int r, const Segment &row, const auto &first, int number) {
      const int begin = row.begin + rank();
      if (begin < row.end) use(begin, first);
      for (int k = begin + Lanes; k < row.end; k += Lanes) use(k, load(r, k, number + k));
      sync();
    });
  }
  template <class Load, class Keep, class Use> __device__ int for_chosen(int begin, int end, Load load, Keep keep, Use use) const
  {
    constexpr int together = 4;
    int before = 0;
    for (int base = begin; base < end; base += together * Lanes) {
      decltype(load(0)) loaded[together];
#pragma unroll
      for (int t = 0; t < together; t++) {
        const int k = base + t * Lanes + rank();
        if (k < end) loaded[t] = load(k);
      }
#pragma unroll
      for (int t = 0; t < together; t++) {
        const int k = base + t * Lanes + rank();
        const bool mine = k < end && keep(loaded[t]);
        const unsigned all = tile.ballot(mine);
        if (mine) use(k, before + __popc(all & ((1U << rank()) - 1)), loaded[t]);
        before += __popc(all);
      }
    }
    return before;
  }
  // The rank of few by comparing each with all: what the lanes read at once is one word. More are merged, which takes registers.
  template <int Most, int Room, class F> __device__ void for_sorted(int n, int *x, F f) const
  {
    if constexpr (Most > 128) {
      if (n > 48 + Most / 8) { // where both take as many instructions
        merge_sort<Most, Room>(tile, n, x);
        for (int t : share(0, n)) f(t, x[t]);
        return;
      }
    }
    for (int u : share(0, n)) {
      const int mine = x[u];
      int smaller = 0;
#pragma unroll 4
      for (int v = 0; v < n; v++) smaller += x[v] < mine;
      f(smaller, mine);
    }
  }
  // The lanes with the same key form a group, whose first lane counts them. key[r] <- that and, above, how many r before have the same key.
  template <class F> __device__ void for_sorted_by(int n, int keys, int *key, std::uint16_t *count, F f) const
  {
    const unsigned lower = (1U << rank()) - 1;
    for (int k : share(0, keys)) count[k] = 0;
    sync();
    for (int base = 0; base < n; base += Lanes) {
      const int r = base + rank(), mine = r < n ? key[r] : -1;
      const unsigned group = tile.match_any(mine);
      const int before = mine < 0 ? 0 : count[mine];
      sync();
      if (mine >= 0) key[r] = mine | (before + __popc(group & lower)) << 16;
      if (mine >= 0 && (group & lower) == 0) count[mine] = static_cast<std::uint16_t>(before + __popc(group));
      sync();
    }
    int smaller = 0;
    for (int base = 0; base < keys; base += Lanes) {
      const int k = base + rank(), here = k < keys ? count[k] : 0;
      int sum = here;
      for (int step = 1; step < Lanes; step *= 2) {
        const int other = tile.shfl_up(sum, step);
        sum += rank() < step ? 0 : other;
      }
      if (k < keys) count[k] = static_cast<std::uint16_t>(smaller + sum - here);
      smaller += tile.shfl(sum, Lanes - 1);
    }
    sync();
    for (int r : share(0, n)) f(count[key[r] & UINT16_MAX] + (key[r] >> 16), r, key[r] & UINT16_MAX);
  }
  // Few lanes: every lane sees all terms, and adds in registers those of its positions. A warp: the lanes of a position form a group, whose
  // first lane adds for all. Each measured faster where it is used.
  template <class Range, class F> __device__ void sum_in_order(int rows, Range range, F term, int positions, double *sums) const
  {
    if constexpr (Lanes < 32) {
      if (positions <= 2 * Lanes)
        sum_in_registers<2>(rows, range, term, positions, sums);
      else
        sum_in_registers<4>(rows, range, term, positions, sums);
    } else {
      for (int t : share(0, positions)) sums[t] = 0;
      sync();
      for_terms(rows, range, term, [&](const Term &mine, int) { add_groups(mine, sums); });
    }
  }

private:
  static constexpr int rows_ahead = 4;
  template <class Load> static __device__ auto unnumbered(Load load)
  {
    return [=](int r, int k, int) { return load(r, k); };
  }
  // The lanes that read a row: all of the team, or those of a group. A group takes four rows at a time; `first` are its first ones.
  struct AllLanes {
    static constexpr int lanes = Lanes, first = 0, step = rows_ahead;
    int lane;
  };
  struct Group {
    int lanes, first, step, lane;
  };
  template <bool Ahead, class Readers, class Range, class Load, class Use>
  __device__ void entries_of_rows(const Readers &readers, int rows, Range range, Load load, Use use) const
  {
    for_rows_together<Ahead>(readers, rows, range, unnumbered(load), [&](int r, const Segment &row, const auto &first, int) {
      const int begin = row.begin + readers.lane;
      if (begin < row.end) use(begin, first);
      for (int k = begin + readers.lanes; k < row.end; k += readers.lanes) use(k, load(r, k));
    });
  }
  // f(r, range(r), what the lane loads of the first entries, number), for all lanes and those 0 <= r < rows that they read, in this order;
  // and for up to three more r, with no entries. Ahead: before f, the ranges of the next four rows are read. Of AllLanes, entry k of row r
  // is the (number + k)-th of all.
  template <bool Ahead, class Readers, class Range, class Load, class F>
  __device__ void for_rows_together(const Readers &readers, int rows, Range range, Load load, F f) const
  {
    using Loaded = decltype(load(0, 0, 0));
    int before = 0;
    Segment next[rows_ahead];
    const auto read_ranges = [&](int r) {
#pragma unroll
      for (int t = 0; t < rows_ahead; t++) next[t] = r + t < rows ? range(r + t) : Segment{0, 0};
    };
    if constexpr (Ahead) read_ranges(readers.first);
    for (int r = readers.first; r < rows; r += readers.step) {
      Segment row[rows_ahead];
      Loaded first[rows_ahead];
      int number[rows_ahead];
      if constexpr (!Ahead) read_ranges(r);
#pragma unroll
      for (int t = 0; t < rows_ahead; t++) {
        row[t] = next[t];
        number[t] = before - row[t].begin;
        before += row[t].end - row[t].begin;
      }
#pragma unroll
      for (int t = 0; t < rows_ahead; t++) {
        const int k = row[t].begin + readers.lane;
        first[t] = k < row[t].end ? load(r + t, k, number[t] + k) : Loaded{};
      }
      if constexpr (Ahead) read_ranges(r + readers.step);
#pragma unroll
      for (int t = 0; t < rows_ahead; t++) f(r + t, row[t], first[t], number[t]);
    }
  }
  // add(the lane's term, how many lanes have one) for all lanes and terms, Lanes at a time, in their order. Its callers have few rows.
  template <class Range, class F, class Add> __device__ void for_terms(int rows, Range range, F term, Add add) const
  {
    for_rows_together<false>(AllLanes{rank()}, rows, range, unnumbered(term), [&](int r, const Segment &row, const Term &first, int) {
      for (int base = row.begin; base < row.end; base += Lanes) {
        const int k = base + rank(), count = min(Lanes, row.end - base);
        Term mine{-1, 0};
        if (rank() < count) mine = base == row.begin ? first : term(r, k);
        add(mine, count);
      }
    });
  }
  // Of Kept * Lanes positions at a time.
  template <int Kept, class Range, class F>
  __device__ void sum_in_registers(int rows, Range range, F term, int positions, double *sums) const
  {
    for (int window = 0; window < positions; window += Kept * Lanes) {
      double s[Kept] = {};
      for_terms(rows, range, term, [&](const Term &mine, int count) {
        for (int lane = 0; lane < count; lane++) {
          const int position = tile.shfl(mine.position, lane) - window;
          const double value = tile.shfl(mine.value, lane);
#pragma unroll
          for (int c = 0; c < Kept; c++) s[c] += position == rank() + c * Lanes ? value : 0;
        }
      });
      for (int c = 0; c < Kept; c++) {
        const int position = window + rank() + c * Lanes;
        if (position < positions) sums[position] = s[c];
      }
    }
  }
  __device__ void add_groups(const Term &mine, double *sums) const
  {
    unsigned group = tile.match_any(mine.position);
    if (mine.position < 0 || __ffs(static_cast<int>(group)) - 1 != rank()) group = 0;
    double s = group ? sums[mine.position] : 0;
    for (unsigned left = group; tile.any(left != 0); left &= left - 1) {
      const double value = tile.shfl(mine.value, left ? __ffs(static_cast<int>(left)) - 1 : 0);
      s += left ? value : 0;
    }
    if (group) sums[mine.position] = s;
    sync();
  }
};

// Lanes that follow one another in a warp.
struct CudaLanes {
  int of_team;

  __device__ int rank() const { return static_cast<int>(threadIdx.x) & (of_team - 1); }
  __device__ int lanes() const { return of_team; }
  template <class T> __device__ T sum(T x) const
  {
    const unsigned first = (threadIdx.x & 31U) & ~static_cast<unsigned>(of_team - 1), team = (0xffffffffU >> (32 - of_team)) << first;
    for (int step = of_team / 2; step > 0; step /= 2) x += __shfl_xor_sync(team, x, step);
    return x;
  }
};

namespace detail
{
inline constexpr int threads = 256;

template <class F> __global__ void each_kernel(std::int64_t n, F f)
{
  wait_for_kernels_before();
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) f(i);
}

constexpr int reads_together = 4; // of a thread

template <class Given, class Read, class Use> __global__ void each_read_kernel(std::int64_t n, Given given, Read read, Use use)
{
  wait_for_kernels_before();
  const std::int64_t first = blockIdx.x * std::int64_t{threads * reads_together} + threadIdx.x;
  decltype(read(first)) at[reads_together];
#pragma unroll
  for (int t = 0; t < reads_together; t++) {
    if (first + t * threads < n) at[t] = read(first + t * threads);
  }
  const auto value = given();
#pragma unroll
  for (int t = 0; t < reads_together; t++) {
    if (first + t * threads < n) use(first + t * threads, value, at[t]);
  }
}

// The compiler takes the number of blocks that must fit a multiprocessor, of 65536 registers, for the number that should.
template <int Registers, class F>
__global__ void __launch_bounds__(threads, 65536 / threads / Registers) registers_kernel(std::int64_t n, F f)
{
  wait_for_kernels_before();
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) f(i);
}

template <class F> __global__ void rows_of_kernel(std::int64_t n, int lanes, F f)
{
  wait_for_kernels_before();
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / lanes;
  if (row < n) f(CudaLanes{lanes}, row);
}

template <int Lanes, class F> __global__ void rows_kernel(std::int64_t n, F f)
{
  wait_for_kernels_before();
  auto tile = cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block());
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / Lanes;
  if (row < n) f(CudaTeam<Lanes>{tile}, row);
}

template <int Lanes, int Threads, class S, class F> __global__ void rows_with_kernel(std::int64_t n, F f)
{
  __shared__ S scratch[Threads / Lanes];
  wait_for_kernels_before();
  auto tile = cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block());
  const std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(Threads) + threadIdx.x) / Lanes;
  if (row < n) f(CudaTeam<Lanes>{tile}, row, scratch[threadIdx.x / Lanes]);
}

// CUB asks host code for the result type of a functor, which an extended lambda cannot tell: T says it.
template <class T, class F> struct Returns {
  F f;
  __device__ T operator()(std::int64_t i) const { return f(i); }
};

// Calls a CUB algorithm twice, as CUB wants it: for the size of its scratch memory, then for the result. Much of it, as sorting takes, is
// freed at once: it would stand beside everything that the setup makes later.
template <class Call> PetscErrorCode with_scratch(Cuda &ex, Call call)
{
  constexpr std::size_t most_kept = std::size_t{16} << 20;
  std::size_t bytes = 0;
  Array<unsigned char, Cuda> large;
  void *scratch;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(call(nullptr, bytes));
  if (bytes > most_kept) {
    PetscCall(large.allocate(ex, static_cast<std::int64_t>(bytes)));
    scratch = large.data();
  } else {
    PetscCall(scratch_memory(ex, std::max<std::size_t>(bytes, 1), &scratch));
  }
  AMGKIT_CALL_CUDA(call(scratch, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A place that kernels write one T to, and its value once they have.
template <class T> T *scalar_on_host(Cuda &ex)
{
  static_assert(sizeof(T) <= Cuda::host_scalars_bytes);
  return static_cast<T *>(ex.host_scalars);
}
template <class T> PetscErrorCode read_scalar(Cuda &ex, T *result)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::wait);
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  PetscCall(PetscLogGpuToCpuScalar(sizeof(T)));
  *result = *scalar_on_host<T>(ex);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The sum of x over the lanes of a whole warp, for all of them.
template <class T> __device__ T warp_sum(T x)
{
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffffU, x, step);
  return x;
}

inline unsigned blocks(std::int64_t work, int per_block) { return static_cast<unsigned>((work + per_block - 1) / per_block); }
} // namespace detail

template <class F> PetscErrorCode for_each(Cuda &ex, std::int64_t n, F f)
{
  PetscFunctionBegin;
  if (n > 0) {
    PetscCall(detail::launch(ex, detail::blocks(n, detail::threads), detail::threads, detail::each_kernel<F>, n, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Given, class Read, class Use> PetscErrorCode for_each_read(Cuda &ex, std::int64_t n, Given given, Read read, Use use)
{
  PetscFunctionBegin;
  if (n > 0) {
    PetscCall(detail::launch(ex, detail::blocks(n, detail::threads * detail::reads_together), detail::threads,
                             detail::each_read_kernel<Given, Read, Use>, n, given, read, use));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int Registers, class F> PetscErrorCode for_each(Cuda &ex, std::int64_t n, F f)
{
  PetscFunctionBegin;
  if (n > 0) {
    PetscCall(detail::launch(ex, detail::blocks(n, detail::threads), detail::threads, detail::registers_kernel<Registers, F>, n, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> PetscErrorCode for_many(Cuda &ex, std::int64_t n, F f)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { f(i, Rows<1>{}); });
}

template <int Lanes, class F> PetscErrorCode for_rows(Cuda &ex, std::int64_t n, F f)
{
  PetscFunctionBegin;
  if (n > 0) {
    PetscCall(detail::launch(ex, detail::blocks(n * Lanes, detail::threads), detail::threads, detail::rows_kernel<Lanes, F>, n, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> PetscErrorCode for_rows_of(Cuda &ex, std::int64_t n, int lanes, F f)
{
  PetscFunctionBegin;
  if (n > 0)
    PetscCall(detail::launch(ex, detail::blocks(n * lanes, detail::threads), detail::threads, detail::rows_of_kernel<F>, n, lanes, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As many teams a block as 24 KiB of shared memory hold, so that two blocks share a multiprocessor's default carve-out.
template <int Lanes, class S, class F> PetscErrorCode for_rows_with(Cuda &ex, std::int64_t n, F f)
{
  constexpr int fitting = static_cast<int>(24576 / sizeof(S)) * Lanes;
  constexpr int threads = fitting >= 256 ? 256 : fitting >= 128 ? 128 : fitting >= 64 ? 64 : 32;
  static_assert(threads / Lanes * sizeof(S) <= 49152, "scratch of one team is too large");

  PetscFunctionBegin;
  if (n > 0) {
    PetscCall(detail::launch(ex, detail::blocks(n * Lanes, threads), threads, detail::rows_with_kernel<Lanes, threads, S, F>, n, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class F, class Op> PetscErrorCode reduce(Cuda &ex, std::int64_t n, F f, T init, Op op, T *result)
{
  T *out = detail::scalar_on_host<T>(ex);

  PetscFunctionBegin;
  *result = init;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(detail::with_scratch(ex, [&](void *scratch, std::size_t &bytes) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, thrust::counting_iterator<std::int64_t>(0), out, n, op,
                                              detail::Returns<T, F>{f}, init, ex.stream);
  }));
  PetscCall(detail::read_scalar(ex, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// These two are compiled once, in scan_sort_cuda.cu: CUB's code for them takes nvcc longer than most kernels that call them.
PetscErrorCode exclusive_scan(Cuda &ex, std::int64_t n, int *x, std::int64_t *total, const unsigned *also = nullptr,
                              unsigned *value = nullptr);
// Key, T: std::uint32_t, int; std::uint64_t, int or double.
template <class Key, class T> PetscErrorCode stable_sort_pairs(Cuda &ex, std::int64_t n, Key *key, T *value, int bits);
} // namespace amgkit

#include "base/partition_cuda.hpp"
#include "base/sums_cuda.hpp"
