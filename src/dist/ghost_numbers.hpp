// Global numbers of what the ghosts stand for.
#pragma once
#include "base/array.hpp"

#include <cstdint>
#include <vector>

namespace amgkit
{
// How many of these ghosts stand before index first; ghosts ascend.
int ghosts_before(const std::vector<PetscInt> &ghosts, PetscInt first);
// number[g] <- first_number[r] + local[g] for a ghost g of rank r, no_key for local[g] < 0. ghosts ascend; range: as in DistMatrix. Local.
template <class Ex>
PetscErrorCode global_numbers(Ex &, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts,
                              const std::vector<PetscInt> &first_number, const int *local, Array<std::uint64_t, Ex> &number);
} // namespace amgkit
