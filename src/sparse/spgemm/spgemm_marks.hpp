// On a plain host, where one thread takes row after row: an array with a place for each of C's columns, Gustavson's way (1978), takes the
// part of the hash tables. Sums have the same terms in the same order, and so the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <climits>

namespace amgkit::spgemm
{
// Sorts distinct columns. Where there are few, the place of each is the number of smaller ones: no branch, and vectors of four.
inline void sort_columns(int *col, int n)
{
  constexpr int few = 64, vector = 4;
  std::array<int, few> unsorted;
  if (n > few) {
    std::sort(col, col + n);
    return;
  }
  const int padded = (n + vector - 1) / vector * vector;
  std::copy_n(col, n, unsorted.data());
  std::fill(unsorted.data() + n, unsorted.data() + padded, INT_MAX);
  for (int j = 0; j < n; j++) {
    const int column = unsorted[j];
    int smaller = 0;
    for (int k = 0; k < padded; k++) smaller += unsorted[k] < column;
    col[smaller] = column;
  }
}

// ptr[i]: products of row i of C -> where its columns begin, the end in ptr[rows] and *nnz. columns <- C's, in ascending order
// in each row. In one pass: room for the next row is made where there may be too little, so that the columns stand in memory up to three
// times. It ends with a row that makes them too many for int.
template <class In> PetscErrorCode list_by_marks(Host &ex, const In &in, int rows, int *ptr, Array<int, Host> &columns, std::int64_t *nnz)
{
  Array<int, Host> last_row, listed; // the last row that has the column; columns, with room for more
  std::int64_t end = 0;

  PetscFunctionBegin;
  PetscCall(last_row.allocate(ex, in.B.cols));
  int *last = last_row.data();
  std::fill_n(last, in.B.cols, -1);
  for (int i = 0; i < rows && end <= INT32_MAX; i++) {
    const std::int64_t begin = end;
    const std::int64_t most = begin + std::min(ptr[i], in.B.cols) + 1; // one more, as columns that are not kept are written, too
    if (most > listed.size()) {
      Array<int, Host> longer;
      PetscCall(longer.allocate(ex, std::max(most, 2 * listed.size())));
      std::copy_n(listed.data(), begin, longer.data());
      listed = std::move(longer);
    }
    int *list = listed.data() + begin, n = 0;
    in.for_parts(in.row(i), [&](const Segment &part, int) {
      for (int r = part.begin; r < part.end; r++) {
        const int j = in.A.col[r];
        for (int k = in.B.ptr[j]; k < in.B.ptr[j + 1]; k++) { // without a branch, which would often be mispredicted
          const int column = in.B.col[k];
          list[n] = column;
          n += last[column] != i;
          last[column] = i;
        }
      }
    });
    sort_columns(list, n);
    end += n;
    ptr[i] = static_cast<int>(begin);
  }
  *nnz = end;
  if (end > INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  ptr[rows] = static_cast<int>(end);
  PetscCall(columns.allocate(ex, end));
  std::copy_n(listed.data(), end, columns.data());
  PetscFunctionReturn(PETSC_SUCCESS);
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
