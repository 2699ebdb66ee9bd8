// Rows of a matrix in slices, and what a slice needs of the matrix that it is multiplied with.
#pragma once
#include "base/array.hpp"

#include <cstdint>
#include <vector>

namespace amgkit
{
// Rows that follow each other, and their entries.
struct RowSlice {
  int begin = 0, end = 0, first_entry = 0, end_entry = 0;

  int rows() const { return end - begin; }
  std::int64_t entries() const { return std::int64_t{end_entry} - first_entry; }
};
// All rows, in up to so many slices of about as many entries each, but a row at least unless there is none. Waits.
template <class Ex> PetscErrorCode cut_rows(Ex &, CsrView<double> A, std::int64_t most, std::vector<RowSlice> &slices);

// The first column that the slice of A has entries in, and one past the last; first = end = 0 where there are none. Waits.
template <class Ex> PetscErrorCode span_of_columns(Ex &, CsrView<double> A, const RowSlice &, int *first, int *end);

// columns: those that the slice of A has entries in, ascending. slice: its pattern with their places in this list for columns; no values.
// Waits.
template <class Ex>
PetscErrorCode compress_columns(Ex &, CsrView<double> A, const RowSlice &, Csr<double, Ex> &slice, Array<int, Ex> &columns);

// Row t of some is row row[t] of A; without values some.val stays empty. Waits.
template <class Ex> PetscErrorCode copy_rows(Ex &, CsrView<double> A, const Array<int, Ex> &row, bool with_values, Csr<double, Ex> &some);

// to[i] <- from[i] + by, 0 <= i < n
template <class Ex> PetscErrorCode shift_offsets(Ex &, std::int64_t n, const int *from, int by, int *to);
} // namespace amgkit
