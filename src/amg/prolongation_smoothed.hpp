// Smoothed aggregation: P of amgsa.
#pragma once
#include "amg/level.hpp"
#include "amg/prolongation_smoothed_parameters.hpp"
#include "dist/near_null.hpp"

namespace amgkit
{
// Strength of nodes, MIS(k), aggregates, tentative prolongator from the near-null space, smoothing, filter, Galerkin product.
// Vaněk, Mandel, Brezina 1996; Bell, Dalton, Olson 2012. The coordinates must outlive what is made here.
template <class Ex> std::unique_ptr<Prolongation<Ex>> make_smoothed_prolongation(const SmoothedParameters &, const Coordinates &);
} // namespace amgkit
