// Small dense matrices for the coarsest level, stored by rows.
#pragma once
#include "base/array.hpp"

struct CUevent_st;

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
// The largest |x_i|, 0 for n = 0; NaN counts as infinite
template <class Ex> PetscErrorCode max_norm(Ex &, int n, const double *x, double *norm);
// max over the rows of sum_j |a_ij|; NaN counts as infinite
template <class Ex> PetscErrorCode dense_norm(Ex &, int n, const double *A, double *norm);

// A <- A⁻¹ by LU with partial pivoting (LAPACK, cuSOLVER). On Cuda it runs from begin() to finish() on a stream of its own beside what else
// the space does: its many small kernels leave most of a GPU idle. A must stay, untouched, until finish().
// finish(), after a begin() without error: *singular when a pivot is exactly zero, A is then undefined.
template <class Ex> class DenseInversion {
public:
  PetscErrorCode begin(Ex &, int n, double *A);
  PetscErrorCode finish(Ex &, bool *singular);

private:
  bool singular_ = false;
};

template <> class DenseInversion<Cuda> {
public:
  DenseInversion() = default;
  DenseInversion(const DenseInversion &) = delete;
  DenseInversion &operator=(const DenseInversion &) = delete;
  ~DenseInversion();
  PetscErrorCode begin(Cuda &, int n, double *A);
  PetscErrorCode finish(Cuda &, bool *singular);

private:
  PetscErrorCode enqueue(Cuda &, int n, double *A);
  PetscErrorCode end();

  CUstream_st *stream_ = nullptr;
  CUevent_st *event_ = nullptr;
  double *A_ = nullptr;
  Array<int, Cuda> pivots_, info_;
  Array<double, Cuda> work_, inverse_;
};
} // namespace amgkit
