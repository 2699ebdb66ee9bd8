// On a plain host, where one thread takes row after row: an array with a place for each of C's columns, Gustavson's way (1978), takes the
// part of the hash tables. Sums have the same terms in the same order, and so the same bits.
#pragma once

#include <algorithm>
#include <type_traits>

namespace amgkit::spgemm
{
template <class Ex> inline constexpr bool by_marks = std::is_same_v<Ex, Host>;

// found(i, n, column) for the n-th column, n = 0, 1, ..., that comes up in row i of C, then end(i, how many there are), row after row.
template <class In, class Found, class End> PetscErrorCode for_marked_columns(Host &ex, const In &in, int rows, Found found, End end)
{
  Array<int, Host> last_row; // that has the column

  PetscFunctionBegin;
  PetscCall(last_row.allocate(ex, in.B.cols));
  int *last = last_row.data();
  std::fill_n(last, in.B.cols, -1);
  PetscCall(for_rows<1>(ex, rows, [=](auto team, std::int64_t i) {
    const int row = static_cast<int>(i);
    int n = 0;
    for_columns(team, in, in.row(i), [&](int column) {
      if (last[column] != row) found(row, n++, column);
      last[column] = row;
    });
    end(row, n);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// count[i] <- the number of columns of row i of C
template <class In> PetscErrorCode count_by_marks(Host &ex, const In &in, int rows, int *count)
{
  return for_marked_columns(
      ex, in, rows, [](int, int, int) {}, [=](int i, int n) { count[i] = n; });
}

// C's columns, in ascending order in each row
template <class In> PetscErrorCode list_by_marks(Host &ex, const In &in, int rows, const int *ptr, int *col)
{
  return for_marked_columns(
      ex, in, rows, [=](int i, int n, int column) { col[ptr[i] + n] = column; },
      [=](int i, int n) { std::sort(col + ptr[i], col + ptr[i] + n); });
}

// As ByColumn, by the place of each run of columns in the present row of C.
struct ByMarks {
  int *of_run;

  template <class Team, class Table> void prepare(const Team &, Table &, int n, const int *col, int run) const
  {
    for (int t = 0; t < n; t++) of_run[col[run * t] / run] = t;
  }
  int load(const CsrView<double> &B, int k, int) const { return B.col[k]; }
  template <class Table> int place(const Table &, int column) const { return of_run[column]; }
};
struct AllByMarks {
  int *of_run;

  ByMarks of(int) const { return {of_run}; }
};
} // namespace amgkit::spgemm
