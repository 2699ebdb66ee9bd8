// The inverse of a small dense matrix on the GPU without pivoting.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// A <- A⁻¹, n x n by rows, n at least 1. *done = false, and A stays, where that cannot be without pivots. Waits.
//
// symmetric: A is, to rounding. It is done where A or -A is positive definite, and the inverse is symmetric to the last bit. For another
// matrix it is done where the outcome is seen to be an inverse: A (A⁻¹ x) is x up to 1e-10 for a vector x of no structure.
PetscErrorCode gauss_jordan(Cuda &, int n, bool symmetric, double *A, bool *done);
} // namespace amgkit
