#include "support/elasticity.hpp"

#include <array>
#include <cmath>

namespace amgkit::test
{
namespace
{
// The gradient of corner's shape function on the element [0, 1]^dim, where bit c of corner is its coordinate c
std::array<double, 3> gradient(int dim, int corner, const std::array<double, 3> &x)
{
  std::array<double, 3> g{};
  for (int d = 0; d < dim; d++) {
    g[d] = 1;
    for (int c = 0; c < dim; c++) {
      const bool far = (corner >> c) & 1;
      g[d] *= c == d ? (far ? 1 : -1) : (far ? x[c] : 1 - x[c]);
    }
  }
  return g;
}

// K[(a dim + i) corners dim + b dim + j] = integral of lambda a,i b,j + mu (a,j b,i + delta_ij grad a . grad b), by 2^dim Gauss points
std::vector<double> stiffness(int dim)
{
  constexpr double lambda = 0.4, mu = 0.4; // E nu / ((1 + nu) (1 - 2 nu)), E / (2 (1 + nu))
  const int corners = 1 << dim, size = corners * dim;
  const std::array<double, 2> gauss = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
  std::vector<double> K(static_cast<std::size_t>(size) * size);
  for (int point = 0; point < corners; point++) {
    const std::array<double, 3> x = {gauss[point & 1], gauss[(point >> 1) & 1], gauss[(point >> 2) & 1]};
    for (int a = 0; a < corners; a++) {
      for (int b = 0; b < corners; b++) {
        const auto ga = gradient(dim, a, x), gb = gradient(dim, b, x);
        const double dot = ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2];
        for (int i = 0; i < dim; i++) {
          for (int j = 0; j < dim; j++)
            K[(a * dim + i) * size + b * dim + j] += (lambda * ga[i] * gb[j] + mu * (ga[j] * gb[i] + (i == j ? dot : 0))) / corners;
        }
      }
    }
  }
  return K;
}
} // namespace

Elasticity elasticity(int dim, int n, bool clamped)
{
  const std::vector<double> K = stiffness(dim);
  const int corners = 1 << dim, size = corners * dim, side = dim == 2 ? n : n * n, nodes = side * n, held = clamped ? side : 0;
  std::map<std::pair<int, int>, double> entries;
  Elasticity out;
  auto coordinate = [n](int node, int c) { return node / (c == 0 ? 1 : c == 1 ? n : n * n) % n; };
  for (int node = 0; node < nodes; node++) {
    bool corner = true; // of an element
    for (int c = 0; c < dim; c++) {
      out.coordinates.push_back(coordinate(node, c) / (n - 1.0));
      corner = corner && coordinate(node, c) < n - 1;
    }
    for (int i = 0; node < held && i < dim; i++) entries[{node * dim + i, node * dim + i}] = 1;
    if (!corner) continue;
    auto at = [=](int k) { return node + (k & 1) + ((k >> 1) & 1) * n + ((k >> 2) & 1) * n * n; };
    for (int r = 0; r < size; r++) {
      for (int s = 0; s < size; s++) {
        if (at(r / dim) >= held && at(s / dim) >= held)
          entries[{at(r / dim) * dim + r % dim, at(s / dim) * dim + s % dim}] += K[r * size + s];
      }
    }
  }
  out.dim = dim;
  out.A = make_csr(nodes * dim, nodes * dim, entries);
  return out;
}
} // namespace amgkit::test
