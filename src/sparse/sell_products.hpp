// Sums over the rows of a matrix in sliced ELL, for the kernels that do something with them.
#pragma once
#include "base/parallel.hpp"
#include "sparse/sell.hpp"

namespace amgkit
{
inline std::int64_t sell_slices(int rows) { return (std::int64_t{rows} + sell_rows - 1) / sell_rows; }

inline constexpr int sell_batch = 4; // positions whose entries are on their way at once
inline constexpr int sell_registers = 48;

// s += the entries of a thread's two rows at some positions, from pair k on; the upper halves of their columns from pair k_high on.
// Whole: a batch of them, else the last `left`, of which the last one is read again to have a batch: that is faster than one by one.
template <bool Wide, bool Whole, class T, class V>
AMGKIT_FN void add_batch(const SellView<T> &A, int position, int left, std::int64_t k, std::int64_t k_high, const V *x, SellPair<V> &s)
{
  SellPair<T> a[sell_batch];
  SellPair<V> x_at[sell_batch];
  for (int j = 0; j < sell_batch; j++) {
    const int p = Whole || j < left ? j : left - 1;
    const int base = A.base[position + p];
    const SellPair<std::uint16_t> low = A.low[k + p * sell_threads];
    SellPair<std::uint16_t> high{};
    if constexpr (Wide) high = A.high[k_high + p * sell_threads];
    a[j] = A.val[k + p * sell_threads];
    for (int h = 0; h < 2; h++) x_at[j].of[h] = x[base + (Wide ? high.of[h] << 16 | low.of[h] : low.of[h])];
  }
  for (int j = 0; j < sell_batch; j++) {
    for (int h = 0; h < 2 && (Whole || j < left); h++) s.of[h] += static_cast<V>(a[j].of[h]) * x_at[j].of[h];
  }
}

// (A x)_i of the two rows of a thread of a slice with positions begin to end - 1
template <bool Wide, class T, class V>
AMGKIT_FN SellPair<V> rows_times(const SellView<T> &A, int begin, int end, int high, int thread, const V *x)
{
  std::int64_t k = std::int64_t{begin} * sell_threads + thread, k_high = std::int64_t{high} * sell_threads + thread;
  SellPair<V> s{{0, 0}};
  int p = begin;
  for (; p + sell_batch <= end; p += sell_batch, k += sell_batch * sell_threads, k_high += sell_batch * sell_threads)
    add_batch<Wide, true>(A, p, sell_batch, k, k_high, x, s);
  if (p < end) add_batch<Wide, false>(A, p, end - p, k, k_high, x, s);
  return s;
}

// (A x)_i of rows 64 slice + thread and 32 further
template <class T, class V> AMGKIT_FN SellPair<V> slice_times(const SellView<T> &A, std::int64_t slice, int thread, const V *x)
{
  const int begin = A.start[slice], end = A.start[slice + 1];
  const int high = A.high_start ? A.high_start[slice] : 0, high_end = A.high_start ? A.high_start[slice + 1] : 0;
  return high < high_end ? rows_times<true>(A, begin, end, high, thread, x) : rows_times<false>(A, begin, end, 0, thread, x);
}
} // namespace amgkit
