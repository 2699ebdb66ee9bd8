// The multigrid V-cycle.
#pragma once
#include "amg/hierarchy.hpp"

namespace amgkit
{
// x = B b, one V-cycle on a zero guess with `sweeps` smoothing sweeps before and after each coarse correction. B is symmetric
// when A is. Collective; the finest matrix's memory must be accessible; x must not be b.
template <class Ex> PetscErrorCode v_cycle(Ex &, Hierarchy<Ex> &, PetscInt sweeps, const double *b, double *x);
} // namespace amgkit
