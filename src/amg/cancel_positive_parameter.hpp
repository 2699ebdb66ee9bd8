// The parameter of those multigrid types whose strength of connection looks at signs.
#pragma once
#include "base/parameters.hpp"

namespace amgkit
{
inline Parameter cancel_positive_parameter(PetscBool *cancel, const std::string &where)
{
  return {
      "cancel_positive", Flag{cancel}, "Let positive couplings cancel the smallest negative couplings of their row",
      "A coupling is positive if it has the sign of the diagonal entry, as many couplings in flat finite elements have. If the positive "
      "ones of a row sum to more than a quarter of the sum of the negative ones, and to less than that sum, the smallest negative ones "
      "are weak, until their sum is about that of the positive ones. " +
          where};
}
} // namespace amgkit
