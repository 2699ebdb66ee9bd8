// The coarse matrix of a distributed level.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
// What a rank knows of the aggregates that its ghost columns belong to.
template <class Ex> struct GhostAggregates {
  Array<int, Ex> column;         // ghost column of A -> ghost column of the coarse matrix, -1: in no aggregate
  Array<double, Ex> weight;      // p of the ghost's row; none where all are 1
  Array<unsigned char, Ex> slot; // of offd's entries, as contract() gives it

  std::size_t bytes() const { return column.bytes() + weight.bytes() + slot.bytes(); }
};

// Completes coarse = Pᵀ A P for a prolongator with one entry a row, p, and aggregates that do not cross ranks. ones: that all entries are
// 1 and p is nullptr; the same on all ranks.
// On entry coarse.own_diag holds the block of own columns; this adds range, ghosts, the block of ghost columns and the halo.
// Collective.
template <class Ex>
PetscErrorCode complete_galerkin(Ex &, DistMatrix<Ex> &A, const Aggregation<Ex> &, const double *p, bool ones, GhostAggregates<Ex> &,
                                 DistMatrix<Ex> &coarse);
// Both blocks' values anew, for other values of A on the same pattern; slot: of diag's entries, as contract() gave it. Local.
template <class Ex>
PetscErrorCode galerkin_values(Ex &, const DistMatrix<Ex> &A, const Aggregation<Ex> &, const double *p,
                               const Array<unsigned char, Ex> &slot, const GhostAggregates<Ex> &, DistMatrix<Ex> &coarse);
} // namespace amgkit
