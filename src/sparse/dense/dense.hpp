// Small dense matrices for the coarsest level, stored by rows.
#pragma once
#include "base/array.hpp"

#include <petscsys.h>

namespace amgkit
{
// rows[i * n + j] = a_ij for the rank's rows of an n-column matrix: diag's column j is j + first, offd's is ghost[j].
template <class Ex>
PetscErrorCode dense_rows(Ex &, CsrView<double> diag, CsrView<double> offd, int first, const int *ghost, int n, double *rows);
// y = A x, A n x n; V float or double
template <class Ex, class V> PetscErrorCode dense_apply(Ex &, int n, const double *A, const V *x, V *y);
// y = Aᵀ x
template <class Ex> PetscErrorCode dense_apply_transposed(Ex &, int n, const double *A, const double *x, double *y);
// A <- A + factor z zᵀ
template <class Ex> PetscErrorCode dense_add_outer(Ex &, int n, double factor, const double *z, double *A);
// A <- diag(scale) A, scale[i] the power of two that makes the largest |a_ij| of row i at least 1 and less than 2; 1 where there is none.
template <class Ex> PetscErrorCode dense_scale_rows(Ex &, int n, double *A, double *scale);
// A <- A diag(scale)
template <class Ex> PetscErrorCode dense_scale_columns(Ex &, int n, const double *scale, double *A);
// In the maximum norm; what is no number counts as infinite, and for n = 0 they are 0.
struct DenseNorms {
  double matrix = 0, vector = 0, image = 0; // of A, x and A x
  double asymmetry = 0;                     // the largest over the rows of sum_j |a_ij - a_ji| / sum_j |a_ij|
};
// Waits.
template <class Ex> PetscErrorCode dense_norms(Ex &, int n, const double *A, const double *x, DenseNorms *norms);

// A <- A⁻¹ by LU with partial pivoting (LAPACK, cuSOLVER); *singular when a pivot is exactly zero, A is then undefined. symmetric: A is, to
// rounding. Cuda tries Gauss-Jordan elimination without pivots first, for up to 2048 rows: see gauss_jordan_cuda.hpp. Where that succeeds,
// cuSOLVER and cuBLAS, whose kernels take 50 ms to load, are not loaded. Waits. On the space's own stream: one beside it would hide a third
// of a millisecond of a setup, but every CUDA graph launched later would take 10 percent longer (share/amgkit/bench/NOTES.md).
PetscErrorCode dense_invert(Host &, int n, bool symmetric, double *A, bool *singular);
PetscErrorCode dense_invert(Cuda &, int n, bool symmetric, double *A, bool *singular);

// A <- L U for dense_solve(), n at least 1: by Cholesky's method, without pivots, where A is symmetric, to rounding, and positive definite;
// else with partial pivoting (LAPACK). *inverse_norm <- an estimate of |A⁻¹| in the maximum norm, from below and rarely less than a third
// of it; infinite where a pivot is zero.
PetscErrorCode dense_factor(Host &, int n, bool symmetric, double *A, Array<PetscBLASInt, Host> &pivots, double *inverse_norm);
// x <- A⁻¹ x, or A⁻ᵀ x
PetscErrorCode dense_solve(int n, const double *factors, const Array<PetscBLASInt, Host> &pivots, bool transposed, double *x);
} // namespace amgkit
