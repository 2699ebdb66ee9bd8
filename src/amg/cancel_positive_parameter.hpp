// The parameter of those multigrid types whose strength of connection looks at signs.
#pragma once
#include "base/parameters.hpp"

namespace amgkit
{
// become: what becomes of couplings that are cancelled, in the present tense
inline Parameter cancel_positive_parameter(PetscBool *cancel, const std::string &least, const std::string &where,
                                           const std::string &become = "count as weak")
{
  return {"cancel_positive", Flag{cancel}, "Let positive couplings cancel the smallest negative couplings of their row",
          "A coupling is positive if it has the sign of the diagonal entry, as many have in flat finite elements. Let P be the sum of a "
          "row's positive couplings, and N the sum of the absolute values of its negative ones. If P is between " +
              least + " and N, the smallest negative couplings " + become +
              ", up to a sum of about P. The same holds for larger ones if their size is at most about s times the largest size, and those "
              "of one size sum to at most P. Here s is the largest positive coupling divided by the diagonal entry. " +
              where};
}
} // namespace amgkit
