#pragma once
#include <petscksp.h>

namespace amgkit
{
// KSPAMGFCG: flexible conjugate gradients with one reduction an iteration, for symmetric positive definite A and a preconditioner
// that may change from one application to the next, as a k-cycle does.
//
//   w = B r, v = A w, alpha = w·r, beta = w·v, gamma = w·q, rho' = beta - gamma² / rho,
//   d = w - (gamma / rho) d, q = v - (gamma / rho) q = A d, x += (alpha / rho') d, r -= (alpha / rho') q
//
// Notay, Napov: a massively parallel solver for discrete Poisson-like problems, 2015; BootCMatchGX, algorithm 1. PETSc's own fcg
// calls VecMTDot, which copies device vectors to the host. Five work vectors; norms: unpreconditioned (default), natural
// (sqrt(w·r), tested an iteration late), none.
PetscErrorCode KSPCreate_AMGFCG(KSP ksp);
} // namespace amgkit
