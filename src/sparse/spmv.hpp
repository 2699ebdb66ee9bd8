// Products with one rank's rows, fused with what the cycle does around them. All run in stream order and do not wait.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// y = A x
template <class Ex> PetscErrorCode spmv(Ex &, CsrView<double> A, const double *x, double *y);
// r = b - A x
template <class Ex> PetscErrorCode residual(Ex &, CsrView<double> A, const double *b, const double *x, double *r);
// One step of a polynomial smoother: y = x + momentum (x - previous) + factor D (b - A x).
struct RelaxStep {
  double momentum = 0, factor = 1;
};
// D = diag(d). previous is read only when momentum is not 0, nullptr stands for zeros, and it may be y. y must not be x.
template <class Ex>
PetscErrorCode relax(Ex &, CsrView<double> A, const double *d, RelaxStep, const double *b, const double *x, const double *previous,
                     double *y);
// x = factor D b: the first step on a zero guess
template <class Ex> PetscErrorCode scale(Ex &, std::int64_t n, double factor, const double *d, const double *b, double *x);
// y += x
template <class Ex> PetscErrorCode add(Ex &, std::int64_t n, const double *x, double *y);
// to[k] = from[index[k]]
template <class Ex, class T> PetscErrorCode gather(Ex &, std::int64_t n, const int *index, const T *from, T *to);
// x_i = value
template <class Ex> PetscErrorCode fill(Ex &, std::int64_t n, double value, double *x);
// y_i -= factor s_i (A x)_i for the given rows only; s = nullptr means 1. For the coupling to other ranks, where few rows have
// entries.
template <class Ex>
PetscErrorCode subtract_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const double *s, const double *x,
                             double *y);
} // namespace amgkit
