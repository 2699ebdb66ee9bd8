#include "base/parallel.hpp"
#include "sparse/sell.hpp"

#include <cstdint>

namespace amgkit
{
namespace
{
template <class T> AMGKIT_FN double row_times(const SellView<T> &A, std::int64_t i, const double *x)
{
  const std::int64_t slice = i / sell_rows, r = i % sell_rows;
  const std::int64_t begin = std::int64_t{A.start[slice]} * sell_rows + r, end = std::int64_t{A.start[slice + 1]} * sell_rows;
  double s = 0;
  for (std::int64_t k = begin; k < end; k += sell_rows) s += A.val[k] * x[A.col[k]];
  return s;
}
} // namespace

template <class Ex, class T> PetscErrorCode sell_create(Ex &ex, CsrView<double> A, Sell<T, Ex> &out, bool *fits)
{
  constexpr double most_padding = 1.5;
  const std::int64_t slices = (A.rows + sell_rows - 1) / sell_rows;
  std::int64_t width = 0;

  PetscFunctionBegin;
  PetscCall(out.start.allocate(ex, slices + 1));
  int *start = out.start.data();
  PetscCall(for_each(ex, slices, [=] AMGKIT_FN(std::int64_t s) {
    int longest = 0;
    for (std::int64_t i = s * sell_rows; i < A.rows && i < (s + 1) * sell_rows; i++) {
      const int length = A.ptr[i + 1] - A.ptr[i];
      longest = longest < length ? length : longest;
    }
    start[s] = longest;
  }));
  PetscCall(reduce<std::int64_t>(
      ex, slices, [=] AMGKIT_FN(std::int64_t s) { return std::int64_t{start[s]}; }, 0, Sum{}, &width));
  const std::int64_t last_rows = A.rows - (slices - 1) * sell_rows; // the last slice may be short: that is no uneven matrix
  const double missing =
      slices > 0 ? static_cast<double>(sell_rows - last_rows) / sell_rows * static_cast<double>(width) / static_cast<double>(slices) : 0;
  *fits = width <= INT32_MAX && sell_rows * (static_cast<double>(width) - missing) <= most_padding * static_cast<double>(A.nnz);
  if (!*fits) {
    out = Sell<T, Ex>{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(exclusive_scan(ex, slices, start, &width));
  out.rows = A.rows;
  PetscCall(out.col.allocate(ex, width * sell_rows));
  PetscCall(out.val.allocate(ex, width * sell_rows));
  int *col = out.col.data();
  PetscCall(for_each(ex, slices * sell_rows, [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t s = i / sell_rows, r = i % sell_rows;
    const int begin = i < A.rows ? A.ptr[i] : 0, length = i < A.rows ? A.ptr[i + 1] - begin : 0;
    for (int j = 0; j < start[s + 1] - start[s]; j++)
      col[(std::int64_t{start[s]} + j) * sell_rows + r] = j < length ? A.col[begin + j] : length > 0 ? A.col[begin] : 0;
  }));
  PetscCall(sell_fill(ex, A, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T> PetscErrorCode sell_fill(Ex &ex, CsrView<double> A, Sell<T, Ex> &out)
{
  const std::int64_t slices = (A.rows + sell_rows - 1) / sell_rows;
  const int *start = out.start.data();
  T *val = out.val.data();
  return for_each(ex, slices * sell_rows, [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t s = i / sell_rows, r = i % sell_rows;
    const int begin = i < A.rows ? A.ptr[i] : 0, length = i < A.rows ? A.ptr[i + 1] - begin : 0;
    for (int j = 0; j < start[s + 1] - start[s]; j++)
      val[(std::int64_t{start[s]} + j) * sell_rows + r] = j < length ? static_cast<T>(A.val[begin + j]) : 0;
  });
}

template <class Ex> PetscErrorCode representable_in_single(Ex &ex, CsrView<double> A, bool *representable)
{
  constexpr double most = 3.4e38, least = 1.2e-38;
  int lost = 0;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, A.nnz,
      [=] AMGKIT_FN(std::int64_t k) {
        const double size = A.val[k] < 0 ? -A.val[k] : A.val[k];
        return int{size > most || (size < least && size > 0)};
      },
      0, Max{}, &lost));
  *representable = lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T> PetscErrorCode spmv(Ex &ex, SellView<T> A, const double *x, double *y)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { y[i] = row_times(A, i, x); });
}

template <class Ex, class T> PetscErrorCode residual(Ex &ex, SellView<T> A, const double *b, const double *x, double *r)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { r[i] = b[i] - row_times(A, i, x); });
}

template <class Ex, class T>
PetscErrorCode relax(Ex &ex, SellView<T> A, const double *d, RelaxStep step, const double *b, const double *x, const double *previous,
                     double *y)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    double moved = 0;
    if (step.momentum != 0) moved = step.momentum * (previous ? x[i] - previous[i] : x[i]);
    y[i] = x[i] + moved + step.factor * d[i] * (b[i] - row_times(A, i, x));
  });
}

using Space = AMGKIT_SPACE;
template PetscErrorCode representable_in_single(Space &, CsrView<double>, bool *);
#define INSTANTIATE(T)                                                                                                                     \
  template PetscErrorCode sell_create(Space &, CsrView<double>, Sell<T, Space> &, bool *);                                                 \
  template PetscErrorCode sell_fill(Space &, CsrView<double>, Sell<T, Space> &);                                                           \
  template PetscErrorCode spmv(Space &, SellView<T>, const double *, double *);                                                            \
  template PetscErrorCode residual(Space &, SellView<T>, const double *, const double *, double *);                                        \
  template PetscErrorCode relax(Space &, SellView<T>, const double *, RelaxStep, const double *, const double *, const double *, double *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
