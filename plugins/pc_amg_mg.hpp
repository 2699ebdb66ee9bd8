// A hierarchy as PETSc's own objects: the matrices of its levels, and a PCMG made of them.
#pragma once
#include "plugins/pc_amg.hpp"

namespace amgkit
{
// Composes PCGetInterpolations() and PCGetCoarseOperators() with pc; their arrays begin with the coarsest level, as PCMG's do.
PetscErrorCode compose_getters(PC pc);
PetscErrorCode remove_getters(PC pc);
// Makes pc's inner PCMG, or gives the one that is there the levels of the last setup. Collective.
PetscErrorCode export_to_mg(PC pc);
// Whether the setup of any part of pc's inner PCMG failed on any rank: PC_SUBPC_ERROR, else PC_NOERROR. Collective.
PetscErrorCode failure_of_mg(PC pc, PCFailedReason *);
} // namespace amgkit
