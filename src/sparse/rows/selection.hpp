// Entries of a matrix that are chosen by marks, and what becomes of them in a matrix of their own.
#pragma once
#include "base/array.hpp"

#include <cstdint>

namespace amgkit
{
// Row i's chosen entries: the matrix's positions at[k], ptr[i] <= k < ptr[i + 1], ascending.
template <class Ex> struct Selection {
  Array<int, Ex> ptr, at;

  std::int64_t size() const { return at.size(); }
  std::size_t bytes() const { return ptr.bytes() + at.bytes(); }
};

// The columns first <= j < end, or all others.
struct ColumnRange {
  int first = 0, end = INT32_MAX;
  bool inside = true;
};

// The entries k of A with mark[k] & bits in these columns. Waits.
template <class Ex>
PetscErrorCode select_entries(Ex &, CsrView<double> A, const unsigned char *mark, unsigned char bits, ColumnRange, Selection<Ex> &);
// col[k] <- column of A's entry at[k], less first
template <class Ex> PetscErrorCode selected_columns(Ex &, CsrView<double> A, const Selection<Ex> &, int first, int *col);
// val[k] <- value of A's entry at[k], times factor[i] in row i unless factor is nullptr
template <class Ex> PetscErrorCode selected_values(Ex &, CsrView<double> A, const Selection<Ex> &, const double *factor, double *val);
} // namespace amgkit
