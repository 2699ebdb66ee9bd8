// The parameters of amgmatching alone.
#pragma once
#include "amg/cancel_positive_parameter.hpp"

namespace amgkit
{
struct MatchingParameters {
  PetscInt matching_steps = 3;
  PetscBool quality_aware = PETSC_FALSE;
  PetscReal kappa = 60;
  PetscBool cancel_positive = PETSC_TRUE;

  ParameterList list()
  {
    return {
        {"matching_steps", IntegerRange{&matching_steps, 1, 4},
         "Number of pairwise matchings per level: an aggregate has about 2^matching_steps rows",
         "In the first one, rows that are left single join a pair, each row of which takes one at most.",
         "BootCMatchGX, without these joins"},
        {"kappa", RealRange{&kappa, 0, 1e6},
         "Match a pair only if its bound on the two-grid condition number is at most this; 0 matches all",
         "For an inner pair of a 7-point grid the bound is 6, of a 27-point grid 26. With block sizes above 1 there is no bound. "
         "It gives way where too many rows would be left; -ksp_view names such levels.",
         "Notay 2012, who takes 8, and 10 for matrices that are not symmetric"},
        cancel_positive_parameter(
            &cancel_positive, "N / 6",
            "A coupling is left out only if both rows cancel it; a row with P of at least N leaves this to the other row. Positive "
            "couplings between such rows are left out, too, unless both have P of at least N. With block sizes above 1 the option has no "
            "effect.",
            "are left out when rows are matched"),
        {"quality_aware", Flag{&quality_aware}, "Match pairs with a small bound first, instead of those with a large weight",
         "This needs kappa > 0.", "Notay 2012"},
    };
  }
};
} // namespace amgkit
