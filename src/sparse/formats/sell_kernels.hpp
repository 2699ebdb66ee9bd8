#include "sparse/formats/sell_products.hpp"
#include "sparse/formats/sell_starts.hpp"
#include "sparse/formats/sell_values.hpp"

namespace amgkit
{
// Of plain slices, base and low of each position; the number of positions of the wide ones in width, 0 for all others.
template <class Ex, class Rows>
PetscErrorCode sell_columns(Ex &ex, CsrView<double> A, Rows rows, const SellStart *start, int *base, SellPair<std::uint16_t> *low,
                            int *width)
{
  const std::int64_t slices = sell_slices(A.rows);
  const int shares = teams_of_slice(slices, A.average());

  PetscFunctionBegin;
  if (shares > 1) PetscCall(memory_zero(ex, width, sizeof(int) * static_cast<std::size_t>(slices)));
  PetscCall(for_rows_with<sell_threads, SliceTile<int>>(ex, slices * shares, [=] AMGKIT_FN(auto team, std::int64_t nth, auto &tile) {
    const int s = static_cast<int>(nth) / shares; // all slices' teams are fewer than 2^31: see teams_of_slice()
    const SellStart from = start[s];
    const int positions = start[s + 1].low - from.low;
    bool wide = false;
    for (int p = (static_cast<int>(nth) - s * shares) * tile_positions; p < positions; p += shares * tile_positions) {
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
        least = -team.max(-least);
        wide = wide || team.max(most) - least > UINT16_MAX;
        team.once([&] { base[from.pair + p + j] = least; });
        for (int t : team.share(0, sell_threads)) {
          SellPair<std::uint16_t> lower;
          for (int h = 0; h < 2; h++) {
            const int column = tile.of[j][t + h * sell_threads];
            lower.of[h] = static_cast<std::uint16_t>(column < 0 ? 0 : (column - least) & UINT16_MAX);
          }
          low[(std::int64_t{from.low} + p + j) * sell_threads + t] = lower;
        }
      }
    }
    team.once([&] {
      if (wide || shares == 1) atomic_store(width + s, wide ? positions : 0); // other teams of the slice may find the same
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The upper halves of wide slices.
template <class Ex, class Rows>
PetscErrorCode sell_high(Ex &ex, CsrView<double> A, Rows rows, const SellStart *start, const int *base, const int *high_start,
                         SellPair<std::uint16_t> *high)
{
  return for_rows_with<sell_threads, SliceTile<int>>(ex, sell_slices(A.rows), [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const int positions = high_start[s + 1] - high_start[s];
    for (int p = 0; p < positions; p += tile_positions) {
      read_tile(team, tile, [&](int r, int j) {
        const RowRange row = row_range(A, rows.row(s, r));
        return p + j < row.length ? A.col[row.begin + p + j] - base[start[s].pair + p + j] : 0;
      });
      for (int e : team.share(0, tile_positions * sell_threads)) {
        const int j = e / sell_threads, t = e % sell_threads;
        if (p + j >= positions) continue;
        SellPair<std::uint16_t> upper;
        for (int h = 0; h < 2; h++) upper.of[h] = static_cast<std::uint16_t>(tile.of[j][t + h * sell_threads] >> 16);
        high[(std::int64_t{high_start[s]} + p + j) * sell_threads + t] = upper;
      }
    }
  });
}

// Of stencil slices offsets and masks, and the lists of constant ones.
template <class Ex>
PetscErrorCode fill_offsets(Ex &ex, CsrView<double> A, const int *owner, const SellStart *start, int *base, SellMask *mask,
                            SellConstant *constant, double *exact)
{
  return for_rows_with<sell_threads, OffsetTile>(ex, sell_slices(A.rows), [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const SellStart from = start[s];
    const bool constants = from.constant >= 0;
    if (constants ? owner[s] != s : from.mask == start[s + 1].mask) return;
    int p = 0;
    OffsetRow row[rows_of_lane];
    begin_rows(team, A, s, row);
    for_offsets(
        team, tile, A, s, row,
        [&](int offset, const SellMask &rows) {
          if (constants) return true;
          team.once([&] {
            base[from.pair + p] = offset;
            mask[from.mask + p] = rows;
          });
          p++;
          return true;
        },
        [=] { return constants; },
        [&](int offset, double value, const SellMask &rows) {
          p++;
          team.once([&] {
            constant[from.constant + p] = {offset, static_cast<float>(value), rows};
            exact[from.constant + p] = value;
          });
        });
    if (!constants) return;
    team.once([&] {
      constant[from.constant] = {p, 0, {{0, 0}}};
      exact[from.constant] = 0;
    });
  });
}
template <class Ex> PetscErrorCode sell_offsets(Ex &ex, CsrView<double> A, const SellStart &all, const int *owner, SellPattern<Ex> &out)
{
  PetscFunctionBegin;
  PetscCall(out.mask.allocate(ex, all.mask));
  PetscCall(allocate_each(ex, all.constant, out.constant, out.exact));
  PetscCall(fill_offsets(ex, A, owner, out.start.data(), out.base.data(), out.mask.data(), out.constant.data(), out.exact.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What plain slices have.
template <class Ex> PetscErrorCode plain_slices(Ex &ex, CsrView<double> A, std::int64_t positions, SellPattern<Ex> &out)
{
  const std::int64_t slices = sell_slices(A.rows);
  std::int64_t high = 0;

  PetscFunctionBegin;
  PetscCall(out.low.allocate(ex, positions * sell_threads));
  PetscCall(out.high_start.allocate(ex, slices + 1));
  PetscCall(with_rows(out.order.data(), [&](auto rows) {
    return sell_columns(ex, A, rows, out.start.data(), out.base.data(), out.low.data(), out.high_start.data());
  }));
  PetscCall(exclusive_scan(ex, slices, out.high_start.data(), &high));
  if (high == 0) {
    out.high_start.release();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(out.high.allocate(ex, high * sell_threads));
  PetscCall(with_rows(out.order.data(), [&](auto rows) {
    return sell_high(ex, A, rows, out.start.data(), out.base.data(), out.high_start.data(), out.high.data());
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode sell_plan(Ex &ex, CsrView<double> A, SellForm form, SellPlan<Ex> &plan)
{
  PetscFunctionBegin;
  plan = SellPlan<Ex>{};
  plan.form = form;
  if (form == SellForm::by_bytes) {
    PetscCall(cheapest_starts(ex, A, kinds_of_rows, plan.start, plan.owner, &plan.all));
  } else if (form == SellForm::of_nodes) {
    PetscCall(cheapest_starts(ex, A, kinds_of_nodes, plan.start, plan.owner, &plan.all));
    const bool mixed = plan.all.constant > 0 && plan.all.pair > 0;
    if (mixed) PetscCall(cheapest_starts(ex, A, kinds_beside_plain, plan.start, plan.owner, &plan.all));
  } else {
    PetscCall(plain_starts(ex, A, plan.start, &plan.all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode planned_sell_pattern(Ex &ex, CsrView<double> A, SellPlan<Ex> &&plan, SellPattern<Ex> &out, bool *fits,
                                    Array<int, Ex> *owners)
{
  constexpr double most_padding = 1.5;
  const std::int64_t slices = sell_slices(A.rows);
  const SellForm form = plan.form;
  SellStart all = plan.all;

  PetscFunctionBegin;
  out = SellPattern<Ex>{};
  out.start = std::move(plan.start);
  if (form == SellForm::sorted || form == SellForm::by_bytes) PetscCall(sort_where_it_pays(ex, A, out, &all));
  // the last slice may be short: that is no uneven matrix
  const double full = slices > 0 ? static_cast<double>(A.rows) / static_cast<double>(slices) : 0;
  *fits = full * bytes_of(all) <= most_padding * plain_bytes * static_cast<double>(A.nnz);
  if (!*fits) {
    out = SellPattern<Ex>{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  out.rows = A.rows;
  PetscCall(out.base.allocate(ex, all.pair));
  if (all.low > 0) PetscCall(plain_slices(ex, A, all.low, out));
  if (Ex::on_device) out.lanes = lanes_of_rows(slices * sell_threads, 2 * A.average() / sell_batch); // the longest rows of a slice count
  if (all.mask + all.constant > 0) PetscCall(sell_offsets(ex, A, all, plan.owner.data(), out));
  if (owners) *owners = std::move(plan.owner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *losses: lost_value, lost_digits, of all slices; nullptr: not asked for
template <class Ex, class Rows, class Read, class T>
PetscErrorCode sell_values(Ex &ex, CsrView<double> A, Rows rows, SellValues values, SellView<Read> out, SellPair<T> *val, unsigned *losses)
{
  const int shares = teams_of_slice(sell_slices(A.rows), A.average());
  const auto fill = [=] AMGKIT_FN(auto team, std::int64_t nth, auto &tile) {
    const int s = static_cast<int>(nth) / shares;
    const TeamOfSlice mine{static_cast<int>(nth) - s * shares, shares};
    const SellStart from = out.start[s], to = out.start[s + 1];
    unsigned lost = 0;
    if (from.low < to.low)
      lost = plain_values(team, tile, A, rows, s, from, to.pair - from.pair, mine, val);
    else if (mine.number == 0 && from.mask < to.mask)
      lost = stencil_values(team, A, out, s, to.pair - from.pair, val);
    else if (mine.number == 0 && from.constant >= 0)
      lost = constants_lost(team, A, values, out, s);
    if (lost != 0 && losses && (lost & ~atomic_load(losses)) != 0) atomic_or(losses, lost);
  };
  return for_rows_with<sell_threads, SliceTile<T>>(ex, sell_slices(A.rows) * shares, fill);
}

template <class Ex, class T> PetscErrorCode sell_fill(Ex &ex, CsrView<double> A, SellValues values, Sell<T, Ex> &out, bool *kept)
{
  const bool may_be_lost = std::is_same_v<T, float> || out.constant.size() > 0;
  Array<unsigned, Ex> losses;
  unsigned lost = 0;

  PetscFunctionBegin;
  if (out.val.size() == 0) PetscCall(out.val.allocate(ex, out.base.size() * sell_threads));
  if (may_be_lost) {
    PetscCall(losses.allocate(ex, 1));
    PetscCall(memory_zero(ex, losses.data(), losses.bytes()));
  }
  PetscCall(
      with_rows(out.order.data(), [&](auto rows) { return sell_values(ex, A, rows, values, out.view(), out.val.data(), losses.data()); }));
  if (may_be_lost) PetscCall(memory_to_host(ex, &lost, losses.data(), losses.bytes()));
  *kept = (lost & lost_value) == 0;
  out.rounded = (lost & lost_digits) != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode sell_fill_rests(Ex &ex, CsrView<double> A, Sell<float, Ex> &out)
{
  PetscFunctionBegin;
  if (out.rest.size() == 0) PetscCall(out.rest.allocate(ex, out.val.size()));
  PetscCall(with_rows(out.order.data(), [&](auto rows) {
    return sell_values(ex, A, rows, SellValues::known, out.view(), out.rest.data(), static_cast<unsigned *>(nullptr));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// to[k] <- plain(s, position, row of the slice) for the entries k of plain slices, others(s, position, row) for those of others
template <class Ex, class Rows, class T, class U, class Plain, class Others>
PetscErrorCode scatter_entries(Ex &ex, Rows rows, SellView<T> A, const int *ptr, U *to, Plain plain, Others others)
{
  return for_rows_with<sell_threads, SliceTile<U>>(ex, sell_slices(A.rows), [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const SellStart from = A.start[s], end = A.start[s + 1];
    const int positions = end.low - from.low;
    for (int p = 0; p < positions; p += tile_positions) {
      for (int e : team.share(0, tile_positions * sell_rows)) {
        const int j = e / sell_rows, r = e % sell_rows;
        if (p + j < positions) tile.of[j][r] = plain(s, p + j, r);
      }
      team.sync();
      for (int e : team.share(0, tile_positions * sell_rows)) {
        const std::int64_t i = rows.row(s, e / tile_positions);
        const int j = p + e % tile_positions;
        if (i < A.rows && j < ptr[i + 1] - ptr[i]) to[ptr[i] + j] = tile.of[e % tile_positions][e / tile_positions];
      }
      team.sync();
    }
    const int offsets = from.constant >= 0 ? A.constant[from.constant].offset : end.mask - from.mask;
    for (int r : team.share(0, offsets > 0 ? sell_rows : 0)) {
      if (s * sell_rows + r >= A.rows) continue;
      for (int p = 0, k = ptr[s * sell_rows + r]; p < offsets; p++) {
        const SellMask &has = from.constant >= 0 ? A.constant[from.constant + 1 + p].mask : A.mask[from.mask + p];
        if (has_row(has, r)) to[k++] = others(s, p, r);
      }
    }
  });
}

template <class Ex, class Rows, class T>
PetscErrorCode entries_of_rows(Ex &ex, Rows rows, SellView<T> A, const int *ptr, int *col, double *val)
{
  const auto value = [=] AMGKIT_FN(std::int64_t s, int p, int r) {
    const SellStart from = A.start[s];
    if (from.constant >= 0) return static_cast<double>(constant_at(A, from.constant + 1 + p).value.of[0]);
    return static_cast<double>(A.val[(std::int64_t{from.pair} + p) * sell_threads + r % sell_threads].of[r / sell_threads]);
  };

  PetscFunctionBegin;
  PetscCall(scatter_entries(
      ex, rows, A, ptr, col,
      [=] AMGKIT_FN(std::int64_t s, int p, int r) {
        const int t = r % sell_threads, h = r / sell_threads, high = A.high_start ? A.high_start[s] : 0;
        const bool wide = A.high_start && high < A.high_start[s + 1];
        const int low = A.low[(std::int64_t{A.start[s].low} + p) * sell_threads + t].of[h];
        return A.base[A.start[s].pair + p] + (wide ? A.high[(std::int64_t{high} + p) * sell_threads + t].of[h] << 16 | low : low);
      },
      [=] AMGKIT_FN(std::int64_t s, int p, int r) {
        const SellStart from = A.start[s];
        const int offset = from.constant >= 0 ? A.constant[from.constant + 1 + p].offset : A.base[from.pair + p];
        return static_cast<int>(s * sell_rows) + r + offset;
      }));
  if (val) PetscCall(scatter_entries(ex, rows, A, ptr, val, value, value));
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
  const std::int64_t threads = sell_slices(A.rows) * sell_threads;
  if (A.constant && !A.base)
    return for_each<constant_registers<V>>(ex, threads, [=] AMGKIT_FN(std::int64_t t) { store_constant_products(A, t, x, y, f); });
  if (A.lanes > 1)
    return for_rows_of(ex, threads, A.lanes, [=] AMGKIT_FN(auto team, std::int64_t t) { store_products(team, rows, A, t, x, y, f); });
  return for_each<sell_registers<T>>(ex, threads, [=] AMGKIT_FN(std::int64_t t) { store_products(Alone{}, rows, A, t, x, y, f); });
}

template <class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, SellView<T> A, const V *x, V *y)
{
  return with_rows(A.order, [&](auto rows) { return for_products(ex, rows, A, x, y, SellProduct<V>{}); });
}

template <int N, class Ex, class Rows, class T, class V>
PetscErrorCode for_summed_products(Ex &ex, Rows rows, SellView<T> A, const V *x, V *y, ProductSums<N, V> p)
{
  const std::int64_t threads = sell_slices(A.rows) * sell_threads;
  if (A.constant && !A.base)
    return sum_rows_into<N, constant_summed_registers<N, T, V>>(
        ex, threads, 1, [=] AMGKIT_FN(auto, std::int64_t t) { return store_summed_constant_products(A, t, x, y, p); }, p.work, p.sums);
  return sum_rows_into<N, summed_registers<T, V>>(
      ex, threads, A.lanes, [=] AMGKIT_FN(auto team, std::int64_t t) { return store_summed_products(team, rows, A, t, x, y, p); }, p.work,
      p.sums);
}

template <int N, class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, SellView<T> A, const V *x, V *y, const ProductSums<N, V> &sums)
{
  return with_rows(A.order, [&](auto rows) { return for_summed_products(ex, rows, A, x, y, sums); });
}

template <class Ex, class T, class V> PetscErrorCode add_product(Ex &ex, SellView<T> A, const V *x, V *y)
{
  return with_rows(A.order, [&](auto rows) { return for_products(ex, rows, A, x, y, SellAdded<V>{y}); });
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
AMGKIT_INSTANTIATE(sell_plan)
AMGKIT_INSTANTIATE(planned_sell_pattern)
AMGKIT_INSTANTIATE(sell_fill_rests)
template PetscErrorCode spmv(Space &, SellView<LongFloat>, const float *, float *);
template PetscErrorCode spmv(Space &, SellView<LongFloat>, const float *, float *, const ProductSums<2, float> &);
#define INSTANTIATE_RELAX(T, D, V)                                                                                                         \
  template PetscErrorCode relax(Space &, SellView<T>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>, V *);
#define INSTANTIATE_PRODUCTS(T, V)                                                                                                         \
  template PetscErrorCode spmv(Space &, SellView<T>, const V *, V *);                                                                      \
  template PetscErrorCode spmv(Space &, SellView<T>, const V *, V *, const ProductSums<2, V> &);                                           \
  template PetscErrorCode spmv(Space &, SellView<T>, const V *, V *, const ProductSums<3, V> &);                                           \
  template PetscErrorCode spmv(Space &, SellView<T>, const V *, V *, const ProductSums<5, V> &);                                           \
  template PetscErrorCode add_product(Space &, SellView<T>, const V *, V *);                                                               \
  template PetscErrorCode residual(Space &, SellView<T>, const V *, const V *, V *);
#define INSTANTIATE(T)                                                                                                                     \
  template PetscErrorCode sell_entries(Space &, SellView<T>, const int *, int *, double *);                                                \
  template PetscErrorCode sell_fill(Space &, CsrView<double>, SellValues, Sell<T, Space> &, bool *);                                       \
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
