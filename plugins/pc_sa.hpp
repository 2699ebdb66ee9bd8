#pragma once
#include "amg/parameters.hpp"
#include "amg/prolongation_smoothed_parameters.hpp"

#include <petscpc.h>

namespace amgkit
{
// PCAMGSA: multigrid by smoothed aggregation, with near-null spaces.
// Vaněk, Mandel, Brezina 1996; Bell, Dalton, Olson 2012.
PetscErrorCode PCCreate_AMGSA(PC pc);
// Its options, with their defaults, as PCCreate_AMGSA() sets them.
ParameterList smoothed_parameter_list(AmgParameters &, SmoothedParameters &);
} // namespace amgkit
