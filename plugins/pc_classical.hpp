#pragma once
#include "amg/parameters.hpp"
#include "amg/prolongation_classical_parameters.hpp"

#include <petscpc.h>

namespace amgkit
{
// PCAMGCLASSICAL: classical algebraic multigrid by PMIS and interpolation in matrix-matrix form.
// De Sterck, Yang, Heys 2006; Li, Sjögreen, Yang 2021 (hypre BoomerAMG on GPUs).
PetscErrorCode PCCreate_AMGClassical(PC pc);
// Its options, with their defaults, as PCCreate_AMGClassical() sets them.
ParameterList classical_parameter_list(AmgParameters &, ClassicalParameters &);
} // namespace amgkit
