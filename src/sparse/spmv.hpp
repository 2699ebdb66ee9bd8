// Products with one rank's rows, fused with what the cycle does around them. All run in stream order and do not wait.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// y = A x
template <class Ex> PetscErrorCode spmv(Ex &, CsrView<double> A, const double *x, double *y);
// r = b - A x
template <class Ex> PetscErrorCode residual(Ex &, CsrView<double> A, const double *b, const double *x, double *r);
// y = x + D (b - A x), D = diag(d): one sweep of a Jacobi-like smoother. y must not be x.
template <class Ex> PetscErrorCode jacobi_sweep(Ex &, CsrView<double> A, const double *d, const double *b, const double *x, double *y);
// x = D b: the first sweep on a zero guess
template <class Ex> PetscErrorCode scale(Ex &, std::int64_t n, const double *d, const double *b, double *x);
// to[k] = from[index[k]]
template <class Ex, class T> PetscErrorCode gather(Ex &, std::int64_t n, const int *index, const T *from, T *to);
// x_i = value
template <class Ex> PetscErrorCode fill(Ex &, std::int64_t n, double value, double *x);
// y_i -= s_i (A x)_i for the given rows only; s = nullptr means 1. For the coupling to other ranks, where few rows have entries.
template <class Ex>
PetscErrorCode subtract_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, const double *s, const double *x, double *y);
} // namespace amgkit
