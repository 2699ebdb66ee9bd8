// The columns of the rows of C, found by teams with hash tables. A table holds each column of its row once.
//
// The tables grow fourfold from size to size. Products repeat columns, and the more so the more of them a row has: in the Galerkin products
// of grids and meshes, rows with 65 to 256 products have 1.3 to 12 of them to a column, rows with 257 to 1024 have 4 to 13. A row first
// tries the smallest table, if that has at least half as many slots as the row has products. Otherwise it tries the smallest table with at
// least an eighth as many. Where seven eighths of that are too few slots the next one is tried, and after the largest, bits
// (spgemm_bitmaps.hpp). Few rows that would try a table may try a larger one with others: see join_lists_of_few().
//
// Where a row's columns begin is known when all rows are counted. Until then they are kept, with a place for each slot of the table. Rows
// beyond SpgemmOptions::kept_bytes, or beyond the memory to spare, find their columns a second time. Each gigabyte of places saves
// about 1.6 ms of a setup on an H200: at 27-point 160³ with amgclassical the kernels take 3.1 ms in place of 4.5. Without a limit, 7-point
// 256³ took 2.6 GB more at the peak.
#pragma once
#include "sparse/spgemm/spgemm_bitmaps.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"
#include "sparse/spgemm/spgemm_lists.hpp"

#include <vector>

namespace amgkit::spgemm
{
// next[i] of a row i of C whose columns were found in a table of size t and are kept; of a row that is given. Smaller values:
// the size of table to try next, or done.
constexpr int kept_from(int t) { return done + 1 + t; }
constexpr int left_out = kept_from(tables);

// Where the columns of rows are kept that try a table of size t: those of the l-th at place[slots_of(t) l] and after, ascending. A row with
// more than `most` is not kept.
constexpr int most_of_kept = columns_of(tables - 1); // longer rows are not summed in tables
struct KeptRows {
  int most = 0; // at most most_of_kept
  int *place = nullptr;
};

// Collects row i's columns in the table; note(t, column) of the t-th one, of those beyond table.most, too, as long as t < slots. Returns
// whether there are more than table.most, for all lanes.
template <class Team, class Readers, class In, class Table, class Note>
AMGKIT_FN bool collect(const Team &team, const Readers &readers, const In &in, int i, Table &table, Note note)
{
  bool full = false;
  clear(team, table);
  team.once([&] { table.used = 0; });
  team.sync();
  for_columns(team, readers, in, in.row(i), [&](int column) {
    if (full) return;
    const Slot slot = insert(table, column);
    full = slot.at < 0;
    if (!slot.fresh) return;
    const int before = atomic_increment(&table.used);
    full = before >= table.most;
    note(before, column);
  });
  full = team.any(full);
  team.sync();
  return full;
}
template <class Team, class Readers, class In, class Table>
AMGKIT_FN bool collect_listed(const Team &team, const Readers &readers, const In &in, int i, Table &table)
{
  return collect(team, readers, in, i, table, [&](int t, int column) { table.list[t] = column; });
}

// count[i] <- number of columns of the n rows i = row[l] of C; or next[i] <- T + 1 where there are more than the table may hold.
template <int Lanes, int T, class Readers, class In, class Ex>
PetscErrorCode count_columns(Ex &ex, const Readers &readers, const In &in, const int *row, std::int64_t n, int *count, unsigned char *next)
{
  return for_rows_with<Lanes, CountedKeys<T>>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int i = row[l];
    const bool full = collect(team, readers, in, i, table, [](int, int) {});
    team.once([&] {
      count[i] = table.used;
      next[i] = static_cast<unsigned char>(full ? T + 1 : done);
    });
  });
}

// The same, and the columns are kept.
template <int Lanes, int T, class Readers, class In, class Ex>
PetscErrorCode keep_columns(Ex &ex, const Readers &readers, const In &in, const int *row, std::int64_t n, const KeptRows &to, int *count,
                            unsigned char *next)
{
  constexpr int kept_here = kept_from(T), most_kept = std::min(most_keys(slots_of(T)), most_of_kept);
  const KeptRows kept = to;
  using Table = ListedKeys<T, slots_of(T)>;
  return for_rows_with<Lanes, Table>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int i = row[l];
    const bool full = collect_listed(team, readers, in, i, table);
    const int columns = table.used;
    const bool keep = !full && columns <= kept.most;
    team.once([&] {
      count[i] = columns;
      next[i] = static_cast<unsigned char>(full ? T + 1 : keep ? kept_here : done);
    });
    if (!keep) return;
    team.template for_sorted<most_kept, Table::room>(columns, table.list,
                                                     [&](int t, int column) { kept.place[l * table.slots + t] = column; });
  });
}

// col[ptr[i], ...] <- the columns, ascending, of those of the n rows i = row[l] of C that are not kept. They fit the table.
template <int Lanes, int T, class Readers, class In, class Ex>
PetscErrorCode list_columns(Ex &ex, const Readers &readers, const In &in, const int *row, std::int64_t n, const unsigned char *next,
                            const int *ptr, int *col)
{
  using Table = ListedKeys<T, columns_of(T)>;
  return for_rows_with<Lanes, Table>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int i = row[l], begin = ptr[i];
    if (next[i] > done) return;
    collect_listed(team, readers, in, i, table);
    team.template for_sorted<Table::columns, Table::room>(ptr[i + 1] - begin, table.list,
                                                          [&](int t, int column) { col[begin + t] = column; });
  });
}

// The same of those that are kept, and were found in a table of size t.
template <class Ex>
PetscErrorCode copy_columns(Ex &ex, int t, const int *row, std::int64_t n, const KeptRows &from, const unsigned char *next, const int *ptr,
                            int *col)
{
  const KeptRows kept = from;
  const std::int64_t slots = slots_of(t);
  const int kept_here = kept_from(t);
  return for_rows(ex, n, static_cast<double>(slots) / 4, [=] AMGKIT_FN(auto team, std::int64_t l) {
    const int i = row[l], begin = ptr[i];
    if (next[i] != kept_here) return;
    for (int k : team.share(begin, ptr[i + 1])) col[k] = kept.place[l * slots + k - begin];
  });
}

// The columns of all rows of C: count(), then write().
template <class Ex> class RowColumns {
public:
  // count[i]: the products of row i of C -> its columns. *products: the sum of the former. most: columns of a row that fits the tables with
  // sums; others are written as bits. Each round tries a table with every row that is left; another round follows where one may have been
  // too small.
  template <class In>
  PetscErrorCode count(Ex &ex, const SpgemmOptions &options, const In &in, int rows, int most, int *count, std::int64_t *products)
  {
    constexpr int most_certain = most_keys(slots_of(0)); // of the smallest table; of the next one four times as many, and so on
    const int cols = in.B.cols;
    std::int64_t rows_left = rows;
    bool first = true, more = true;

    PetscFunctionBegin;
    PetscCheck(most <= most_of_kept, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No row with %d columns is kept", most);
    most_ = most;
    bytes_left_ = options.kept_bytes;
    PetscCall(nexts_.allocate(ex, rows));
    unsigned char *next = nexts_.data();
    PetscCall(choose_tables(ex, rows, cols, count, next));
    for (; more; first = false) {
      RowsOfTables counts{};
      Array<int, Ex> list;
      PetscCall(list.allocate(ex, rows_left));
      const int *row = list.data();
      PetscCall(list_by_table(
          ex, rows, [=] AMGKIT_FN(std::int64_t i) { return int{next[i]}; },
          [=] AMGKIT_FN(std::int64_t i) {
            return next[i] < tables && (!first || (count[i] < cols ? count[i] : cols) > most_certain << 2 * next[i]);
          },
          [=] AMGKIT_FN(std::int64_t i) { return std::int64_t{count[i]}; }, list.data(), &counts));
      if (first) *products = counts.numbers[total_number];
      more = counts.numbers[doubtful_rows] > 0;
      rows_left = counts.numbers[doubtful_rows] + counts.of[tables];
      const std::size_t kept_before = kept_.size();
      PetscCall(try_tables(ex, in, counts, row, count));
      row += std::accumulate(counts.of, counts.of + tables, std::int64_t{0});
      if (!more && counts.of[tables] > 0)
        PetscCall(for_slices(ex, in, row, counts.of[tables], options.work_bytes,
                             [&](const Slice &slice) { return count_slice(ex, slice, count); }));
      if (kept_.size() > kept_before) lists_.push_back(std::move(list));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // write() does not write these rows' columns; where they are long it writes those that were counted, which are some of them.
  PetscErrorCode leave(Ex &ex, const GivenRows &given)
  {
    const int *row = given.row;
    unsigned char *next = nexts_.data();
    return for_each(ex, given.n(), [=] AMGKIT_FN(std::int64_t l) { next[row[l]] = left_out; });
  }

  // col <- C's columns, ascending in each row, where the counts have become ptr, and plan has C's rows.
  template <class In>
  PetscErrorCode write(Ex &ex, const SpgemmOptions &options, const In &in, const SpgemmPlan<Ex> &plan, const int *ptr, int *col)
  {
    const int *row = plan.row.data();
    const unsigned char *next = nexts_.data();

    PetscFunctionBegin;
    for (Kept &kept : kept_) PetscCall(copy_columns(ex, kept.t, kept.row, kept.n(), {most_, kept.places.data()}, next, ptr, col));
    if (!all_kept_) {
      PetscCall(for_sizes([&](auto size) {
        constexpr int T = decltype(size)::value;
        const std::int64_t n = plan.begin[T + 1] - plan.begin[T];
        return with_readers_for_list<Ex, KeyedSums<T, 1>>(n, in.B.average(), [&](auto lanes, auto readers) {
          return list_columns<decltype(lanes)::value, T>(ex, readers, in, row + plan.begin[T], n, next, ptr, col);
        });
      }));
    }
    if (plan.windows > 0)
      PetscCall(for_slices(ex, in, row + plan.begin[tables], plan.begin[tables + 1] - plan.begin[tables], options.work_bytes,
                           [&](const Slice &slice) { return fill_slice(ex, slice, ptr, col); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  // The first n() rows of a list, row[l]. A row keeps its columns if they fit a table of size t and are at most most_.
  struct Kept {
    int t;
    const int *row;
    Array<int, Ex> places;

    std::int64_t n() const { return places.size() / slots_of(t); }
  };

  // row: the rows for table 0, then those for table 1, and so on
  template <class In> PetscErrorCode try_tables(Ex &ex, const In &in, const RowsOfTables &counts, const int *row, int *count)
  {
    std::int64_t begin[tables + 1] = {}, wanted = 0, bytes = 0;
    unsigned char *next = nexts_.data();

    PetscFunctionBegin;
    std::partial_sum(counts.of, counts.of + tables, begin + 1);
    join_lists_of_few<Ex>(tables, begin);
    for (int t = 0; t < tables; t++) wanted += (begin[t + 1] - begin[t]) * bytes_of_row(t);
    PetscCall(part_to_spare(ex, std::min(wanted, bytes_left_), &bytes));
    all_kept_ = all_kept_ && bytes == wanted;
    bytes_left_ -= bytes;
    PetscCall(for_sizes([&](auto size) {
      constexpr int T = decltype(size)::value;
      const std::int64_t n = begin[T + 1] - begin[T], first = std::min(n, bytes / bytes_of_row(T));
      Kept kept = {T, row + begin[T], {}};
      PetscFunctionBegin;
      bytes -= first * bytes_of_row(T);
      const PetscErrorCode status = first > 0 ? kept.places.allocate(ex, first * slots_of(T)) : PETSC_SUCCESS;
      if (status != PETSC_ERR_MEM) PetscCall(status);
      all_kept_ = all_kept_ && !status;
      PetscCall(with_readers_for_list<Ex, KeyedSums<T, 1>>(n, in.B.average(), [&](auto lanes, auto readers) {
        constexpr int L = decltype(lanes)::value;
        const std::int64_t k = kept.n();
        PetscFunctionBegin;
        PetscCall(keep_columns<L, T>(ex, readers, in, kept.row, k, {most_, kept.places.data()}, count, next));
        PetscCall(count_columns<L, T>(ex, readers, in, kept.row + k, n - k, count, next));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
      if (kept.places.size() > 0) kept_.push_back(std::move(kept));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static std::int64_t bytes_of_row(int t) { return slots_of(t) * static_cast<std::int64_t>(sizeof(int)); }

  int most_ = 0;
  std::int64_t bytes_left_ = 0; // for columns that are kept
  Array<unsigned char, Ex> nexts_;
  std::vector<Array<int, Ex>> lists_; // that kept_ points into
  std::vector<Kept> kept_;
  bool all_kept_ = true; // all rows with at most most_ columns
};
} // namespace amgkit::spgemm
