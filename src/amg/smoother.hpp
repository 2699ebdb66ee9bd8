// The smoother of a level: sweeps of a polynomial in D⁻¹ A.
//
//   l1jacobi   x <- x + D⁻¹ (b - A x), D_ii = sign(a_ii) sum_j |a_ij|. Converges for every symmetric definite A
//              (Baker, Falgout, Kolev, Yang 2011).
//   jacobi     x <- x + omega D⁻¹ (b - A x), D the diagonal.
//   chebyshev  the Chebyshev polynomial of D⁻¹ A, D the diagonal, on [0.1 rho, 1.15 rho], rho its spectral radius
//              (Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1). Degree 1 is Jacobi with 1 / (0.625 rho).
#pragma once
#include "amg/parameters.hpp"
#include "dist/transposed.hpp"

#include <vector>

namespace amgkit
{
// Two arrays that the iterate of a level alternates between: every step reads one and writes the other.
struct Iterate {
  double *here, *there;
};

template <class Ex> class Smoother {
public:
  // Local: D⁻¹ and the memory; diagonal: a_ii, A's for jacobi and chebyshev; l1: sign(a_ii) / sum_j |a_ij|, taken over for l1jacobi.
  PetscErrorCode allocate(Ex &, const DistMatrix<Ex> &, const AmgParameters &, const double *diagonal, Array<double, Ex> &&l1);
  // Collective: rho where it is needed, and the steps of a sweep. Uses A.work; *out_of_memory as in attempt().
  PetscErrorCode prepare(Ex &, DistMatrix<Ex> &A, const AmgParameters &, bool *out_of_memory);
  // sweeps sweeps on A x = b from x.here to x.here. zero_guess: what x.here holds on entry is not read, it stands for zeros.
  // Operator: DistMatrix, or TransposedMatrix of the matrix prepared for: as p(D⁻¹ A) D⁻¹ transposed is p(D⁻¹ Aᵀ) D⁻¹, that smoother is the
  // transpose of this one.
  template <class Operator> PetscErrorCode apply(Ex &, Operator &A, PetscInt sweeps, bool zero_guess, const double *b, Iterate &x) const;
  // How often apply() lets the two arrays change places.
  PetscInt flips(PetscInt sweeps, bool zero_guess) const;
  double spectral_radius() const { return spectral_radius_; } // of D⁻¹ A; 0 when it was not needed
  std::size_t bytes() const { return d_.bytes(); }

private:
  Array<double, Ex> d_;
  std::vector<RelaxStep> steps_; // of one sweep
  double spectral_radius_ = 0;
};
} // namespace amgkit
