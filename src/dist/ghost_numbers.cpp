#include "dist/ghost_numbers.hpp"

#include "sparse/rows/rearrange.hpp"

#include <algorithm>

namespace amgkit
{
int ghosts_before(const std::vector<PetscInt> &ghosts, PetscInt first)
{
  return static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), first) - ghosts.begin());
}

template <class Ex>
PetscErrorCode global_numbers(Ex &ex, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts,
                              const std::vector<PetscInt> &first_number, const int *local, Array<std::uint64_t, Ex> &number)
{
  std::vector<int> begin;          // an owner's ghosts stand together
  std::vector<std::uint64_t> base; // the owner's first number
  Array<int, Ex> begins;
  Array<std::uint64_t, Ex> bases;

  PetscFunctionBegin;
  for (auto ghost = ghosts.begin(); ghost != ghosts.end();) {
    const auto next = std::upper_bound(range.begin(), range.end(), *ghost);
    begin.push_back(static_cast<int>(ghost - ghosts.begin()));
    base.push_back(static_cast<std::uint64_t>(first_number[static_cast<std::size_t>(next - range.begin()) - 1]));
    ghost = std::lower_bound(ghost, ghosts.end(), *next);
  }
  PetscCall(upload(ex, begin, begins));
  PetscCall(upload(ex, base, bases));
  PetscCall(number.allocate(ex, static_cast<std::int64_t>(ghosts.size())));
  PetscCall(keys_of_pieces(ex, static_cast<int>(begin.size()), begins.data(), bases.data(), local, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(global_numbers)
} // namespace amgkit
