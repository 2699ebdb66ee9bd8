// Linear elasticity on the unit square or cube: bilinear or trilinear finite elements, E = 1, Poisson's ratio 0.25, in 2D plane strain.
#pragma once
#include "support/gallery.hpp"

namespace amgkit::test
{
struct Elasticity {
  HostCsr A;                       // dim unknowns a node
  std::vector<double> coordinates; // dim a node
  int dim = 0;

  int nodes() const { return A.rows / dim; }
};
// n nodes a side, x fastest. Clamped: of those whose last coordinate is 0, rows and columns are the identity's.
Elasticity elasticity(int dim, int n, bool clamped = true);
} // namespace amgkit::test
