#pragma once
#include "base/parameters.hpp"
#include "ilu/parameters.hpp"

#include <petscpc.h>

namespace amgkit
{
// PCILU2LEVEL: ILU(0) of each rank's rows, their couplings to other ranks left out (block Jacobi).
// Xu, Li, Osei-Kuffuor 2022 (hypre ILU on GPUs).
PetscErrorCode PCCreate_ILU2Level(PC pc);
} // namespace amgkit
