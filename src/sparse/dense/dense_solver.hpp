// x = A⁻¹ b for a small dense matrix: the coarsest level's.
#pragma once
#include "sparse/dense/dense.hpp"

namespace amgkit
{
// z, and the vectors whose sum it is, one after the other; count = 0: they are not known
struct NullVectors {
  const double *sum = nullptr;
  int count = 0;
  const double *parts = nullptr;

  const double *part(int n, int k) const { return parts + static_cast<std::size_t>(n) * k; }
};

// A CPU keeps factors of A. They take a sixth (Cholesky's) or a third (LU's) of the inverse's operations, and a solve reads as many
// numbers. On a GPU a triangular solve is a sequence of small steps, so there it is the inverse; also in the debug space, which has the
// GPU's methods.
template <class Ex> class DenseSolver {
  static constexpr bool by_factors = Ex::one_by_one;

public:
  static constexpr const char *name = by_factors ? "dense factorization" : "dense inverse";
  // Room for A, n x n, n at least 1; solves before the next prepare() are undefined.
  PetscErrorCode allocate(Ex &, int n);
  // A by rows, to be filled before prepare().
  double *matrix() { return A_.data(); }
  // Where A z = 0, A + |A| z zᵀ / (n |z|²) takes its place, and *regularised: it solves A x = b for every b without a part along z. The
  // same then for those parts of z along which A is singular, too: a body that nobody holds has six motions. *singular: the condition
  // number of the matrix, with rows of one size unless it is symmetric, is 1/eps or more. Norms are maximum norms; with factors that of the
  // inverse is estimated. Waits.
  PetscErrorCode prepare(Ex &, const NullVectors &, bool *singular, bool *regularised);
  // x = A⁻¹ b, x not b; V float or double. Nothing before allocate().
  template <class V> PetscErrorCode solve(Ex &, const V *b, V *x);
  // x = A⁻ᵀ b
  PetscErrorCode solve_transposed(Ex &, const double *b, double *x);
  std::size_t bytes() const { return A_.bytes() + scale_.bytes() + work_.bytes() + pivots_.bytes(); }
  void release();

private:
  PetscErrorCode regularise(Ex &, double norm, const NullVectors &);
  PetscErrorCode factor_or_invert(Ex &, bool symmetric, const double *z, double *inverse_norm);

  int n_ = 0;
  Array<double, Ex> A_;     // after prepare(): its factors, or its inverse
  Array<double, Ex> scale_; // of A's rows, where it has factors and is not symmetric
  Array<double, Ex> work_;  // n, for factors
  Array<PetscBLASInt, Ex> pivots_;
};
} // namespace amgkit
