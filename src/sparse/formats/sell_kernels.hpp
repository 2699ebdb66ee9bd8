#include "sparse/formats/sell_tiles.hpp"

namespace amgkit
{
namespace
{
constexpr int sell_batch = 4; // positions whose entries are on their way at once
constexpr int sell_registers = 48;

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

// y_i = f(i, (A x)_i) for both rows i of thread t of all slices' threads. What f reads for one does not wait for the other to be written.
template <class Rows, class T, class V, class F>
AMGKIT_FN void store_products(const Rows &rows, const SellView<T> &A, std::int64_t t, const V *x, V *y, const F &f)
{
  const std::int64_t slice = t / sell_threads;
  const SellPair<std::int64_t> i = rows.pair(t);
  const int thread = static_cast<int>(t % sell_threads), begin = A.start[slice], end = A.start[slice + 1];
  const int high = A.high_start ? A.high_start[slice] : 0, high_end = A.high_start ? A.high_start[slice + 1] : 0;
  const SellPair<V> s = high < high_end ? rows_times<true>(A, begin, end, high, thread, x) : rows_times<false>(A, begin, end, 0, thread, x);
  if (i.of[1] < A.rows) {
    const V first = f(i.of[0], s.of[0]), second = f(i.of[1], s.of[1]);
    y[i.of[0]] = first;
    y[i.of[1]] = second;
  } else if (i.of[0] < A.rows) {
    y[i.of[0]] = f(i.of[0], s.of[0]);
  }
}
} // namespace

struct SellWindow {
  int key[sell_window];
};

// order: see sell.hpp. Places of the last slice that no row takes have numbers beyond A's rows.
template <class Ex> PetscErrorCode sell_sort(Ex &ex, CsrView<double> A, SellPair<std::uint16_t> *order)
{
  constexpr int most = INT32_MAX / sell_window; // longer rows count as this long
  const std::int64_t stored = sell_slices(A.rows) * sell_rows, windows = (stored + sell_window - 1) / sell_window;
  return for_rows_with<sell_threads, SellWindow>(ex, windows, [=] AMGKIT_FN(auto team, std::int64_t w, auto &window) {
    const std::int64_t first = w * sell_window;
    const int rows = stored - first < sell_window ? static_cast<int>(stored - first) : sell_window;
    for (int r : team.share(0, rows)) {
      const int length = row_range(A, first + r).length;
      window.key[r] = (length < most ? most - length : 0) * sell_window + r; // distinct
    }
    team.sync();
    team.for_sorted(rows, window.key, [&](int t, int key) {
      const std::int64_t slice = (first + t) / sell_rows;
      order[slice * sell_threads + t % sell_threads].of[t % sell_rows / sell_threads] = static_cast<std::uint16_t>(key % sell_window);
    });
  });
}

// start of each slice and the number of positions in all, which is at most A.nnz.
template <class Ex, class Rows>
PetscErrorCode sell_starts(Ex &ex, CsrView<double> A, Rows rows, Array<int, Ex> &starts, std::int64_t *positions)
{
  const std::int64_t slices = sell_slices(A.rows);

  PetscFunctionBegin;
  PetscCall(starts.allocate(ex, slices + 1));
  int *start = starts.data();
  PetscCall(for_rows<sell_threads>(ex, slices, [=] AMGKIT_FN(auto team, std::int64_t s) {
    int longest = 0;
    for (int r : team.share(0, sell_rows)) {
      const int length = row_range(A, rows.row(s, r)).length;
      longest = longest < length ? length : longest;
    }
    longest = team.max(longest);
    team.once([&] { start[s] = longest; });
  }));
  PetscCall(exclusive_scan(ex, slices, start, positions));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// base of each position and low; the number of positions of the wide slices in width, 0 for the others.
template <class Ex, class Rows>
PetscErrorCode sell_columns(Ex &ex, CsrView<double> A, Rows rows, const int *start, int *base, SellPair<std::uint16_t> *low, int *width)
{
  return for_rows_with<sell_threads, SliceTile<int>>(ex, sell_slices(A.rows), [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const int positions = start[s + 1] - start[s];
    bool wide = false;
    for (int p = 0; p < positions; p += tile_positions) {
      read_tile(team, tile, [&](int r, int j) {
        const RowRange row = row_range(A, rows.row(s, r));
        return p + j < row.length ? A.col[row.begin + p + j] : -1;
      });
      for (int j = 0; j < tile_positions && p + j < positions; j++) {
        int least = INT32_MAX, most = 0;
        for (int r : team.share(0, sell_rows)) {
          const int column = tile.of[j][r];
          if (column < 0) continue;
          least = column < least ? column : least;
          most = most < column ? column : most;
        }
        least = team.combine(least, Min{});
        wide = wide || team.max(most) - least > UINT16_MAX;
        team.once([&] { base[start[s] + p + j] = least; });
        for (int t : team.share(0, sell_threads)) {
          SellPair<std::uint16_t> lower;
          for (int h = 0; h < 2; h++) {
            const int column = tile.of[j][t + h * sell_threads];
            lower.of[h] = static_cast<std::uint16_t>(column < 0 ? 0 : (column - least) & UINT16_MAX);
          }
          low[(std::int64_t{start[s]} + p + j) * sell_threads + t] = lower;
        }
      }
    }
    team.once([&] { width[s] = wide ? positions : 0; });
  });
}

// The upper halves of wide slices, which are few.
template <class Ex, class Rows>
PetscErrorCode sell_high(Ex &ex, CsrView<double> A, Rows rows, const int *start, const int *base, const int *high_start,
                         SellPair<std::uint16_t> *high)
{
  return for_each(ex, sell_slices(A.rows) * sell_threads, [=] AMGKIT_FN(std::int64_t t) {
    const std::int64_t s = t / sell_threads;
    const SellPair<std::int64_t> i = rows.pair(t);
    const RowRange range[2] = {row_range(A, i.of[0]), row_range(A, i.of[1])};
    for (int j = 0; j < high_start[s + 1] - high_start[s]; j++) {
      SellPair<std::uint16_t> upper;
      for (int h = 0; h < 2; h++) {
        const int offset = j < range[h].length ? A.col[range[h].begin + j] - base[start[s] + j] : 0;
        upper.of[h] = static_cast<std::uint16_t>(offset >> 16);
      }
      high[(std::int64_t{high_start[s]} + j) * sell_threads + t % sell_threads] = upper;
    }
  });
}

// Sorts the rows where it saves more than that share of the bytes: start, order and the number of positions.
template <class Ex> PetscErrorCode sort_where_it_pays(Ex &ex, CsrView<double> A, SellPattern<Ex> &out, std::int64_t *positions)
{
  // A warp's rows then lie in some 25 sectors of each vector, in place of 4 or 8. The other warps of its block want the same ones, so that
  // memory is read as before, but what is saved must pay for the way from the caches.
  constexpr double least_saving = 0.05;
  constexpr double position_bytes = sell_rows * (sizeof(std::uint16_t) + sizeof(float)) + sizeof(int), row_bytes = sizeof(std::uint16_t);
  const std::int64_t slices = sell_slices(A.rows);
  const double enough = (1 - least_saving) * position_bytes * static_cast<double>(*positions);
  const double orders = row_bytes * sell_rows * static_cast<double>(slices);
  Array<SellPair<std::uint16_t>, Ex> order;
  Array<int, Ex> start;
  std::int64_t sorted = 0;

  PetscFunctionBegin;
  if (position_bytes * static_cast<double>(A.nnz) / sell_rows + orders >= enough) PetscFunctionReturn(PETSC_SUCCESS); // the least there is
  PetscCall(order.allocate(ex, slices * sell_threads));
  PetscCall(sell_sort(ex, A, order.data()));
  PetscCall(sell_starts(ex, A, SortedRows{order.data()}, start, &sorted));
  if (position_bytes * static_cast<double>(sorted) + orders >= enough) PetscFunctionReturn(PETSC_SUCCESS);
  out.order = std::move(order);
  out.start = std::move(start);
  *positions = sorted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode sell_pattern(Ex &ex, CsrView<double> A, SellOrder order, SellPattern<Ex> &out, bool *fits)
{
  constexpr double most_padding = 1.5;
  const std::int64_t slices = sell_slices(A.rows);
  std::int64_t positions = 0, high = 0;

  PetscFunctionBegin;
  out = SellPattern<Ex>{};
  PetscCall(sell_starts(ex, A, KeptRows{}, out.start, &positions));
  if (order == SellOrder::sorted_where_it_pays) PetscCall(sort_where_it_pays(ex, A, out, &positions));
  // the last slice may be short: that is no uneven matrix
  const double full = slices > 0 ? static_cast<double>(A.rows) / static_cast<double>(slices) : 0;
  *fits = full * static_cast<double>(positions) <= most_padding * static_cast<double>(A.nnz);
  if (!*fits) {
    out = SellPattern<Ex>{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  out.rows = A.rows;
  PetscCall(out.base.allocate(ex, positions));
  PetscCall(out.high_start.allocate(ex, slices + 1));
  PetscCall(out.low.allocate(ex, positions * sell_threads));
  PetscCall(with_rows(out.order.data(), [&](auto rows) {
    return sell_columns(ex, A, rows, out.start.data(), out.base.data(), out.low.data(), out.high_start.data());
  }));
  PetscCall(exclusive_scan(ex, slices, out.high_start.data(), &high));
  if (high == 0) {
    out.high_start.release();
  } else {
    PetscCall(out.high.allocate(ex, high * sell_threads));
    PetscCall(with_rows(out.order.data(), [&](auto rows) {
      return sell_high(ex, A, rows, out.start.data(), out.base.data(), out.high_start.data(), out.high.data());
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// flag becomes 1 where an entry is not representable in T.
template <class Ex, class Rows, class T>
PetscErrorCode sell_values(Ex &ex, CsrView<double> A, Rows rows, const int *start, SellPair<T> *val, unsigned *flag)
{
  const int shares = teams_of_slice(sell_slices(A.rows), A.average());
  return for_rows_with<sell_threads, SliceTile<T>>(
      ex, sell_slices(A.rows) * shares, [=] AMGKIT_FN(auto team, std::int64_t nth, auto &tile) {
        const std::int64_t s = nth / shares;
        const int positions = start[s + 1] - start[s];
        bool lost = false;
        for (int p = static_cast<int>(nth % shares) * tile_positions; p < positions; p += shares * tile_positions) {
          read_tile(team, tile, [&](int r, int j) {
            const RowRange row = row_range(A, rows.row(s, r));
            const double a = p + j < row.length ? A.val[row.begin + p + j] : 0;
            if constexpr (std::is_same_v<T, float>) lost = lost || !is_representable_in_single(a);
            return static_cast<T>(a);
          });
          for (int e : team.share(0, tile_positions * sell_threads)) {
            const int j = e / sell_threads, t = e % sell_threads;
            if (p + j < positions)
              val[(std::int64_t{start[s]} + p + j) * sell_threads + t] = {{tile.of[j][t], tile.of[j][t + sell_threads]}};
          }
        }
        if (lost) atomic_or(flag, 1);
      });
}

template <class Ex, class T> PetscErrorCode sell_fill(Ex &ex, CsrView<double> A, Sell<T, Ex> &out, bool *representable)
{
  Array<unsigned, Ex> flag;
  unsigned lost = 0;

  PetscFunctionBegin;
  if (out.val.size() == 0) PetscCall(out.val.allocate(ex, out.low.size()));
  if constexpr (std::is_same_v<T, float>) {
    PetscCall(flag.allocate(ex, 1));
    PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  }
  PetscCall(
      with_rows(out.order.data(), [&](auto rows) { return sell_values(ex, A, rows, out.start.data(), out.val.data(), flag.data()); }));
  if constexpr (std::is_same_v<T, float>) PetscCall(memory_to_host(ex, &lost, flag.data(), flag.bytes()));
  *representable = lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// to[k] <- f(position, thread and half) for the entries k of all rows
template <class Ex, class Rows, class U, class F>
PetscErrorCode scatter_entries(Ex &ex, int n, Rows rows, const int *start, const int *ptr, U *to, F f)
{
  return for_rows_with<sell_threads, SliceTile<U>>(ex, sell_slices(n), [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const int positions = start[s + 1] - start[s];
    for (int p = 0; p < positions; p += tile_positions) {
      for (int e : team.share(0, tile_positions * sell_rows)) {
        const int j = e / sell_rows, r = e % sell_rows;
        if (p + j < positions) tile.of[j][r] = f(s, p + j, r);
      }
      team.sync();
      for (int e : team.share(0, tile_positions * sell_rows)) {
        const std::int64_t i = rows.row(s, e / tile_positions);
        const int j = p + e % tile_positions;
        if (i < n && j < ptr[i + 1] - ptr[i]) to[ptr[i] + j] = tile.of[e % tile_positions][e / tile_positions];
      }
      team.sync();
    }
  });
}

template <class Ex, class Rows, class T>
PetscErrorCode entries_of_rows(Ex &ex, Rows rows, SellView<T> A, const int *ptr, int *col, double *val)
{
  PetscFunctionBegin;
  PetscCall(scatter_entries(ex, A.rows, rows, A.start, ptr, col, [=] AMGKIT_FN(std::int64_t s, int p, int r) {
    const int t = r % sell_threads, h = r / sell_threads, high = A.high_start ? A.high_start[s] : 0;
    const bool wide = A.high_start && high < A.high_start[s + 1];
    const int low = A.low[(std::int64_t{A.start[s]} + p) * sell_threads + t].of[h];
    return A.base[A.start[s] + p] + (wide ? A.high[(std::int64_t{high} + p) * sell_threads + t].of[h] << 16 | low : low);
  }));
  if (!val) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(scatter_entries(ex, A.rows, rows, A.start, ptr, val, [=] AMGKIT_FN(std::int64_t s, int p, int r) {
    return static_cast<double>(A.val[(std::int64_t{A.start[s]} + p) * sell_threads + r % sell_threads].of[r / sell_threads]);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T> PetscErrorCode sell_entries(Ex &ex, SellView<T> A, const int *ptr, int *col, double *val)
{
  return with_rows(A.order, [&](auto rows) { return entries_of_rows(ex, rows, A, ptr, col, val); });
}

template <class Ex> PetscErrorCode representable_in_single(Ex &ex, CsrView<double> A, bool *representable)
{
  int lost = 0;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, A.nnz, [=] AMGKIT_FN(std::int64_t k) { return int{!is_representable_in_single(A.val[k])}; }, 0, Max{}, &lost));
  *representable = lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode exact_in_single(Ex &ex, CsrView<double> A, bool *exact)
{
  int lost = 0;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, A.nnz, [=] AMGKIT_FN(std::int64_t k) { return int{static_cast<double>(static_cast<float>(A.val[k])) != A.val[k]}; }, 0, Max{},
      &lost));
  *exact = lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class Rows, class T, class V, class F>
PetscErrorCode for_products(Ex &ex, Rows rows, SellView<T> A, const V *x, V *y, F f)
{
  return for_each<sell_registers>(ex, sell_slices(A.rows) * sell_threads,
                                  [=] AMGKIT_FN(std::int64_t t) { store_products(rows, A, t, x, y, f); });
}

template <class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, SellView<T> A, const V *x, V *y)
{
  return with_rows(A.order, [&](auto rows) { return for_products(ex, rows, A, x, y, SellProduct<V>{}); });
}

template <class Ex, class T, class V> PetscErrorCode residual(Ex &ex, SellView<T> A, const V *b, const V *x, V *r)
{
  return with_rows(A.order, [&](auto rows) { return for_products(ex, rows, A, x, r, SellResidual<V>{b}); });
}

template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &ex, SellView<T> A, const D *d, RelaxStep step, const V *b, const V *x, OptionalVector<V> previous, V *y)
{
  const SellRelaxed<D, V> relaxed{static_cast<V>(step.momentum), static_cast<V>(step.factor), d, b, x, previous};
  return with_rows(A.order, [&](auto rows) { return for_products(ex, rows, A, x, y, relaxed); });
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(representable_in_single)
AMGKIT_INSTANTIATE(exact_in_single)
AMGKIT_INSTANTIATE(sell_pattern)
#define INSTANTIATE_RELAX(T, D, V)                                                                                                         \
  template PetscErrorCode relax(Space &, SellView<T>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>, V *);
#define INSTANTIATE_PRODUCTS(T, V)                                                                                                         \
  template PetscErrorCode spmv(Space &, SellView<T>, const V *, V *);                                                                      \
  template PetscErrorCode residual(Space &, SellView<T>, const V *, const V *, V *);
#define INSTANTIATE(T)                                                                                                                     \
  template PetscErrorCode sell_entries(Space &, SellView<T>, const int *, int *, double *);                                                \
  template PetscErrorCode sell_fill(Space &, CsrView<double>, Sell<T, Space> &, bool *);                                                   \
  INSTANTIATE_PRODUCTS(T, float)                                                                                                           \
  INSTANTIATE_PRODUCTS(T, double)                                                                                                          \
  INSTANTIATE_RELAX(T, float, float)                                                                                                       \
  INSTANTIATE_RELAX(T, float, double)                                                                                                      \
  INSTANTIATE_RELAX(T, double, double)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
#undef INSTANTIATE_PRODUCTS
#undef INSTANTIATE_RELAX
} // namespace amgkit
