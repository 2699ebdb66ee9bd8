// The vector work of Lanczos' recurrence for D⁻¹ A in the inner product of |D|, D⁻¹ = diag(d), and of the symmetry test.
//
// With unnormalised vectors w_k, N_k = |w_k|²_D and a_k = <w_k, D⁻¹ A w_k>_D, and u_k = w_k / sqrt(N_k):
//   w_{k+1} = D⁻¹ A u_k - (a_k / N_k) u_k - sqrt(N_k) u_{k-1}
// The tridiagonal matrix of a_k / N_k, with sqrt(N_k) beside the diagonal, has the eigenvalues that approximate those of D⁻¹ A.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// x_i in (-1, 1), a hash of first + i and salt.
template <class Ex> PetscErrorCode hash_vector(Ex &, std::int64_t n, PetscInt first, int salt, double *x);

// Of step k, from scalars[lanczos_scalars k] on, in the space's memory; sums of this rank's rows alone.
//   0  N_k
//   1  w_k·A w_{k-1}, 2  the sum of its terms' sizes; 0 for k = 0
//   3  a_k
//   4  w_0·A w_1, 5  the sum of its terms' sizes; 0 but for k = 1
// For a symmetric A the numbers 1 and 4 of step 1 are the same. work: as sum_into() needs it for three sums.
inline constexpr int lanczos_scalars = 6;
// w_0 = hash_vector() with salt 0, but 0 where d is; 0 to 2 of step 0. balanced: times sqrt(|d_i|), so that rows of any size count alike.
template <class Ex>
PetscErrorCode lanczos_start(Ex &, std::int64_t n, PetscInt first, const double *d, bool balanced, double *w, double *work,
                             double *scalars);
// 3 to 5 of step k from w_k, A w_k and w_{k-1}, which is read for k = 1 alone
template <class Ex>
PetscErrorCode lanczos_product(Ex &, std::int64_t n, const double *d, const double *w, const double *Aw, const double *w_before,
                               double *work, double *scalars, int k);
// w_{k+1}, written over w_{k-1}; 0 to 2 of step k + 1. z: D⁻¹ A w_k, unless that is nullptr; M⁻¹ A w_k for the recurrence with another M,
// for which N_{k+1} = w_{k+1}·A u_k, as w_{k+1} is orthogonal to the vectors before it.
template <class Ex>
PetscErrorCode lanczos_next(Ex &, std::int64_t n, const double *d, const double *w, const double *Aw, const double *z, double *w_before,
                            double *work, double *scalars, int k);
// With another M: w_0 = z = M⁻¹ t, for any t; 0 to 2 of step 0
template <class Ex>
PetscErrorCode lanczos_start_from(Ex &, std::int64_t n, const double *d, const double *t, const double *z, double *w, double *work,
                                  double *scalars);

// Of a vector z: sums[0..2] = <z, z>_D, <z, D⁻¹ A z>_D, <z, w>_D, without rows where d is 0.
template <class Ex>
PetscErrorCode lanczos_along(Ex &, std::int64_t n, const double *d, const double *z, const double *Az, const double *w, double *work,
                             double *sums);
// With these sums over all ranks, w_0 becomes orthogonal to z; 0 to 2 of step 0 anew
template <class Ex>
PetscErrorCode lanczos_remove(Ex &, std::int64_t n, const double *d, const double *z, const double *sums, double *w, double *work,
                              double *scalars);

// sums[0..1] = x·y, |x|·|y|, the latter entry by entry
template <class Ex> PetscErrorCode dot_and_size(Ex &, std::int64_t n, const double *x, const double *y, double *work, double *sums);
} // namespace amgkit
