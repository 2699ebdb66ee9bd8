// Sliced ELL with short columns, the format in which the cycle reads a matrix.
//
// A slice is 64 consecutive rows, padded to its longest row and stored position by position: position j holds the j-th entry of each
// row. A position is 32 pairs, one for each thread: pair t belongs to rows t and t + 32 of the slice, so that a thread takes the entries of
// its two rows in one load, and 32 threads read consecutive entries of the vectors.
//
// Columns are base, the smallest at that position, plus 16 bits. Where the columns of a position do not lie within 65536, its slice is
// wide: it has the upper halves of these differences too, 32 pairs a position from high_start[s] on. high_start[s] = high_start[s + 1]
// in the other slices; there is no high_start when no slice is wide. Padding has value 0 and the column base.
//
// Rows of grids say the same again and again. Slices of two more kinds say it once, where that takes fewer bytes:
//   stencil    a position is an offset, column minus row, with a mask of the rows that have an entry there, and their values in pairs;
//   constant   a position is an offset, a value and a mask. An offset with several values takes several positions. Slices with the same
//              positions share one list of them, so that a grid's few lists stay in the caches.
// Positions are in ascending order of their offsets. The other slices are plain.
//
// Uneven rows, as coarse levels have them, would be padded much: level 1 of amgclassical on 7-point 256³ by 40 %. Where that saves a
// twentieth of the bytes they are sorted within windows of 512: descending by length, rows of the same length in their order. A slice then
// has 64 rows of this order, and order[32 s + t] says which rows of the window thread t's are; there is no order where rows are not sorted.
// x, b and y are never sorted, nor are the entries of a row.
//
// A thread adds a row's entries in ascending order of their columns. Where lanes share rows, each adds those of its batches, in this order,
// and then their sums are added: other bits than one thread gives, the same in every run.
//
// Bytes of a position: 64 (2 + sizeof(T)) + 4, 128 more in a wide slice; of a stencil 64 sizeof(T) + 12; 24 where it is constant. 16 a
// slice, 4 more where there is a high_start; 2 a row where rows are sorted; 128 a position of a plain or stencil slice with rests of
// entries. With floats, no padding and nothing wide that is 6.06 an entry, of sorted rows of 28 entries 6.14, of a stencil 4.2 and of
// constant slices 0.4.
#pragma once
#include "sparse/formats/long_float.hpp"
#include "sparse/formats/spmv.hpp"

#include <cstdint>

namespace amgkit
{
inline constexpr int sell_rows = 64;    // of a slice
inline constexpr int sell_threads = 32; // of a slice, two rows each
// Rows of a window: those of a block of 256 threads, which so reads the same entries of vectors as without sorting. Bytes an entry on
// level 1 of 7-point 256 x 256 x 20, those of the format with floats + the sectors of x that a block reads, in double: without sorting
// 8.6 + 2.9; windows of 256, 512, 1024, 4096: 6.8 + 2.9, 6.5 + 2.9, 6.3 + 4.3, 6.2 + 10.5.
inline constexpr int sell_window = 512;
static_assert(sell_window % sell_rows == 0 && sell_window <= UINT16_MAX + 1);

// What a thread reads in one load.
template <class T> struct alignas(2 * sizeof(T)) SellPair {
  T of[2];
};

// Where what a slice has begins: its positions with pairs of values in base and, 32 each, in val; those with columns in low, 32 each; those
// with masks in mask. It ends where the next slice's begins. constant: where the list of a constant slice begins, -1 for others.
struct alignas(16) SellStart {
  int pair, low, mask, constant;
  AMGKIT_FN SellStart operator+(const SellStart &other) const
  {
    return {pair + other.pair, low + other.low, mask + other.mask, constant + other.constant};
  }
};
// Bit r of half h: row 32 h + r of the slice
using SellMask = SellPair<std::uint32_t>;
// A list is its length, as the offset of a first element, then the positions.
struct alignas(16) SellConstant {
  int offset;
  float value; // exact, rounded
  SellMask mask;
};

// Values in memory: floats, for LongFloat, whose rests are apart.
template <class T> using InMemory = std::conditional_t<std::is_same_v<T, LongFloat>, float, T>;

// T: float, double or LongFloat. lanes: threads that share two rows. base: of a stencil, its offsets. rest: of LongFloat
template <class T> struct SellView {
  int rows = 0, lanes = 1;
  const SellStart *start = nullptr;
  const int *base = nullptr, *high_start = nullptr;
  const SellPair<std::uint16_t> *low = nullptr, *high = nullptr;
  const SellPair<InMemory<T>> *val = nullptr;
  const SellPair<std::uint16_t> *order = nullptr;
  const SellMask *mask = nullptr;
  const SellConstant *constant = nullptr;
  const double *exact = nullptr;
  const SellPair<std::int16_t> *rest = nullptr;
};

// Where the entries are.
template <class Ex> struct SellPattern {
  int rows = 0, lanes = 1;
  Array<SellStart, Ex> start;
  Array<int, Ex> base, high_start;
  Array<SellPair<std::uint16_t>, Ex> low, high, order;
  Array<SellMask, Ex> mask;
  Array<SellConstant, Ex> constant;
  Array<double, Ex> exact;

  bool sorted() const { return order.size() > 0; }
  bool all_constant() const { return constant.size() > 0 && base.size() == 0; }
  std::size_t bytes() const
  {
    return start.bytes() + base.bytes() + high_start.bytes() + low.bytes() + high.bytes() + order.bytes() + mask.bytes() +
           constant.bytes() + exact.bytes();
  }
};

template <class T, class Ex> struct Sell : SellPattern<Ex> {
  Array<SellPair<T>, Ex> val;
  bool rounded = false;                   // whether an entry lost digits in T
  Array<SellPair<std::int16_t>, Ex> rest; // of each val, from sell_fill_rests() on; T is float

  SellView<T> view() const { return view_of<T>(val.data()); }
  // A's own entries, where all slices are constant.
  SellView<double> exact_view() const { return view_of<double>(nullptr); }
  // A's entries to 40 bits, those of constant slices to all.
  SellView<LongFloat> long_view() const { return view_of<LongFloat>(val.data()); }
  std::size_t bytes() const { return SellPattern<Ex>::bytes() + val.bytes() + rest.bytes(); }

private:
  template <class U> SellView<U> view_of(const SellPair<InMemory<U>> *values) const
  {
    return {this->rows,        this->lanes, this->start.data(), this->base.data(), this->high_start.data(), this->low.data(),
            this->high.data(), values,      this->order.data(), this->mask.data(), this->constant.data(),   this->exact.data(),
            rest.data()};
  }
};

// sorted: rows are, where that pays; by_bytes: the same, or stencil and constant slices, whatever takes fewest bytes; of_nodes: constant
// slices where they take fewer bytes, in a matrix whose values stand for blocks
enum class SellForm : int { plain, sorted, by_bytes, of_nodes };
// Where the slices of A begin, and with by_bytes and of_nodes in which form: what sell_pattern() needs to know first. owner[s], with these
// two alone: the slice whose list is that of s, -1 where s is not constant.
template <class Ex> struct SellPlan {
  SellForm form = SellForm::plain;
  Array<SellStart, Ex> start;
  Array<int, Ex> owner;
  SellStart all{}; // the sums over all slices

  bool all_constant() const { return all.constant > 0 && all.pair == 0; }
};
template <class Ex> PetscErrorCode sell_plan(Ex &, CsrView<double> A, SellForm, SellPlan<Ex> &);
// A's pattern; only by_bytes and of_nodes read values. *fits = false, and nothing stored, when the padding would be more than half of
// A's entries, after sorting. owner, unless nullptr, with those forms: for each slice, the one whose list it has, -1: none.
template <class Ex>
PetscErrorCode planned_sell_pattern(Ex &, CsrView<double> A, SellPlan<Ex> &&, SellPattern<Ex> &, bool *fits,
                                    Array<int, Ex> *owner = nullptr);
template <class Ex>
PetscErrorCode sell_pattern(Ex &ex, CsrView<double> A, SellForm form, SellPattern<Ex> &out, bool *fits, Array<int, Ex> *owner = nullptr)
{
  SellPlan<Ex> plan;

  PetscFunctionBegin;
  PetscCall(sell_plan(ex, A, form, plan));
  PetscCall(planned_sell_pattern(ex, A, std::move(plan), out, fits, owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// A's values, of which no column is read, as often as wanted. known: they are those of the pattern. *kept = false: an entry is not
// representable in T, or a slice is constant no more; waits where T is float or slices are constant.
enum class SellValues : int { known, perhaps_others };
template <class Ex, class T> PetscErrorCode sell_fill(Ex &, CsrView<double> A, SellValues, Sell<T, Ex> &, bool *kept);
// The rests of the floats that A's values were rounded to.
template <class Ex> PetscErrorCode sell_fill_rests(Ex &, CsrView<double> A, Sell<float, Ex> &);
// Both
template <class Ex, class T> PetscErrorCode sell_create(Ex &ex, CsrView<double> A, Sell<T, Ex> &out, bool *fits, bool *representable)
{
  PetscFunctionBegin;
  out = Sell<T, Ex>{};
  *representable = false;
  PetscCall(sell_pattern(ex, A, SellForm::by_bytes, out, fits));
  if (*fits) PetscCall(sell_fill(ex, A, SellValues::known, out, representable));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// The way back to compressed rows, ptr given: col[k], and val[k] unless val is nullptr, which are A's as they are stored.
template <class Ex, class T> PetscErrorCode sell_entries(Ex &, SellView<T> A, const int *ptr, int *col, double *val);
// Whether every entry survives the rounding to float: none but 0 becomes 0 or loses digits to underflow, and none is so large (1e18) that
// its products might overflow.
template <class Ex> PetscErrorCode representable_in_single(Ex &, CsrView<double> A, bool *representable);
// Whether every entry is a float.
template <class Ex> PetscErrorCode exact_in_single(Ex &, CsrView<double> A, bool *exact);

// As in spmv.hpp; in the wider one of the entries' and the vectors' precision.
template <class Ex, class T, class V> PetscErrorCode spmv(Ex &, SellView<T> A, const V *x, V *y);
template <int N, class Ex, class T, class V> PetscErrorCode spmv(Ex &, SellView<T> A, const V *x, V *y, const ProductSums<N, V> &);
template <class Ex, class T, class V> PetscErrorCode add_product(Ex &, SellView<T> A, const V *x, V *y);
template <class Ex, class T, class V> PetscErrorCode residual(Ex &, SellView<T> A, const V *b, const V *x, V *r);
template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &, SellView<T> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
} // namespace amgkit
