// How many ranks shall hold a coarse level.
#pragma once
#include "amg/parameters.hpp"
#include "dist/matrix.hpp"

namespace amgkit
{
// Collective. *ranks <- how many shall hold a coarse level instead of all that do now; 0: no fewer. Coarsening ends with at most `last`
// rows. What it ends with, a dense matrix, goes to one.
template <class Ex> PetscErrorCode count_fewer_ranks(const AmgParameters &, const DistMatrix<Ex> &A, PetscInt last, int *ranks);
} // namespace amgkit
