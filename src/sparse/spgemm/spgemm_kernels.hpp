// A team per row of C: its columns first, found once a pattern (spgemm_columns.hpp); then, for each set of values, the sums of its products
// by column, with a hash table of the columns. A step is one row of B, whose columns differ: its lanes write different sums, and steps
// follow each other in order, so that no sum depends on the schedule.
//
// On a plain host an array takes the part of the tables (spgemm_marks.hpp). The space Debug has the tables.
//
// Where B comes in runs, columns and entries below are runs, until C is written.
#include "sparse/rows/block_patterns.hpp"
#include "sparse/spgemm/spgemm_backends.hpp"
#include "sparse/spgemm/spgemm_columns.hpp"
#include "sparse/spgemm/spgemm_given.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"
#include "sparse/spgemm/spgemm_marks.hpp"
#include "sparse/spgemm/spgemm_weights.hpp"

#include <type_traits>

namespace amgkit
{
namespace spgemm
{
// of those with sums for runs: 48 KiB of scratch hold it
constexpr int largest_with_sums(int run) { return run > 1 ? largest - 1 : largest; }

// How many columns, or runs, table t of a plan holds with their sums.
template <class Ex> int most_with_sums(const SpgemmPlan<Ex> &plan, int t)
{
  return plan.rows > 1 ? block_columns_of(t) : columns_of(std::min(t, largest_with_sums(plan.run)));
}

struct MostSums {
  int of[tables]; // in a table of each size
};

// Which rows of C go to which table with sums, by their lengths, each entry of which stands for so many sums. *nnz: the entries. Where they
// are more than 2^31 - 1, ptr has wrapped around, and there are no lists.
template <class Ex> PetscErrorCode sort_rows(Ex &ex, int rows, const int *ptr, int each, SpgemmPlan<Ex> &plan, std::int64_t *nnz)
{
  const int length = most_with_sums(plan, largest);
  MostSums most;
  RowsOfTables counts{};

  PetscFunctionBegin;
  PetscCall(plan.row.allocate(ex, rows));
  for (int t = 0; t < tables; t++) most.of[t] = most_with_sums(plan, t);
  PetscCall(list_by_table(
      ex, rows,
      [=] AMGKIT_FN(std::int64_t i) {
        const int sums = (ptr[i + 1] - ptr[i]) * each;
        int t = 0;
        while (t < tables && sums > most.of[t]) t++;
        return sums > 0 ? t : done;
      },
      [] AMGKIT_FN(std::int64_t) { return false; },
      [=] AMGKIT_FN(std::int64_t i) { return std::int64_t{static_cast<unsigned>(ptr[i + 1]) - static_cast<unsigned>(ptr[i])}; },
      plan.row.data(), &counts));
  *nnz = counts.numbers[total_number];
  if (*nnz > INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  for (int t = 0; t <= tables; t++) plan.begin[t + 1] = plan.begin[t] + counts.of[t];
  const std::int64_t longs = plan.begin[tables + 1] - plan.begin[tables];
  if (longs == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(plan.window.allocate(ex, longs + 1));
  const int *row = plan.row.data() + plan.begin[tables];
  int *window = plan.window.data();
  PetscCall(for_each(ex, longs, [=] AMGKIT_FN(std::int64_t l) { window[l] = ((ptr[row[l] + 1] - ptr[row[l]]) * each - 1) / length + 1; }));
  PetscCall(exclusive_scan(ex, longs, window, &plan.windows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The factors' entries stand for blocks, plan.rows x plan.inner those of the left one, plan.inner x run those of B; plan.run columns, or 1,
// are to be summed together. On a plain host, C's values too, if they are at most most_values, which must be 0 where there are runs or
// blocks.
template <class In, class Ex>
PetscErrorCode symbolic(Ex &ex, const SpgemmOptions &options, const In &in, int run, [[maybe_unused]] std::int64_t most_values,
                        const GivenRows &given, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  Array<int, Ex> weights, offsets, columns;
  RowColumns<Ex> found;
  const CsrView<double> &left = left_factor(in);
  const int rows = left.rows;
  std::int64_t nnz = 0;

  PetscFunctionBegin;
  PetscCall(offsets.allocate(ex, std::int64_t{rows} + 1));
  int *ptr = offsets.data();
  PetscCall(weigh_columns(ex, in, weights));
  PetscCall(weigh_rows(ex, left, weights.data(), ptr));
  weights.release();
  if constexpr (Ex::one_by_one) {
    plan.products = std::accumulate(ptr, ptr + rows, std::int64_t{0});
    PetscCall(list_by_marks(ex, in, rows, most_values, given, ptr, columns, C.val, &nnz));
  } else {
    PetscCall(found.count(ex, options, in, rows, most_with_sums(plan, largest) * plan.run / run, ptr, &plan.products));
    PetscCall(found.leave(ex, given));
    PetscCall(count_given(ex, given, ptr));
    PetscCall(exclusive_scan(ex, rows, ptr, nullptr));
  }
  plan.products *= std::int64_t{plan.rows} * plan.inner * run;
  // where there are more, list_by_marks() has not completed ptr
  if (nnz <= INT32_MAX) PetscCall(sort_rows(ex, rows, ptr, run / plan.run, plan, &nnz));
  PetscCheck(nnz * plan.rows * run <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  if constexpr (!Ex::one_by_one) {
    PetscCall(columns.allocate(ex, nnz));
    PetscCall(found.write(ex, options, in, plan, ptr, columns.data()));
    PetscCall(put_given(ex, given, 0, rows, given.M.col, ptr, columns.data()));
    found = {};
  }
  if (plan.rows == 1 && run == 1) {
    C.ptr = std::move(offsets);
    C.col = std::move(columns);
  } else {
    PetscCall(write_blocks(ex, plan.rows, run, offsets, columns, C));
  }
  if (options.with_values && C.val.size() < C.col.size()) PetscCall(C.val.allocate(ex, C.col.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// val[t] <- the sum at column col[t], for the n ascending runs of M columns that the table holds
template <int M, class Team, class In, class Columns, class Places, class Table>
AMGKIT_FN void sum_products(const Team &team, const In &in, const Segment &left, const Columns &columns, const Places &places, Table &table,
                            int n, const int *col, double *val)
{
  for (int t : team.share(0, n)) {
    for (int c = 0; c < M; c++) table.sum[c][t] = 0;
  }
  places.prepare(team, table, n, col, M);
  for_products<M>(team, in, left, columns, places, [&](const Product<M> &product) {
    const int place = places.place(table, product.where);
    if (place < 0) return;
    for (int c = 0; c < M; c++) table.sum[c][place] += product.value[c];
  });
  team.sync();
  for (int t : team.share(0, M * n)) val[t] = table.sum[t % M][t / M];
}

// Of a lane, and those of its neighbours in other banks.
template <int Columns> struct LaneSums {
  double of[Columns + 1];
};

// Of short rows whose entries have one product each, that of A's entry k noted in place[k]. A lane a row.
template <int Columns, class Ex>
PetscErrorCode sum_single_short(Ex &ex, const TwoFactors &in, const unsigned char *place, const int *row, std::int64_t n,
                                const SpgemmRows &C)
{
  const int *ptr = C.ptr;
  double *val = C.val;
  return for_rows_with<1, LaneSums<Columns>>(ex, n, [=] AMGKIT_FN(auto, std::int64_t l, auto &sums) {
    const int i = row[l], begin = ptr[i], length = ptr[i + 1] - begin;
    const Segment left = in.row(i);
    for (int t = 0; t < length; t++) sums.of[t] = 0;
    for (int k = left.begin; k < left.end; k++) sums.of[place[k]] += in.A.val[k] * in.B.val[in.A.col[k]];
    for (int t = 0; t < length; t++) val[begin + t] = sums.of[t];
  });
}

// Of any.
template <int Lanes, class Table, class Ex>
PetscErrorCode sum_single(Ex &ex, const TwoFactors &in, const unsigned char *place, const int *row, std::int64_t n, const SpgemmRows &C)
{
  const int *ptr = C.ptr;
  double *val = C.val;
  return for_rows_with<Lanes, Table>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int i = row[l], begin = ptr[i], length = ptr[i + 1] - begin;
    team.sum_in_order(
        1, [&](int) { return in.row(i); },
        [&](int, int k) {
          return Term{place[k], in.A.val[k] * in.B.val[in.A.col[k]]};
        },
        length, table.sum[0]);
    team.sync();
    for (int t : team.share(0, length)) val[begin + t] = table.sum[0][t];
  });
}

template <int Lanes, int M, class Table, class In, class Places, class Ex>
PetscErrorCode sum_rows(Ex &ex, const In &in, const Places &places, const int *row, std::int64_t n, const SpgemmRows &C)
{
  const int *ptr = C.ptr, *col = C.col;
  double *val = C.val;
  return for_rows_with<Lanes, Table>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int i = row[l], begin = ptr[i];
    sum_products<M>(team, in, in.row(i), WholeRows{}, places.of(i), table, (ptr[i + 1] - begin) / M, col + begin, val + begin);
  });
}

template <int T, int M, class Ex>
PetscErrorCode sum_noted_rows(Ex &ex, const TwoFactors &in, const SpgemmPlan<Ex> &plan, const int *row, std::int64_t n, const SpgemmRows &C)
{
  const AllAsNoted places{plan.first.data(), plan.place.data()};

  if constexpr (M == 1) {
    if constexpr (T == 0) {
      if (plan.one_each && in.A.average() <= 12) return sum_single_short<columns_of(T)>(ex, in, plan.place.data(), row, n, C);
    }
    if (plan.one_each) return sum_single<32, RunSums<columns_of(T), 1>>(ex, in, plan.place.data(), row, n, C);
  }
  return with_lanes_for_list<Ex, RunSums<columns_of(T), M>>(n, in.B.average(), [&](auto lanes) {
    return sum_rows<decltype(lanes)::value, M, RunSums<columns_of(T), M>>(ex, in, places, row, n, C);
  });
}

// The rows that are longer than a table: every window of their runs goes through all steps of the row, and takes what belongs to it.
template <int M, class In, class Ex>
PetscErrorCode sum_windows(Ex &ex, const In &in, const SpgemmPlan<Ex> &plan, const SpgemmPart &part, const SpgemmRows &C)
{
  const std::int64_t first = part.begin_window;
  constexpr int last = largest_with_sums(M), length = columns_of(last);
  const int *ptr = C.ptr, *col = C.col, *row = plan.row.data() + plan.begin[tables], *window = plan.window.data();
  const int longs = static_cast<int>(plan.begin[tables + 1] - plan.begin[tables]);
  double *val = C.val;
  return for_rows_with<32, KeyedSums<last, M>>(ex, part.end_window - first, [=] AMGKIT_FN(auto team, std::int64_t nth, auto &table) {
    const std::int64_t w = first + nth;
    const int l = piece_of(window, longs, w), i = row[l];
    const int begin = ptr[i] + (static_cast<int>(w) - window[l]) * length * M, left = (ptr[i + 1] - begin) / M;
    const int n = left < length ? left : length;
    const Window columns{col[begin] / M, col[begin + M * (n - 1)] / M};
    sum_products<M>(team, in, in.row(i), columns, ByColumn{}, table, n, col + begin, val + begin);
  });
}

// C's ptr counts all of its rows, whichever the part has.
template <int M, class In, class Ex>
PetscErrorCode numeric(Ex &ex, const In &in, const SpgemmPlan<Ex> &plan, const SpgemmPart &part, const SpgemmRows &C)
{
  Array<int, Ex> marks;

  PetscFunctionBegin;
  if constexpr (Ex::one_by_one) PetscCall(marks.allocate(ex, in.B.cols));
  int *mark = marks.data();
  PetscCall(for_sizes([&](auto size) {
    constexpr int T = decltype(size)::value;
    const int *row = plan.row.data() + part.begin_of[T];
    const std::int64_t n = part.end_of[T] - part.begin_of[T];
    if constexpr (T > largest_with_sums(M))
      return PETSC_SUCCESS;
    else {
      if constexpr (std::is_same_v<In, TwoFactors> && T < noted_tables) {
        if (plan.noted()) return sum_noted_rows<T, M>(ex, in, plan, row, n, C);
      }
      if constexpr (Ex::one_by_one) return sum_rows<1, M, RunSums<columns_of(T), M>>(ex, in, AllByMarks{mark}, row, n, C);
      return with_lanes_for_list<Ex, KeyedSums<T, M>>(n, in.B.average(), [&](auto lanes) {
        return sum_rows<decltype(lanes)::value, M, KeyedSums<T, M>>(ex, in, AllByColumn{}, row, n, C);
      });
    }
  }));
  PetscCall(sum_windows<M>(ex, in, plan, part, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Lists of few rows are joined; they then no longer ascend. Where places are noted, a row stays in a list that has them.
template <class Ex> SpgemmPart all_of(const SpgemmPlan<Ex> &plan)
{
  SpgemmPart part;
  std::int64_t begin[tables + 2];
  std::copy(std::begin(plan.begin), std::end(plan.begin), begin);
  join_lists_of_few<Ex>(plan.noted() ? noted_tables : tables, begin);
  for (int t = 0; t <= tables; t++) {
    part.begin_of[t] = begin[t];
    part.end_of[t] = begin[t + 1];
  }
  part.end_window = plan.windows;
  return part;
}
} // namespace spgemm

template <class Ex> PetscErrorCode find_parts(Ex &ex, const SpgemmPlan<Ex> &plan, std::vector<SpgemmPart> &parts)
{
  constexpr int lists = SpgemmPart::lists, each = lists + 1; // the first place of a row in each list, and its first window
  std::vector<int> ends, begins(plan.begin, plan.begin + lists + 1), found;
  Array<int, Ex> of_part, of_list, places;

  PetscFunctionBegin;
  for (const SpgemmPart &part : parts) ends.insert(ends.end(), {part.first, part.end});
  PetscCall(upload(ex, ends, of_part));
  PetscCall(upload(ex, begins, of_list));
  PetscCall(places.allocate(ex, of_part.size() * each));
  const int *row = plan.row.data(), *window = plan.window.data(), *wanted = of_part.data(), *begin = of_list.data();
  int *place = places.data();
  PetscCall(for_each(ex, of_part.size(), [=] AMGKIT_FN(std::int64_t e) {
    int *here = place + e * each;
    for (int t = 0; t < lists; t++) here[t] = lower_bound(row, begin[t], begin[t + 1], wanted[e]);
    here[lists] = window ? window[here[lists - 1] - begin[lists - 1]] : 0;
  }));
  PetscCall(download(ex, places.data(), places.size(), found));
  const int *at = found.data();
  for (SpgemmPart &part : parts) {
    for (int t = 0; t < lists; t++) {
      part.begin_of[t] = at[t];
      part.end_of[t] = at[each + t];
    }
    part.begin_window = at[lists];
    part.end_window = at[each + lists];
    at += std::ptrdiff_t{2} * each;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// The patterns of blocks of A and of plan.runs, and plan.rows, where both factors consist of such blocks.
template <class Ex>
PetscErrorCode look_for_blocks(Ex &ex, const SpgemmOptions &options, const CsrView<double> &A, const CsrView<double> &B,
                               Csr<double, Ex> &blocks, SpgemmPlan<Ex> &plan)
{
  bool whole = false;

  PetscFunctionBegin;
  if (!spgemm::is_block_shape(options.rows, options.inner, options.run)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(find_blocks(ex, A, options.rows, options.inner, blocks, &whole));
  if (whole) PetscCall(find_blocks(ex, B, options.inner, options.run, plan.runs, &whole));
  plan.incomplete = !whole;
  if (!whole) PetscFunctionReturn(PETSC_SUCCESS);
  plan.rows = options.rows;
  plan.inner = options.inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode native_symbolic(Ex &ex, const SpgemmOptions &options, CsrView<double> A, CsrView<double> B, std::int64_t most_values,
                               const GivenRows &given, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  const int run = options.run;
  Csr<double, Ex> blocks;

  PetscFunctionBegin;
  PetscCall(look_for_blocks(ex, options, A, B, blocks, plan));
  if (plan.rows > 1) {
    plan.run = run;
    PetscFunctionReturn(spgemm::symbolic(ex, options, spgemm::TwoFactors{blocks.view(), plan.runs.view()}, run, 0, {}, C, plan));
  }
  blocks = {};
  if (run == 1) PetscFunctionReturn(spgemm::symbolic(ex, options, spgemm::TwoFactors{A, B}, 1, most_values, given, C, plan));
  PetscCall(find_runs(ex, B, run, plan.runs));
  plan.run = run == 2 || run == 3 || run == 6 ? run : 1;
  PetscCall(spgemm::symbolic(ex, options, spgemm::TwoFactors{A, plan.runs.view()}, run, 0, {}, C, plan));
  if (plan.run == 1) plan.runs = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex>
PetscErrorCode native_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, const SpgemmPart *some, CsrView<double> A, CsrView<double> B,
                              const SpgemmRows &C)
{
  if (plan.rows > 1) {
    PetscCheck(!some, PETSC_COMM_SELF, PETSC_ERR_SUP, "Blocks are summed all at once");
    return native_block_numeric(ex, plan, A, B, C);
  }
  const SpgemmPart part = some ? *some : spgemm::all_of(plan);
  spgemm::TwoFactors by_runs{A, plan.runs.view()};
  by_runs.B.val = B.val;
  switch (plan.run) {
  case 2:
    return spgemm::numeric<2>(ex, by_runs, plan, part, C);
  case 3:
    return spgemm::numeric<3>(ex, by_runs, plan, part, C);
  case 6:
    return spgemm::numeric<6>(ex, by_runs, plan, part, C);
  default:
    return spgemm::numeric<1>(ex, spgemm::TwoFactors{A, B}, plan, part, C);
  }
}
// The pattern alone by runs.
template <class Ex>
PetscErrorCode native_symbolic(Ex &ex, const SpgemmOptions &options, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                               Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  Csr<double, Ex> runs;

  PetscFunctionBegin;
  if (options.run > 1) PetscCall(find_runs(ex, P, options.run, runs));
  PetscCall(spgemm::symbolic(ex, options, spgemm::ThreeFactors{R, A, options.run > 1 ? runs.view() : P}, options.run, 0, {}, C, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex>
PetscErrorCode native_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                              const SpgemmRows &C)
{
  return spgemm::numeric<1>(ex, spgemm::ThreeFactors{R, A, P}, plan, spgemm::all_of(plan), C);
}

template <class Ex> PetscErrorCode spgemm_put_values(Ex &ex, const GivenRows &given, int first, int end, const int *ptr, double *val)
{
  return spgemm::put_given(ex, given, first, end, given.M.val, ptr, val);
}

using Space = AMGKIT_SPACE;
using View = CsrView<double>;
template PetscErrorCode native_symbolic(Space &, const SpgemmOptions &, View, View, std::int64_t, const GivenRows &, Csr<double, Space> &,
                                        SpgemmPlan<Space> &);
AMGKIT_INSTANTIATE(spgemm_put_values)
template PetscErrorCode native_symbolic(Space &, const SpgemmOptions &, View, View, View, Csr<double, Space> &, SpgemmPlan<Space> &);
AMGKIT_INSTANTIATE(find_parts)
template PetscErrorCode native_numeric(Space &, const SpgemmPlan<Space> &, const SpgemmPart *, View, View, const SpgemmRows &);
template PetscErrorCode native_numeric(Space &, const SpgemmPlan<Space> &, View, View, View, const SpgemmRows &);
} // namespace amgkit
