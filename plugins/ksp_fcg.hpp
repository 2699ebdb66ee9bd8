#pragma once
#include <petscksp.h>

namespace amgkit
{
// KSPAMGFCG: flexible conjugate gradients, each direction orthogonal to the one before, for symmetric positive definite A and a
// preconditioner that may change from one application to the next, as a k-cycle does.
// See krylov/fcg.hpp; PETSc's own fcg calls VecMTDot, which copies device vectors to the host. Its steps are fused. On a GPU, and
// on a CPU for a matrix of complete blocks, the product with the operator is the preconditioner's, where that is one of ours for the same
// matrix, else MatMult(). Four work vectors; norms: unpreconditioned (default), natural (sqrt(w·r)), none.
//
// -ksp_amgfcg_precision double|mixed|auto (auto: mixed where it pays): with mixed, which needs a GPU, two work vectors and three of floats,
// and a residual in double precision decides the end of a solve. KSP_DIVERGED_BREAKDOWN where that no longer falls.
PetscErrorCode KSPCreate_AMGFCG(KSP ksp);
} // namespace amgkit
