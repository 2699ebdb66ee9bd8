// Global numbers of what the ghosts stand for.
#pragma once
#include "sparse/rows/ghosted_rows.hpp"

#include <cstdint>
#include <vector>

namespace amgkit
{
// Numbers over the ranks of a communicator: rank r has those from (*this)[r] to (*this)[r + 1]. number_over_ranks() makes it.
struct RankRanges : std::vector<PetscInt> {
  int rank = 0; // this one

  PetscInt first() const { return (*this)[static_cast<std::size_t>(rank)]; }
};
// How many of these ghosts stand before index first; ghosts ascend.
int ghosts_before(const std::vector<PetscInt> &ghosts, PetscInt first);
// number[g] <- first_number[r] + local[g] for a ghost g of rank r, no_key for local[g] < 0. ghosts ascend; range: as in DistMatrix. Local.
template <class Ex>
PetscErrorCode global_numbers(Ex &, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts,
                              const std::vector<PetscInt> &first_number, const int *local, Array<std::uint64_t, Ex> &number);
// offd's columns, all[] by their global numbers, less those without an entry; ghosts: the numbers of the others. Local; waits.
template <class Ex>
PetscErrorCode keep_used_ghosts(Ex &ex, Csr<double, Ex> &offd, const std::vector<PetscInt> &all, std::vector<PetscInt> &ghosts)
{
  std::vector<int> kept;

  PetscFunctionBegin;
  PetscCall(drop_empty_columns(ex, offd, kept));
  ghosts.clear();
  for (const int g : kept) ghosts.push_back(all[static_cast<std::size_t>(g)]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
