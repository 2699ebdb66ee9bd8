#include "sparse/dense/dense_solver.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace amgkit
{
template <class Ex> PetscErrorCode DenseSolver<Ex>::allocate(Ex &ex, int n)
{
  PetscFunctionBegin;
  n_ = n;
  PetscCall(A_.allocate(ex, std::int64_t{n} * n));
  if (by_factors) PetscCall(work_.allocate(ex, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *inverse_norm <- |A⁻¹| in the maximum norm, estimated where there are factors; infinite where there is no inverse.
template <class Ex> PetscErrorCode DenseSolver<Ex>::factor_or_invert(Ex &ex, bool symmetric, const double *z, double *inverse_norm)
{
  PetscFunctionBegin;
  if constexpr (by_factors) {
    PetscCall(dense_factor(ex, n_, symmetric, A_.data(), pivots_, inverse_norm));
  } else {
    bool singular = false;
    DenseNorms norms;
    PetscCall(dense_invert(ex, n_, symmetric, A_.data(), &singular));
    if (!singular) PetscCall(dense_norms(ex, n_, A_.data(), z, &norms));
    *inverse_norm = singular ? HUGE_VAL : norms.matrix;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// Whether A z = 0 but for rounding, eps and that of the products before
bool is_null(const DenseNorms &of) { return of.vector > 0 && of.image <= 1e-13 * of.matrix * of.vector; }
} // namespace

// For the parts of z, before A changes along z; norm: |A|
template <class Ex> PetscErrorCode DenseSolver<Ex>::regularise(Ex &ex, double norm, const NullVectors &z)
{
  std::vector<double> size; // 0: not in the null space

  PetscFunctionBegin;
  for (int k = 0; k < z.count; k++) { // of A as it is
    DenseNorms of;
    PetscCall(dense_norms(ex, n_, A_.data(), z.part(n_, k), &of));
    size.push_back(is_null(of) ? of.vector : 0);
  }
  for (int k = 0; k < z.count; k++)
    if (size[k] > 0) PetscCall(dense_add_outer(ex, n_, norm / (size[k] * size[k] * n_), z.part(n_, k), A_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A matrix that is not symmetric is solved as (D A)⁻¹ D, the rows of D A being of one size: equations in units of their own make A neither
// singular nor its pivots bad ones.
template <class Ex> PetscErrorCode DenseSolver<Ex>::prepare(Ex &ex, const NullVectors &vectors, bool *singular, bool *regularised)
{
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double *z = vectors.sum;
  DenseNorms of;
  double inverse_norm = 0;

  PetscFunctionBegin;
  PetscCall(dense_norms(ex, n_, A_.data(), z, &of));
  const bool symmetric = of.asymmetry <= n_ * eps; // in each row: one large row must not hide the others
  scale_.release();
  if (!symmetric) {
    PetscCall(scale_.allocate(ex, n_));
    PetscCall(dense_scale_rows(ex, n_, A_.data(), scale_.data()));
    PetscCall(dense_norms(ex, n_, A_.data(), z, &of));
  }
  *regularised = is_null(of);
  if (*regularised) PetscCall(regularise(ex, of.matrix, vectors));
  if (*regularised) PetscCall(dense_add_outer(ex, n_, of.matrix / (of.vector * of.vector * n_), z, A_.data()));
  PetscCall(factor_or_invert(ex, symmetric, z, &inverse_norm));
  *singular = !(inverse_norm < HUGE_VAL) || !(of.matrix * inverse_norm < 1 / eps); // no product with infinity, which may trap
  if (!by_factors && !*singular && !symmetric) {
    PetscCall(dense_scale_columns(ex, n_, scale_.data(), A_.data()));
    scale_.release();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode DenseSolver<Ex>::solve(Ex &ex, const V *b, V *x)
{
  PetscFunctionBegin;
  if constexpr (by_factors) {
    double *y = work_.data();
    for (int i = 0; i < n_; i++) y[i] = scale_.data() ? scale_.data()[i] * b[i] : b[i];
    PetscCall(dense_solve(n_, A_.data(), pivots_, false, y));
    for (int i = 0; i < n_; i++) x[i] = static_cast<V>(y[i]);
  } else {
    PetscCall(dense_apply(ex, n_, A_.data(), b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DenseSolver<Ex>::solve_transposed(Ex &ex, const double *b, double *x)
{
  PetscFunctionBegin;
  if constexpr (by_factors) {
    for (int i = 0; i < n_; i++) x[i] = b[i];
    PetscCall(dense_solve(n_, A_.data(), pivots_, true, x));
    if (scale_.data())
      for (int i = 0; i < n_; i++) x[i] *= scale_.data()[i];
  } else {
    PetscCall(dense_apply_transposed(ex, n_, A_.data(), b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void DenseSolver<Ex>::release()
{
  n_ = 0;
  A_.release();
  scale_.release();
  work_.release();
  pivots_.release();
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class DenseSolver<Ex>;                                                                                                          \
  template PetscErrorCode DenseSolver<Ex>::solve(Ex &, const float *, float *);                                                            \
  template PetscErrorCode DenseSolver<Ex>::solve(Ex &, const double *, double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
