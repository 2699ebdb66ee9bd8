// Classical coarsening and interpolation: P of amgclassical.
#pragma once
#include "amg/level.hpp"
#include "amg/prolongation_classical_parameters.hpp"

namespace amgkit
{
// Strength, PMIS, interpolation in matrix-matrix form, Galerkin product.
// De Sterck, Yang, Heys 2006; Li, Sjögreen, Yang 2021 (hypre BoomerAMG on GPUs).
template <class Ex> std::unique_ptr<Prolongation<Ex>> make_classical_prolongation(const ClassicalParameters &);
} // namespace amgkit
