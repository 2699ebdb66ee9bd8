#pragma once
#include <petscksp.h>

namespace amgkit
{
// KSPAMGFGMRES: flexible GMRES with restarts, preconditioned from the right, for any matrix and a preconditioner that may change from one
// application to the next, as a k-cycle does.
// See krylov/fgmres.hpp. Its steps are fused, and the product with the operator is that of amgfcg. Three work vectors, and two for each
// iteration of a cycle, which come when they are needed. Norms: unpreconditioned (default), none. The norm is the estimate of the method;
// where a cycle begins, that of b - A x.
//
// -ksp_amgfgmres_restart <n> (30), or KSPGMRESSetRestart(): iterations of a cycle.
PetscErrorCode KSPCreate_AMGFGMRES(KSP ksp);
} // namespace amgkit
