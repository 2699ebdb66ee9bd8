// Matrices of finite elements on meshes without structure, the same on every machine.
#pragma once
#include "support/gallery.hpp"

namespace amgkit::test
{
// -Δu by linear elements on the Delaunay triangulation of n random points of the unit square, in the order of a walk through it, and of
// their mirror images beyond its sides, where u = 0.
HostCsr delaunay_laplacian(int n);
// The same on tetrahedra, six of every cell of a grid of n³ points inside the unit cube that were moved at random, by up to shift cells in
// each direction; u = 0 on the boundary. Obtuse angles give positive entries off the diagonal.
HostCsr tetrahedra_laplacian(int n, double shift);
} // namespace amgkit::test
