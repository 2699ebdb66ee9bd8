// The multigrid cycles.
//
//   v   one visit to each coarser level
//   w   two visits, the second for the residual of the first
//   f   as w, but the second visit is a v-cycle
//   k   two steps of a flexible Krylov method (kcycle.hpp)
// The last three act on the kcycle_levels finest coarse problems, a v-cycle below.
//
// B, one cycle on a zero guess, is symmetric when A is, the sweeps before and after are as many and the cycle is v or w; f is linear but
// not symmetric, k not even linear. In single precision the vectors of all levels are floats, and no cycle is linear to more than 1e-7: it
// is for flexible methods, too, and allowed where hierarchy.single is true. All functions are collective, take a kind that is not
// automatic, and need the finest matrix's memory to be accessible; x must not be b.
#pragma once
#include "amg/hierarchy.hpp"

namespace amgkit
{
// x = B b
template <class Ex> PetscErrorCode apply_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleChoice, const double *b, double *x);
// x = Bᵀ b, for v, w and f, in double precision: the cycle for Aᵀ with the sweeps before and after exchanged. The first call after a setup
// makes the transposes of all levels.
template <class Ex>
PetscErrorCode apply_transposed_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind, const double *b, double *x);
// Records the part of this cycle that one rank does alone as one launch, when that is possible: on a GPU, below the level from which
// everything coarser is on one rank. apply_cycle() then must be asked for this choice until the next recording. Local.
template <class Ex> PetscErrorCode record_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleChoice);
} // namespace amgkit
