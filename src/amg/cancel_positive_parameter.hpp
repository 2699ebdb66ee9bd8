// The parameter of those multigrid types whose strength of connection looks at signs.
#pragma once
#include "base/parameters.hpp"

namespace amgkit
{
inline Parameter cancel_positive_parameter(PetscBool *cancel, const std::string &where)
{
  return {"cancel_positive", Flag{cancel}, "Let positive couplings cancel the smallest negative couplings of their row",
          "A coupling is positive if it has the sign of the diagonal entry, as many have in flat finite elements. P is the sum of a row's "
          "positive couplings, and N that of the sizes of its negative ones. If P is between N / 4 and N, the smallest negative couplings "
          "are weak, until their sum is about P. " +
              where};
}
} // namespace amgkit
