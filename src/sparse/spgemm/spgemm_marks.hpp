// On a plain host, where one thread takes row after row: an array with a place for each of C's columns, Gustavson's way (1978), takes the
// part of the hash tables. It can sum while it lists. Sums have the same terms in the same order, and so the same bits.
#pragma once

#include <algorithm>
#include <climits>
#include <utility>

namespace amgkit::spgemm
{
// put(t, column) for distinct columns, t their places in ascending order. Where there are few, the place of each is the number of smaller
// ones: no branch, and vectors of four. col has room for three more, and is overwritten.
template <class Put> void put_in_order(int *col, int n, Put put)
{
  constexpr int few = 64, vector = 4;
  if (n > few) {
    std::sort(col, col + n);
    for (int t = 0; t < n; t++) put(t, col[t]);
    return;
  }
  const int padded = (n + vector - 1) / vector * vector;
  std::fill(col + n, col + padded, INT_MAX);
  for (int j = 0; j < n; j++) {
    const int column = col[j];
    int smaller = 0;
    for (int k = 0; k < padded; k++) smaller += col[k] < column;
    put(smaller, column);
  }
}

// C's rows, one after the other, with room for more.
class RowsByMarks {
public:
  Array<int, Host> columns;
  Array<double, Host> values; // while there are at most most_values of them
  std::int64_t end = 0;       // entries

  PetscErrorCode create(Host &ex, int cols, std::int64_t most_values)
  {
    PetscFunctionBegin;
    most_values_ = most_values;
    PetscCall(last_row_.allocate(ex, cols));
    std::fill_n(last_row_.data(), cols, -1);
    if (!with_values()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(sums_.allocate(ex, cols));
    std::fill_n(sums_.data(), cols, 0.0);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool with_values() const { return most_values_ > 0; }
  // The next row, i, of the product, which has so many columns at most.
  template <class In> PetscErrorCode add(Host &ex, const In &in, int i, int most)
  {
    PetscFunctionBegin;
    PetscCall(make_room(ex, most));
    if (listed_.size() < std::int64_t{most} + 3) // see list(), put_in_order()
      PetscCall(listed_.allocate(ex, std::min(2 * std::int64_t{most}, last_row_.size()) + 3));
    go_on(with_values() ? write<true>(in, i) : write<false>(in, i));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The next row is row l of M.
  PetscErrorCode add(Host &ex, const CsrView<double> &M, int l)
  {
    const int first = M.ptr[l], n = M.ptr[l + 1] - first;

    PetscFunctionBegin;
    PetscCall(make_room(ex, n));
    std::copy_n(M.col + first, n, columns.data() + end);
    if (with_values()) std::copy_n(M.val + first, n, values.data() + end);
    go_on(n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  template <bool Sum, class In> int write(const In &in, int i)
  {
    const int n = list<Sum>(in, i, listed_.data());
    int *const here = columns.data() + end;
    double *const value = Sum ? values.data() + end : nullptr, *const sum = sums_.data();
    put_in_order(listed_.data(), n, [=](int t, int column) {
      here[t] = column;
      if constexpr (Sum) value[t] = std::exchange(sum[column], 0);
    });
    return n;
  }
  // to <- the columns of row i, as they come, and their sums if these are wanted; returns how many. A branch for new columns would often be
  // mispredicted: every column is written, and n grows for new ones alone, so a place more is written than there are columns. Pointers are
  // copied to local variables: else the compiler reads them again after each write.
  template <bool Sum, class In> int list(const In &in, int i, int *to)
  {
    const int *const begin = in.B.ptr, *const col = in.B.col;
    const double *const val = in.B.val;
    int *const last = last_row_.data(), n = 0;
    double *const sum = sums_.data();
    in.for_parts(in.row(i), [=, &in, &n](const Segment &part, int e) {
      for (int r = part.begin; r < part.end; r++) {
        const int j = in.A.col[r], after = begin[j + 1];
        const double a = Sum ? in.weighted(e, in.A.val[r]) : 0;
        for (int k = begin[j]; k < after; k++) {
          const int column = col[k];
          to[n] = column;
          n += last[column] != i;
          last[column] = i;
          if constexpr (Sum) sum[column] += a * val[k];
        }
      }
    });
    return n;
  }
  void go_on(int n)
  {
    end += n;
    if (end > most_values_) go_without_values();
  }
  PetscErrorCode go_without_values()
  {
    most_values_ = 0;
    values.release();
    return PETSC_SUCCESS;
  }
  PetscErrorCode make_room(Host &ex, std::int64_t more)
  {
    PetscFunctionBegin;
    if (end + more <= columns.size()) PetscFunctionReturn(PETSC_SUCCESS);
    const std::int64_t entries = std::max(end + more, 2 * columns.size());
    PetscCall(columns.reallocate(ex, entries));
    if (!with_values()) PetscFunctionReturn(PETSC_SUCCESS);
    const PetscErrorCode status = values.reallocate(ex, entries);
    if (status == PETSC_ERR_MEM) PetscFunctionReturn(go_without_values()); // they can be computed later
    PetscCall(status);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::int64_t most_values_ = 0;
  Array<int, Host> last_row_; // that has each column
  Array<double, Host> sums_;  // of the present row; else 0
  Array<int, Host> listed_;   // columns of the present row
};

// ptr[i]: products of row i -> where its columns begin, the end in ptr[rows] and *nnz. columns <- C's, ascending in each row. values <-
// C's, if there are at most most_values of them, and memory for them; else empty. In one pass: room for the next row is made where there
// may be too little, and what is left is given back. It ends with a row that makes them too many for int.
template <class In>
PetscErrorCode list_by_marks(Host &ex, const In &in, int rows, std::int64_t most_values, const GivenRows &given, int *ptr,
                             Array<int, Host> &columns, Array<double, Host> &values, std::int64_t *nnz)
{
  RowsByMarks found;

  PetscFunctionBegin;
  PetscCall(found.create(ex, in.B.cols, most_values));
  for (int i = 0, l = 0; i < rows && found.end <= INT32_MAX; i++) {
    const int most = std::min(ptr[i], in.B.cols);
    ptr[i] = static_cast<int>(found.end);
    if (l < given.n() && given.row[l] == i)
      PetscCall(found.add(ex, given.M, l++));
    else
      PetscCall(found.add(ex, in, i, most));
  }
  *nnz = found.end;
  if (found.end > INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  ptr[rows] = static_cast<int>(found.end);
  PetscCall(found.columns.reallocate(ex, found.end));
  columns = std::move(found.columns);
  if (!found.with_values()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(found.values.reallocate(ex, found.end));
  values = std::move(found.values);
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
