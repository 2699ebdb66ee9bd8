// What a visit to a level costs, for the choice of cycles.
#pragma once
#include "amg/kcycle_levels.hpp"
#include "amg/level.hpp"

namespace amgkit
{
// Whether the cycle's vectors are in single precision, and how many sweeps solve the coarsest level; none: a dense solver does.
struct CycleTraits {
  bool single = false;
  PetscInt coarse_sweeps = 0;
};
// Local: this rank's part of the level, its smoother prepared. A model by the kernels, the bytes and the messages of a visit; no time is
// measured, so that a choice is the same each time.
template <class Ex> PetscErrorCode visit_cost(const Level<Ex> &, const AmgParameters &, CycleTraits, VisitCost *);
} // namespace amgkit
