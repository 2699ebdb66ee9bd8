#pragma once
#include "amg/parameters.hpp"
#include "amg/prolongation_matching_parameters.hpp"

#include <petscpc.h>

namespace amgkit
{
// PCAMGMATCHING: algebraic multigrid by pairwise aggregation along maximum-weight matchings.
// Bernaschi, Celestini, D'Ambra, Vella: a multi-GPU aggregation-based AMG preconditioner, 2023 (BootCMatchGX).
PetscErrorCode PCCreate_AMGMatching(PC pc);
// Its options, with their defaults, as PCCreate_AMGMatching() sets them.
ParameterList matching_parameter_list(AmgParameters &, MatchingParameters &);
} // namespace amgkit
