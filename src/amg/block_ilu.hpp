// (L U)⁻¹ for a smoother: ILU(0) of each rank's diagonal block, in natural order, see sparse/ilu0/ilu0.hpp. For a symmetric block L U is
// symmetric too. For an M-matrix A = L U - R is a regular splitting, and the smoother converges (Meijerink, van der Vorst 1977).
//
// For others nothing is sure, and coarse levels are of that kind. The factors count as no good, on all ranks, where
//   a diagonal entry is missing, or a pivot is 0 or not finite or has another sign than the diagonal entry;
//   the entries of (L U)⁻¹ e exceed 1/eps, e_i the absolute sum of row i of A with the sign of a_ii (as Chow, Saad 1997, who take e = 1);
//   four sweeps on A x = 0 do not leave all |x_i| |e_i|^(1/2) below the 1 that they are random numbers below at first.
// None of this depends on A's scale.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/ilu0/ilu0.hpp"

#include <string>

namespace amgkit
{
template <class Ex> class BlockIlu {
public:
  // Collective. Of A's diagonal block in the precision that A is kept in; anew for other values, on the same pattern by the analysis that
  // is there. d[i] = 1 / e_i, or 0.
  PetscErrorCode factor(Ex &, DistMatrix<Ex> &A, const double *d);
  // Whether the factors can be used; the same on all ranks.
  bool good() const { return fault_ == Fault::none; }
  // Local: before transposed solves, with these factors and later ones. Does nothing the second time.
  PetscErrorCode transpose(Ex &, const DistMatrix<Ex> &A);
  // x = (L U)⁻¹ b, or (L U)⁻ᵀ b; x may be b. Neither waits nor allocates.
  template <class V> PetscErrorCode solve(Ex &, bool transposed, const V *b, V *x);
  // What is said of factors that are no good.
  std::string trouble() const;
  std::size_t bytes() const { return ilu_.bytes(); }

private:
  enum class Fault : int { none, no_diagonal, zero_pivot, not_finite, unstable, divergent, unknown };
  static_assert(static_cast<int>(Fault::not_finite) == static_cast<int>(IluFault::not_finite), "IluFault's come first");
  PetscErrorCode factor_block(Ex &, const DistMatrix<Ex> &A, const double *d, Fault *, int *row);
  PetscErrorCode look_at_factors(Ex &, const double *d, Fault *, int *row);
  PetscErrorCode smooth_an_error(Ex &, DistMatrix<Ex> &A, const double *d, Fault *, int *row);
  PetscErrorCode agree(const DistMatrix<Ex> &A, Fault, int row);

  Ilu0<Ex> ilu_;
  bool analysed_ = false;
  Fault fault_ = Fault::unknown; // of all ranks
  PetscInt row_ = -1;            // with it
};

// The first row whose pivot and d_i differ in sign, or with |x_i| > most, or NaN; n: none. Waits.
template <class Ex>
PetscErrorCode first_unstable_row(Ex &, int n, const double *inverse_pivot, const double *d, double most, const double *x, int *row);
// x_i = |d_i|^(1/2) times a random number of size 1 at most, by the global number of the row.
template <class Ex> PetscErrorCode random_error(Ex &, int n, PetscInt first, const double *d, double *x);
// The first row with |x_i| > |d_i|^(1/2), or NaN; n: none. Waits.
template <class Ex> PetscErrorCode first_large_error(Ex &, int n, const double *d, const double *x, int *row);
} // namespace amgkit
