// On a plain host, where one thread takes row after row: an array with a place for each of C's columns, Gustavson's way (1978), takes the
// part of the hash tables. It can sum while it lists. Sums have the same terms in the same order, and so the same bits.
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

// C's rows as they are found, with room for more.
struct FoundRows {
  Array<int, Host> columns;
  Array<double, Host> values; // empty where they are not wanted

  // Room for so many entries, of which the first stay.
  PetscErrorCode make_room(Host &ex, std::int64_t entries, std::int64_t stay, bool with_values)
  {
    PetscFunctionBegin;
    if (entries <= columns.size()) PetscFunctionReturn(PETSC_SUCCESS);
    entries = std::max(entries, 2 * columns.size());
    PetscCall(enlarge(ex, entries, stay, columns));
    if (with_values) PetscCall(enlarge(ex, entries, stay, values));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  template <class T> static PetscErrorCode enlarge(Host &ex, std::int64_t entries, std::int64_t stay, Array<T, Host> &array)
  {
    Array<T, Host> longer;

    PetscFunctionBegin;
    PetscCall(longer.allocate(ex, entries));
    std::copy_n(array.data(), stay, longer.data());
    array = std::move(longer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The columns of row i of C, in list, as they come; returns how many. last[j]: the last row that had column j. For each product,
// use(j, k, e, r): of entry k of B, and entry r of A as entry e of the left factor weighs it. There is no branch, which would often be
// mispredicted: a place more is written than there are columns.
template <class In, class Use> int list_row(const In &in, int i, int *last, int *list, Use use)
{
  int n = 0;
  in.for_parts(in.row(i), [&](const Segment &part, int e) {
    for (int r = part.begin; r < part.end; r++) {
      const int j = in.A.col[r];
      for (int k = in.B.ptr[j]; k < in.B.ptr[j + 1]; k++) {
        const int column = in.B.col[k];
        list[n] = column;
        n += last[column] != i;
        last[column] = i;
        use(column, k, e, r);
      }
    }
  });
  return n;
}

// ptr[i]: products of row i of C -> where its columns begin, the end in ptr[rows] and *nnz. columns <- C's, in ascending order
// in each row. values <- C's, if there are at most most_values of them, else empty. In one pass: room for the next row is made where there
// may be too little, so that columns, and values, stand in memory up to three times. It ends with a row that makes them too many for int.
template <class In>
PetscErrorCode list_by_marks(Host &ex, const In &in, int rows, std::int64_t most_values, int *ptr, Array<int, Host> &columns,
                             Array<double, Host> &values, std::int64_t *nnz)
{
  Array<int, Host> last_row;
  Array<double, Host> sums;
  FoundRows found;
  std::int64_t end = 0;
  bool with_values = most_values > 0;

  PetscFunctionBegin;
  PetscCall(last_row.allocate(ex, in.B.cols));
  if (with_values) PetscCall(sums.allocate(ex, in.B.cols));
  int *last = last_row.data();
  double *sum = sums.data();
  std::fill_n(last, in.B.cols, -1);
  if (with_values) std::fill_n(sum, in.B.cols, 0.0);
  for (int i = 0; i < rows && end <= INT32_MAX; i++) {
    const std::int64_t begin = end;
    PetscCall(found.make_room(ex, begin + std::min(ptr[i], in.B.cols) + 1, begin, with_values)); // one more: see list_row()
    int *list = found.columns.data() + begin, n = 0;
    if (with_values) {
      n = list_row(in, i, last, list, [&](int column, int k, int e, int r) { sum[column] += in.weighted(e, in.A.val[r]) * in.B.val[k]; });
    } else {
      n = list_row(in, i, last, list, [](int, int, int, int) {});
    }
    sort_columns(list, n);
    end += n;
    ptr[i] = static_cast<int>(begin);
    if (with_values) {
      for (int t = 0; t < n; t++) found.values.data()[begin + t] = std::exchange(sum[list[t]], 0);
      with_values = end <= most_values;
      if (!with_values) found.values.release();
    }
  }
  *nnz = end;
  if (end > INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  ptr[rows] = static_cast<int>(end);
  PetscCall(columns.allocate(ex, end));
  std::copy_n(found.columns.data(), end, columns.data());
  if (!with_values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(values.allocate(ex, end));
  std::copy_n(found.values.data(), end, values.data());
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
