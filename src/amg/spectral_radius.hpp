// The largest eigenvalue of D⁻¹ A, and whether A is symmetric: what the smoother and the cycle need to know of an operator.
#pragma once
#include "dist/matrix.hpp"

namespace amgkit
{
// The largest eigenvalue of D⁻¹ A, D⁻¹ = diag(d), as 4 steps of Lanczos in the inner product of |D| see it, plus the length of the
// Ritz vector's residual: for symmetric A mostly from above, by a few per cent. (Without the residual 8 steps serve less well.) For
// other matrices the recurrence ignores the skew part. The start vector is a hash of the global index, so the number of ranks changes
// only the rounding. Collective; *rho = 0 when A is 0; *out_of_memory as in attempt().
template <class Ex> PetscErrorCode estimate_spectral_radius(Ex &, DistMatrix<Ex> &A, const double *d, double *rho, bool *out_of_memory);

// Compares xᵀ A y with yᵀ A x for two hash vectors: equal to rounding for a symmetric A, and practically never for another.
// Collective; *out_of_memory as in attempt().
template <class Ex> PetscErrorCode test_symmetry(Ex &, DistMatrix<Ex> &A, bool *symmetric, bool *out_of_memory);
} // namespace amgkit
