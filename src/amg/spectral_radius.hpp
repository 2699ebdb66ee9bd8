// The largest eigenvalue of D⁻¹ A, and whether A is symmetric: what the smoother and the cycle need to know of an operator.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/rows/tied_rows.hpp"

#include <type_traits>

namespace amgkit
{
struct Spectrum {
  double radius = 0;     // the largest eigenvalue of D⁻¹ A; 0 when A is 0, infinite when numbers overflow on the way
  bool symmetric = true; // whether A is, as far as it couples rows with d != 0
};

// D⁻¹ = diag(d). With tied rows M⁻¹ is D⁻¹ plus their blocks, which invert_tied_blocks() makes for a polynomial.
template <class Ex> struct Scaling {
  const double *d = nullptr;
  const TiedRows<Ex> *tied = nullptr;

  Scaling(const double *of_rows) : d(of_rows) {}
  Scaling(const double *of_rows, const TiedRows<Ex> *groups) : d(of_rows), tied(groups) {}
};

// The spectrum of A's own entries, or of those that the cycle reads, which may be rounded to floats
enum class SpectrumOf { own_entries, stored_entries };

// radius: as 4 steps of Lanczos in the inner product of |D|, D⁻¹ = diag(d), see it, plus the length of the Ritz vector's residual: for
// symmetric A mostly from above, by a few per cent. For other matrices the recurrence ignores the skew part.
// bound: no eigenvalue is larger in size, infinity where nothing is known. Where 4 steps see less than nine tenths of it, the largest
// eigenvalue may belong to a few rows, as on a mesh with slivers: of such ones 4 steps saw down to 0.66, 6 steps at least 0.89. So 6 steps
// are taken, and radius is at least what they see over 1.1. It is not all of it: a smoother's polynomial bears eigenvalues of up to 1.25
// radius, and an interval made longer for a few rows serves all others less well.
// symmetric: xᵀ A y and yᵀ A x are the same to rounding for the first two vectors, which they practically never are for another matrix.
// The start vector is a hash of the global index, so the number of ranks changes only the rounding.
// With tied rows, this holds for M⁻¹ A in the inner product of M. The start vector is then M⁻¹ A times the hash vector, and M depends on
// the number of ranks, as groups end at their boundaries. bound is that of D⁻¹ A, and only says how many steps to take. Whether there are
// tied rows is the same on all ranks. Collective; bound is the same on all ranks.
template <class Ex>
PetscErrorCode estimate_spectrum(Ex &, DistMatrix<Ex> &A, const std::type_identity_t<Scaling<Ex>> &, double bound, Spectrum *,
                                 SpectrumOf entries = SpectrumOf::stored_entries);

// What a polynomial that shall solve with A needs to know of D⁻¹ A.
struct SpectrumEnds {
  double smallest = 0, largest = 0; // of the eigenvalues that are not 0; infinite when numbers overflow on the way
  bool symmetric = true;            // as Spectrum has it
};

// As estimate_spectrum() does, by 5 to 40 steps, which end where the smallest eigenvalue that they see falls by less than 15 % in 5 steps.
// It is an upper bound of the smallest one there is. What is at most 1e-6 of the largest in size counts as 0, as entries rounded to floats
// may make as much of it. z: a vector that A may take to 0, and then is kept out of the steps, which so see the other eigenvalues sooner;
// nullptr on all ranks: nothing is known. Collective; the same on all ranks.
template <class Ex> PetscErrorCode estimate_ends(Ex &, DistMatrix<Ex> &A, const double *d, const Array<double, Ex> *z, SpectrumEnds *);

// The test for symmetry alone, on two hash vectors. Collective.
template <class Ex> PetscErrorCode test_symmetry(Ex &, DistMatrix<Ex> &A, bool *symmetric);
} // namespace amgkit
