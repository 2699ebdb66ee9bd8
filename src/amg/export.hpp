// The levels as PETSc has them.
#pragma once
#include "amg/hierarchy.hpp"

namespace amgkit
{
// Matrices on the finest level's communicator, which the destructor destroys unless somebody took them. Finest level first:
// operators[l - 1] of level l, interpolations[l - 1] from it to level l - 1, and restrictions[l - 1] the way back, as the transpose of R,
// or nullptr where R is the interpolation's transpose.
struct LevelMats {
  std::vector<Mat> operators, interpolations, restrictions;

  LevelMats() = default;
  LevelMats(const LevelMats &) = delete;
  LevelMats &operator=(const LevelMats &) = delete;
  ~LevelMats();
};

// Collective: out <- matrices of this type.
template <class Ex> PetscErrorCode export_levels(Ex &, const Hierarchy<Ex> &, MatType, LevelMats &out);
} // namespace amgkit
