// Small dense matrices for the coarsest level, stored by rows.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// rows[i * n + j] = a_ij for the rank's rows of an n-column matrix: diag's column j is j + first, offd's is ghost[j].
template <class Ex>
PetscErrorCode dense_rows(Ex &, CsrView<double> diag, CsrView<double> offd, int first, const int *ghost, int n, double *rows);
// y = A x, A n x n
template <class Ex> PetscErrorCode dense_apply(Ex &, int n, const double *A, const double *x, double *y);
// y = Aᵀ x
template <class Ex> PetscErrorCode dense_apply_transposed(Ex &, int n, const double *A, const double *x, double *y);
// A <- A + factor z zᵀ
template <class Ex> PetscErrorCode dense_add_outer(Ex &, int n, double factor, const double *z, double *A);
// The largest |x_i|, 0 for n = 0; NaN counts as infinite
template <class Ex> PetscErrorCode max_norm(Ex &, int n, const double *x, double *norm);
// max over the rows of sum_j |a_ij|; NaN counts as infinite
template <class Ex> PetscErrorCode dense_norm(Ex &, int n, const double *A, double *norm);

// A <- A⁻¹ by LU with partial pivoting (LAPACK, cuSOLVER); *singular when a pivot is exactly zero, A is then undefined.
PetscErrorCode dense_invert(Host &, int n, double *A, bool *singular);
PetscErrorCode dense_invert(Cuda &, int n, double *A, bool *singular);
} // namespace amgkit
