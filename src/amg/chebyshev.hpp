// Chebyshev polynomials of an operator whose eigenvalues are positive (Saad, Iterative Methods for Sparse Linear Systems, section 12.3).
#pragma once
#include "sparse/formats/spmv.hpp"

#include <vector>

namespace amgkit
{
// 0 < low <= high; for degrees above 1, low < high.
struct Interval {
  double low, high;
};

// The steps x <- x + momentum (x - previous) + factor D⁻¹ (b - A x) of the polynomial p of this degree, at least 1, that is smallest on the
// interval, of all with p(0) = 1: an error e becomes p(D⁻¹ A) e.
std::vector<RelaxStep> chebyshev_steps(PetscInt degree, Interval);
// The root of p next to the middle of the interval.
double chebyshev_root(PetscInt degree, Interval);
// The least degree, and at most this one, for which |p| is at most bound on the interval.
PetscInt chebyshev_degree(double bound, Interval, PetscInt most);
// The lower end from which on it is, with this degree; at least low.
double chebyshev_low(double bound, Interval, PetscInt degree);
} // namespace amgkit
