// The coarse matrix of a distributed level.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/aggregation.hpp"

namespace amgkit
{
// Completes coarse = Pᵀ A P for a prolongator with one entry a row, p, and aggregates that do not cross ranks.
// On entry coarse.own_diag holds the block of own columns; this adds range, ghosts, the block of ghost columns and the halo.
// Collective. *out_of_memory as in attempt().
template <class Ex>
PetscErrorCode complete_galerkin(Ex &, DistMatrix<Ex> &A, const Aggregation<Ex> &, const double *p, DistMatrix<Ex> &coarse,
                                 bool *out_of_memory);
} // namespace amgkit
