#pragma once
#include <petscksp.h>

namespace amgkit
{
// KSPAMGFCG: flexible conjugate gradients, each direction orthogonal to the one before, for symmetric positive definite A and a
// preconditioner that may change from one application to the next, as a k-cycle does.
//
//   w = B r, d = w - (w·q / rho) d, q = A d, rho = d·q, x += (d·r / rho) d, r -= (d·r / rho) q
//
// Notay: Flexible conjugate gradients, 2000. PETSc's own fcg calls VecMTDot, which copies device vectors to the host. rho is computed,
// not taken from a recurrence that needs A to be symmetric to the last row (as with one reduction an iteration; Notay, Napov 2015), so
// that Dirichlet rows whose columns are still coupled do no harm. Four work vectors; norms: unpreconditioned (default), natural
// (sqrt(w·r)), none.
PetscErrorCode KSPCreate_AMGFCG(KSP ksp);
} // namespace amgkit
