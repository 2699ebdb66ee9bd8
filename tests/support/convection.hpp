// Convection and diffusion, -Δu + w · ∇u, by upwind differences: M-matrices with a symmetric pattern and unsymmetric values.
#pragma once
#include "support/gallery.hpp"

namespace amgkit::test
{
enum class Wind : int { constant, rotating };

// On a grid of n^dimension inner points of the unit square or cube, Dirichlet, scaled by h². No component of the wind is larger than the
// cell Péclet number, |w| h / diffusion, and the largest one reaches it. constant: (1, 1/2, 1/4), along no axis; rotating: closed
// streamlines with points of no wind, as in Notay 2012, "Aggregation-based algebraic multigrid for convection-diffusion equations".
HostCsr convection_diffusion(int dimension, int n, double peclet, Wind wind);
} // namespace amgkit::test
