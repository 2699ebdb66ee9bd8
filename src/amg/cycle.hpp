// The multigrid cycles.
//
//   v   one visit to each coarser level
//   w   two visits, the second for the residual of the first
//   f   as w, but the second visit is a v-cycle
//   k   two steps of a flexible Krylov method (kcycle.hpp)
// The last three act on the kcycle_levels finest coarse problems, a v-cycle below.
#pragma once
#include "amg/hierarchy.hpp"

namespace amgkit
{
// x = B b, one cycle on a zero guess; not automatic. B is symmetric when A is, the sweeps before and after are as many and the cycle
// is v or w; f is linear but not symmetric, k not even linear. Collective; the finest matrix's memory must be accessible; x must not be b.
template <class Ex> PetscErrorCode apply_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind, const double *b, double *x);
// Records the part of this cycle below the finest level as one launch, when that is possible: on a GPU, with one rank. apply_cycle()
// then must be asked for this kind until the next recording. Collective.
template <class Ex> PetscErrorCode record_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind);
} // namespace amgkit
