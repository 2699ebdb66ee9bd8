// Products with one rank's rows, fused with what the cycle does around them. All run in stream order and do not wait.
// V: float or double, the type of the vectors; D: that of a diagonal matrix, not double with vectors of floats.
#pragma once
#include "base/array.hpp"
#include "sparse/rows/first_step.hpp"

#include <type_traits>

namespace amgkit
{
template <class T> struct PeerValues; // base/peer_values.hpp

// nullptr, or entries of the type that other arguments have.
template <class V> using OptionalVector = const std::type_identity_t<V> *;
// s of subtract_rows() where nothing is scaled.
template <class V> inline constexpr const V *unscaled = nullptr;

// y = A x; T is double, or float for the same bits as its values as doubles give.
template <class Ex, class T, class V> PetscErrorCode spmv(Ex &, CsrView<T> A, const V *x, V *y);
// Sums over the rows of y = A x, taken with the product, in double; u is x, or y where of_y.
//   N = 2: u·y, u·r;   3: u·y, u·r, u·z;   5: u·y, u·r, r·r, r·y, y·y
// They are left in sums, N doubles in the space's memory; work: N product_sum_parts_of(rows) more.
template <int N, class V> struct ProductSums {
  bool of_y;
  const V *r, *z;
  double *work, *sums;
};
// 32 lanes for each two rows of whole slices; or add_rows()
inline std::int64_t product_sum_parts_of(std::int64_t rows) { return sum_parts_of(16 * rows + 1024); }
// The same after the product.
template <int N, class Ex, class V> PetscErrorCode sum_products(Ex &, std::int64_t n, const V *x, const V *y, const ProductSums<N, V> &);
// Both, one after the other.
template <int N, class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, CsrView<T> A, const V *x, V *y, const ProductSums<N, V> &sums)
{
  PetscFunctionBegin;
  PetscCall(spmv(ex, A, x, y));
  PetscCall(sum_products(ex, A.rows, x, y, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// y += A x
template <class Ex, class T, class V> PetscErrorCode add_product(Ex &, CsrView<T> A, const V *x, V *y);
// r = b - A x
template <class Ex, class V> PetscErrorCode residual(Ex &, CsrView<double> A, const V *b, const V *x, V *r);
// One step of a polynomial smoother: y = x + momentum (x - previous) + factor D (b - A x).
struct RelaxStep {
  double momentum = 0, factor = 1;

  // y_i, where s = (A x)_i. SellRelaxed has the same step in V.
  template <class D, class V>
  AMGKIT_FN V operator()(std::int64_t i, double s, const D *d, const V *b, const V *x, OptionalVector<V> previous) const
  {
    double moved = 0;
    if (momentum != 0) moved = momentum * (previous ? x[i] - previous[i] : x[i]);
    return static_cast<V>(x[i] + moved + factor * d[i] * (b[i] - s));
  }
};
// D = diag(d). previous is read only when momentum is not 0, nullptr stands for zeros, and it may be y. y must not be x.
template <class Ex, class D, class V>
PetscErrorCode relax(Ex &, CsrView<double> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
// x = factor D b: the first step on a zero guess
template <class Ex, class D, class V> PetscErrorCode scale(Ex &, std::int64_t n, double factor, const D *d, const V *b, V *x);
// The same, with entries of D of either kind
template <class Ex, class V> PetscErrorCode take(Ex &, const FirstStep<V> &step, const V *b);
// y = A x; and step, of y
template <class Ex, class V> PetscErrorCode spmv(Ex &, CsrView<float> A, const V *x, V *y, const FirstStep<V> &step);
// y += x
template <class Ex, class V> PetscErrorCode add(Ex &, std::int64_t n, const V *x, V *y);
// to[k] = from[index[k]]
template <class Ex, class T> PetscErrorCode gather(Ex &, std::int64_t n, const int *index, const T *from, T *to);
// to[k] = from[k], from float to double or the other way
template <class Ex, class From, class To> PetscErrorCode convert(Ex &, std::int64_t n, const From *from, To *to);
// x_i = value
template <class Ex, class V> PetscErrorCode fill(Ex &, std::int64_t n, double value, V *x);
// y_i -= factor s_i (A x)_i for the given rows only; s = nullptr means 1. For the coupling to other ranks, where few rows have
// entries.
template <class Ex, class D, class V>
PetscErrorCode subtract_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const D *s, const V *x, V *y);
// The same with values that come from peers. On a GPU.
template <class Ex, class D, class V>
PetscErrorCode subtract_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const D *s,
                             const PeerValues<V> &x, V *y);
// y_i += (A others)_i for the given rows only. sums, those of y = B x before, become those of y after: a row's old terms are subtracted,
// its new ones added. Where that cancels, sums that are linear in y lose what y_i's own sum loses; squares of y lose more, so that they are
// for floats alone. Others: const V *, or, on a GPU, PeerValues<V>.
template <int N, class Ex, class Others, class V>
PetscErrorCode add_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, const Others &others, const V *x, V *y,
                        const ProductSums<N, V> &sums);
} // namespace amgkit
