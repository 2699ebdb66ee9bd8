// The restriction of a residual in the pass that forms it, for a matrix in sliced ELL and an aggregation whose aggregates lie mostly in one
// slice each, as those of the finest grid do where rows follow lines: its residuals are then neither written nor read again.
#pragma once
#include "sparse/aggregation.hpp"
#include "sparse/sell.hpp"

namespace amgkit
{
// Which aggregates a slice holds alone. Aggregates must be numbered by their smallest rows.
template <class Ex> struct SlicedAggregation {
  Array<int, Ex> first;            // aggregates first[s] <= c < first[s + 1] have their smallest row in slice s
  Array<unsigned char, Ex> beyond; // of each aggregate: whether it has rows in other slices, or rows coupled to other ranks
  Array<int, Ex> list;             // those aggregates
  Array<std::uint64_t, Ex> needed; // bit r of slice s: row 64 s + r is in such an aggregate

  std::size_t bytes() const { return first.bytes() + beyond.bytes() + list.bytes() + needed.bytes(); }
};

// coupled: rows with entries in other ranks' columns. *pays = false, and nothing stored, unless most aggregates are held by a slice alone.
template <class Ex>
PetscErrorCode slice_aggregates(Ex &, const Aggregation<Ex> &, const Array<int, Ex> &coupled, SlicedAggregation<Ex> &, bool *pays);

// With r = b - A x: coarse = Pᵀ r for the aggregates that a slice holds alone, and r of all other aggregates' rows. r must not be x.
template <class Ex, class T, class V>
PetscErrorCode residual_restricted(Ex &, SellView<T> A, const Aggregation<Ex> &, const SlicedAggregation<Ex> &, const V *p, const V *b,
                                   const V *x, V *r, V *coarse);
// coarse = Pᵀ r for the others
template <class Ex, class V>
PetscErrorCode restrict_beyond(Ex &, const Aggregation<Ex> &, const SlicedAggregation<Ex> &, const V *p, const V *r, V *coarse);
} // namespace amgkit
