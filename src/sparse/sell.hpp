// Sliced ELL with short columns, the format in which the cycle reads a matrix.
//
// A slice is 64 consecutive rows, padded to its longest row and stored position by position: position j holds the j-th entry of each
// row, so that the entries of a row keep their ascending order. Position p = start[s] + j of slice s is 32 pairs, one for each thread:
// pair 32 p + t belongs to rows 64 s + t and 64 s + 32 + t, so that a thread takes the entries of its two rows in one load, and 32
// threads read consecutive entries of the vectors.
//
// Columns are base[p], the smallest at that position, plus 16 bits. Where the columns of a position do not lie within 65536, its slice is
// wide: it has the upper halves of these differences too, 32 pairs a position from high_start[s] on. high_start[s] = high_start[s + 1]
// in the other slices; there is no high_start when no slice is wide. Padding has value 0 and the column base[p].
#pragma once
#include "sparse/spmv.hpp"

#include <cstdint>

namespace amgkit
{
inline constexpr int sell_rows = 64;    // of a slice
inline constexpr int sell_threads = 32; // of a slice, two rows each

// What a thread reads in one load.
template <class T> struct alignas(2 * sizeof(T)) SellPair {
  T of[2];
};

// T: float or double.
template <class T> struct SellView {
  int rows = 0;
  const int *start = nullptr, *base = nullptr, *high_start = nullptr;
  const SellPair<std::uint16_t> *low = nullptr, *high = nullptr;
  const SellPair<T> *val = nullptr;
};

// Where the entries are.
template <class Ex> struct SellPattern {
  int rows = 0;
  Array<int, Ex> start, base, high_start;
  Array<SellPair<std::uint16_t>, Ex> low, high;

  std::size_t bytes() const { return start.bytes() + base.bytes() + high_start.bytes() + low.bytes() + high.bytes(); }
};

template <class T, class Ex> struct Sell : SellPattern<Ex> {
  Array<SellPair<T>, Ex> val;

  SellView<T> view() const
  {
    return {this->rows, this->start.data(), this->base.data(), this->high_start.data(), this->low.data(), this->high.data(), val.data()};
  }
  std::size_t bytes() const { return SellPattern<Ex>::bytes() + val.bytes(); }
};

// A's pattern, of which no value is read. *fits = false, and nothing stored, when the padding would be more than half of A's entries.
template <class Ex> PetscErrorCode sell_pattern(Ex &, CsrView<double> A, SellPattern<Ex> &, bool *fits);
// A's values, of which no column is read, as often as wanted. *representable: whether every entry is representable in T; waits where T is
// float.
template <class Ex, class T> PetscErrorCode sell_fill(Ex &, CsrView<double> A, Sell<T, Ex> &, bool *representable);
// Both
template <class Ex, class T> PetscErrorCode sell_create(Ex &ex, CsrView<double> A, Sell<T, Ex> &out, bool *fits, bool *representable)
{
  PetscFunctionBegin;
  out = Sell<T, Ex>{};
  *representable = false;
  PetscCall(sell_pattern(ex, A, out, fits));
  if (*fits) PetscCall(sell_fill(ex, A, out, representable));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// The way back to compressed rows, ptr given: col[k], and val[k] unless val is nullptr, which are A's as they are stored.
template <class Ex, class T> PetscErrorCode sell_entries(Ex &, SellView<T> A, const int *ptr, int *col, double *val);
// Whether every entry survives the rounding to float: none but 0 becomes 0 or loses digits to underflow, and none is so large (1e18) that
// its products might overflow.
template <class Ex> PetscErrorCode representable_in_single(Ex &, CsrView<double> A, bool *representable);

// As in spmv.hpp; the entries of a row are added one after the other, in ascending order of their columns and in the vectors' precision.
template <class Ex, class T, class V> PetscErrorCode spmv(Ex &, SellView<T> A, const V *x, V *y);
template <class Ex, class T, class V> PetscErrorCode residual(Ex &, SellView<T> A, const V *b, const V *x, V *r);
template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &, SellView<T> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
} // namespace amgkit
