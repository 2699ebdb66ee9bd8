// Products with sliced ELL: what the rows of a thread give.
#pragma once
#include "sparse/formats/product_sums.hpp"
#include "sparse/formats/sell_offsets.hpp"

namespace amgkit
{
constexpr int sell_batch = 4; // positions whose entries are on their way at once
template <class T> constexpr int sell_registers = std::is_same_v<T, LongFloat> ? 64 : 48;
template <class V> constexpr int constant_registers = sizeof(V) == sizeof(float) ? 40 : 64;
// With sums, which are kept meanwhile: with fewer nvcc keeps other things in memory, and a product takes twice as long.
template <class T, class V> constexpr int summed_registers = std::is_same_v<T, float> &&std::is_same_v<V, float> ? 64 : 80;
template <int N, class T, class V>
constexpr int constant_summed_registers = std::is_same_v<V, float> && (N == 2 || std::is_same_v<T, float>) ? 48 : 64;

// Where the thread's pairs of a slice begin.
struct SellPlace {
  std::int64_t val, low, high;
  AMGKIT_FN SellPlace after(int positions) const
  {
    const std::int64_t pairs = std::int64_t{positions} * sell_threads;
    return {val + pairs, low + pairs, high + pairs};
  }
};

// In what entries are multiplied; and the precision of a row's sum: the wider one of the entries' and the vectors'.
template <class T> using Computed = std::conditional_t<std::is_same_v<T, LongFloat>, double, T>;
template <class T, class V> using SumOf = std::common_type_t<Computed<T>, V>;

template <class T> AMGKIT_FN SellPair<T> values_at(const SellView<T> &A, std::int64_t k)
{
  const SellPair<InMemory<T>> val = A.val[k];
  if constexpr (std::is_same_v<T, LongFloat>) {
    const SellPair<std::int16_t> rest = A.rest[k];
    return {{{val.of[0], rest.of[0]}, {val.of[1], rest.of[1]}}};
  } else {
    return val;
  }
}

// The columns of a thread's two rows at a batch of positions of a plain slice.
template <bool Wide> struct SellColumns {
  int base[sell_batch];
  SellPair<std::uint16_t> low[sell_batch], high[Wide ? sell_batch : 1];
  AMGKIT_FN int of(int j, int h) const
  {
    if constexpr (Wide)
      return base[j] + (high[j].of[h] << 16 | low[j].of[h]);
    else
      return base[j] + low[j].of[h];
  }
};

// Reads the columns of a batch. Of the last `left` positions the last one is read again to have a batch: that is faster than one by one.
template <bool Wide, bool Whole, class T>
AMGKIT_FN SellColumns<Wide> read_columns(const SellView<T> &A, int position, int left, const SellPlace &at)
{
  SellColumns<Wide> columns;
  for (int j = 0; j < sell_batch; j++) {
    const int p = Whole || j < left ? j : left - 1;
    columns.base[j] = A.base[position + p];
    columns.low[j] = A.low[at.low + p * sell_threads];
    if constexpr (Wide) columns.high[j] = A.high[at.high + p * sell_threads];
  }
  return columns;
}
template <bool Wide, class T> AMGKIT_FN SellColumns<Wide> columns_at(const SellView<T> &A, int position, int left, const SellPlace &at)
{
  return left >= sell_batch ? read_columns<Wide, true>(A, position, left, at) : read_columns<Wide, false>(A, position, left, at);
}

// s += the entries of a thread's two rows at a batch of positions, or at the last `left`.
template <bool Wide, bool Whole, class T, class V>
AMGKIT_FN void add_batch(const SellView<T> &A, const SellColumns<Wide> &columns, int left, std::int64_t val, const V *x,
                         SellPair<SumOf<T, V>> &s)
{
  SellPair<T> a[sell_batch];
  SellPair<V> x_at[sell_batch];
  for (int j = 0; j < sell_batch; j++) {
    a[j] = values_at(A, val + (Whole || j < left ? j : left - 1) * sell_threads);
    for (int h = 0; h < 2; h++) x_at[j].of[h] = x[columns.of(j, h)];
  }
  for (int j = 0; j < sell_batch; j++) {
    for (int h = 0; h < 2 && (Whole || j < left); h++) s.of[h] += static_cast<SumOf<T, V>>(a[j].of[h]) * x_at[j].of[h];
  }
}

// A team shares two rows, whose batches its lanes take in turn; what a lane has is a part of the sum.
// (A x)_i of the two rows of a thread of a plain slice. Lanes read the columns of a batch while the vector's entries of the one before are
// on their way; a thread alone has no registers left for that.
template <bool Wide, class Team, class T, class V>
AMGKIT_FN SellPair<SumOf<T, V>> plain_times(const Team &team, const SellView<T> &A, const SellStart &from, int positions, int high,
                                            int thread, const V *x)
{
  const SellPlace at{std::int64_t{from.pair} * sell_threads + thread, std::int64_t{from.low} * sell_threads + thread,
                     std::int64_t{high} * sell_threads + thread};
  const int step = sell_batch * team.lanes();
  SellPair<SumOf<T, V>> s{{0, 0}};
  int p = sell_batch * team.rank();
  const auto columns_from = [&](int position) {
    return columns_at<Wide>(A, from.pair + position, positions - position, at.after(position));
  };
  if constexpr (std::is_same_v<Team, Alone> && !teams_are_threads) {
    for (; p + sell_batch <= positions; p += step) add_batch<Wide, true>(A, columns_from(p), sell_batch, at.after(p).val, x, s);
    if (p < positions) add_batch<Wide, false>(A, columns_from(p), positions - p, at.after(p).val, x, s);
  } else if (p < positions) {
    SellColumns<Wide> columns = columns_from(p);
    for (int next = p + step; p + sell_batch <= positions; p = next, next += step) {
      const SellColumns<Wide> here = columns;
      if (next < positions) columns = columns_from(next);
      add_batch<Wide, true>(A, here, sell_batch, at.after(p).val, x, s);
    }
    if (p < positions) add_batch<Wide, false>(A, columns, positions - p, at.after(p).val, x, s);
  }
  return s;
}

// One position of a stencil or constant slice, as a thread reads it.
template <class T> struct SellOffset {
  int offset;
  SellMask mask;
  SellPair<T> value;
};
// Element k of a list
template <class T> AMGKIT_FN SellOffset<Computed<T>> constant_at(const SellView<T> &A, int k)
{
  const SellConstant here = A.constant[k];
  Computed<T> value;
  if constexpr (std::is_same_v<T, float>)
    value = here.value;
  else
    value = A.exact[k];
  return {here.offset, here.mask, {{value, value}}};
}

// s += the entries of a thread's two rows, which lie at x_row, at a batch of positions, or the last `left`; at(j): a SellOffset.
template <bool Whole, class S, class V, class At>
AMGKIT_FN void add_offsets(int left, std::uint32_t thread, const SellPair<const V *> &x_row, SellPair<S> &s, At at)
{
  decltype(at(0)) entry[sell_batch];
  SellPair<V> x_at[sell_batch]{};
  for (int j = 0; j < sell_batch; j++) {
    if (!Whole && j >= left) break;
    entry[j] = at(j);
    for (int h = 0; h < 2; h++) {
      if (entry[j].mask.of[h] & thread) x_at[j].of[h] = x_row.of[h][entry[j].offset];
    }
  }
  for (int j = 0; j < sell_batch; j++) {
    if (!Whole && j >= left) break;
    for (int h = 0; h < 2; h++) s.of[h] += static_cast<S>(entry[j].value.of[h]) * x_at[j].of[h]; // +0 where there is no entry
  }
}

// (A x)_i of the two rows of a thread of a stencil or constant slice
template <class S, class Team, class V, class At>
AMGKIT_FN SellPair<S> offsets_times(const Team &team, int positions, int thread, const SellPair<const V *> &x_row, At at)
{
  const std::uint32_t bit = std::uint32_t{1} << thread;
  SellPair<S> s{{0, 0}};
  int p = sell_batch * team.rank();
  for (; p + sell_batch <= positions; p += sell_batch * team.lanes())
    add_offsets<true>(sell_batch, bit, x_row, s, [&](int j) { return at(p + j); });
  if (p < positions) add_offsets<false>(positions - p, bit, x_row, s, [&](int j) { return at(p + j); });
  return s;
}
template <class Team, class T, class V>
AMGKIT_FN SellPair<SumOf<T, V>> constant_times(const Team &team, const SellView<T> &A, int list, int thread,
                                               const SellPair<const V *> &x_row)
{
  if (list < 0) return {{0, 0}}; // a slice without entries
  return offsets_times<SumOf<T, V>>(team, A.constant[list].offset, thread, x_row, [&](int p) { return constant_at(A, list + 1 + p); });
}
template <class Team, class T, class V>
AMGKIT_FN SellPair<SumOf<T, V>> stencil_times(const Team &team, const SellView<T> &A, const SellStart &from, int positions, int thread,
                                              const SellPair<const V *> &x_row)
{
  return offsets_times<SumOf<T, V>>(team, positions, thread, x_row, [&](int p) {
    return SellOffset<T>{A.base[from.pair + p], A.mask[from.mask + p], values_at(A, (std::int64_t{from.pair} + p) * sell_threads + thread)};
  });
}

// (A x)_i of the rows i of thread t of all slices' threads
template <class Rows, class Team, class T, class V>
AMGKIT_FN SellPair<SumOf<T, V>> rows_times(const Team &team, const SellView<T> &A, std::int64_t t, const SellPair<std::int64_t> &i,
                                           const V *x)
{
  const std::int64_t slice = t / sell_threads;
  const int thread = static_cast<int>(t % sell_threads);
  const SellStart from = A.start[slice], to = A.start[slice + 1];
  const int positions = to.pair - from.pair;
  if constexpr (std::is_same_v<Rows, KeptRows>) {
    const SellPair<const V *> x_row{{x + i.of[0], x + i.of[1]}};
    if (from.constant >= 0) return constant_times(team, A, from.constant, thread, x_row);
    if (from.mask < to.mask) return stencil_times(team, A, from, positions, thread, x_row);
  }
  const int high = A.high_start ? A.high_start[slice] : 0, high_end = A.high_start ? A.high_start[slice + 1] : 0;
  return high < high_end ? plain_times<true>(team, A, from, positions, high, thread, x)
                         : plain_times<false>(team, A, from, positions, 0, thread, x);
}

// y_i = f(f.read(i), (A x)_i) for both rows i of thread t of all slices' threads
template <class Rows, class Team, class T, class V, class F>
AMGKIT_FN void store_products(const Team &team, const Rows &rows, const SellView<T> &A, std::int64_t t, const V *x, V *y, const F &f)
{
  const SellPair<std::int64_t> i = rows.pair(t);
  auto s = rows_times<Rows>(team, A, t, i, x);
  for (int h = 0; h < 2; h++) s.of[h] = team.sum(s.of[h]);
  if (team.rank() > 0) return;
  store_two(A.rows, i, f, read_two(A.rows, i, f), s, y);
}
// y_i = s_i for both rows i of a thread; what is summed of them, of which at has been read
template <class V> struct TwoTerms {
  ProductTerms<V> of[2];
};
template <int N, class V>
AMGKIT_FN TwoTerms<V> read_two_terms(int rows, const SellPair<std::int64_t> &i, const ProductSums<N, V> &products, const V *x)
{
  TwoTerms<V> at{};
  for (int h = 0; h < 2; h++) {
    if (i.of[h] < rows) at.of[h] = read_terms(products, x, i.of[h]);
  }
  return at;
}
template <int N, class S, class V>
AMGKIT_FN Sums<N> store_and_sum(int rows, const SellPair<std::int64_t> &i, const ProductSums<N, V> &products, const TwoTerms<V> &at,
                                const SellPair<S> &s, V *y)
{
  Sums<N> sums{};
  for (int h = 0; h < 2; h++) {
    if (i.of[h] >= rows) continue;
    const V y_i = static_cast<V>(s.of[h]);
    const Sums<N> term = terms_of(products, at.of[h], y_i);
    y[i.of[h]] = y_i;
    for (int k = 0; k < N; k++) sums.of[k] += term.of[k];
  }
  return sums;
}

// The same of y_i = (A x)_i, with what is summed of the two rows.
template <int N, class Rows, class Team, class T, class V>
AMGKIT_FN Sums<N> store_summed_products(const Team &team, const Rows &rows, const SellView<T> &A, std::int64_t t, const V *x, V *y,
                                        const ProductSums<N, V> &products)
{
  const SellPair<std::int64_t> i = rows.pair(t);
  auto s = rows_times<Rows>(team, A, t, i, x);
  for (int h = 0; h < 2; h++) s.of[h] = team.sum(s.of[h]);
  if (team.rank() > 0) return {};
  return store_and_sum(A.rows, i, products, read_two_terms(A.rows, i, products, x), s, y);
}
// The same where all slices are constant. What f reads, or is summed, is on its way meanwhile.
template <class T, class V>
AMGKIT_FN SellPair<SumOf<T, V>> all_constant_times(const SellView<T> &A, std::int64_t t, const SellPair<std::int64_t> &i, const V *x)
{
  const int list = A.start[t / sell_threads].constant;
  return constant_times(Alone{}, A, list, static_cast<int>(t % sell_threads), SellPair<const V *>{{x + i.of[0], x + i.of[1]}});
}
template <class T, class V, class F>
AMGKIT_FN void store_constant_products(const SellView<T> &A, std::int64_t t, const V *x, V *y, const F &f)
{
  const SellPair<std::int64_t> i = KeptRows{}.pair(t);
  const auto read = read_two(A.rows, i, f);
  store_two(A.rows, i, f, read, all_constant_times(A, t, i, x), y);
}
template <int N, class T, class V>
AMGKIT_FN Sums<N> store_summed_constant_products(const SellView<T> &A, std::int64_t t, const V *x, V *y, const ProductSums<N, V> &products)
{
  const SellPair<std::int64_t> i = KeptRows{}.pair(t);
  const auto read = read_two_terms(A.rows, i, products, x);
  return store_and_sum(A.rows, i, products, read, all_constant_times(A, t, i, x), y);
}
} // namespace amgkit
