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
// Whether pc's inner PCMG says on any rank that a part of it failed. Collective.
PetscErrorCode mg_failed(PC pc, bool *failed);
// Has pc say PC_SUBPC_ERROR when its inner PCMG says on this rank that a part of it failed.
PetscErrorCode take_failure_of_mg(PC pc);
} // namespace amgkit
