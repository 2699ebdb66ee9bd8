// Aggregates of a distributed graph's vertices, which may lie on several ranks.
#pragma once
#include "base/array.hpp"

#include <petscsys.h>
#include <vector>

namespace amgkit
{
template <class Ex> struct NodeAggregates {
  int count = 0;                // of this rank, numbered in the order of their roots
  RankRanges range;             // rank r has aggregates range[r] <= I < range[r + 1]
  std::vector<PetscInt> ghosts; // global numbers of the other ranks' aggregates that nodes of this rank belong to, ascending
  Array<int, Ex> id;            // of a node: an own aggregate, less range[rank]; count + g: ghosts[g]; -1: none
};
} // namespace amgkit
