// Sliced ELL, the format in which the cycle reads a matrix: slices of 32 consecutive rows, each padded to its longest row, stored
// position by position so that the threads of 32 rows read consecutive memory. Row i = 32 s + r of slice s has its j-th entry at
// 32 (start[s] + j) + r. Padding has value 0 and a valid column.
#pragma once
#include "sparse/spmv.hpp"

namespace amgkit
{
inline constexpr int sell_rows = 32; // of a slice

// T: float or double; vectors and sums are double in either case.
template <class T> struct SellView {
  int rows = 0;
  const int *start = nullptr, *col = nullptr;
  const T *val = nullptr;
};

template <class T, class Ex> struct Sell {
  int rows = 0;
  Array<int, Ex> start, col;
  Array<T, Ex> val;

  SellView<T> view() const { return {rows, start.data(), col.data(), val.data()}; }
  std::size_t bytes() const { return start.bytes() + col.bytes() + val.bytes(); }
};

// *fits = false, and nothing stored, when the padding would be more than half of A's entries, or A's rows too many.
template <class Ex, class T> PetscErrorCode sell_create(Ex &, CsrView<double> A, Sell<T, Ex> &, bool *fits);
// New values of the same pattern.
template <class Ex, class T> PetscErrorCode sell_fill(Ex &, CsrView<double> A, Sell<T, Ex> &);
// Whether every entry survives the rounding to float: none overflows, none but 0 becomes 0 or loses digits to underflow.
template <class Ex> PetscErrorCode representable_in_single(Ex &, CsrView<double> A, bool *representable);

// As in spmv.hpp
template <class Ex, class T> PetscErrorCode spmv(Ex &, SellView<T> A, const double *x, double *y);
template <class Ex, class T> PetscErrorCode residual(Ex &, SellView<T> A, const double *b, const double *x, double *r);
template <class Ex, class T>
PetscErrorCode relax(Ex &, SellView<T> A, const double *d, RelaxStep, const double *b, const double *x, const double *previous, double *y);
} // namespace amgkit
