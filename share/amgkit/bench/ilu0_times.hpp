// Times of ILU(0) and its solves, for amgkit_kernels.
#pragma once
#include "base/array.hpp"

namespace amgkit::bench
{
// A: 7-point, of a grid with n points in each direction. A time is the best of the samples, solves' the mean over `repeat` in a row.
template <class Ex> PetscErrorCode time_ilu0(Ex &, int n, const Csr<double, Ex> &A, PetscInt repeat, PetscInt samples);
// The same of n³ nodes of 3 unknowns, as elasticity has them, in natural order alone.
template <class Ex> PetscErrorCode time_ilu0_of_nodes(Ex &ex, const Csr<double, Ex> &A, PetscInt repeat, PetscInt samples);
} // namespace amgkit::bench
