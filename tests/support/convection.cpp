#include "support/convection.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace amgkit::test
{
namespace
{
using Vector = std::array<double, 3>;

Vector wind_at(int dimension, Wind wind, const Vector &at)
{
  const auto [x, y, z] = at;
  if (wind == Wind::constant) return {1, 0.5, 0.25};
  if (dimension == 2) return {4 * x * (1 - x) * (2 * y - 1), -4 * (2 * x - 1) * y * (1 - y), 0};
  return {4 * x * (1 - x) * (2 * y - 1) * z, -2 * (2 * x - 1) * y * (1 - y), -2 * (2 * x - 1) * (2 * y - 1) * z * (1 - z)};
}
} // namespace

HostCsr convection_diffusion(int dimension, int n, double peclet, Wind wind)
{
  const int nz = dimension == 3 ? n : 1, rows = n * n * nz;
  const double h = 1.0 / (n + 1);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < rows; i++) {
    const std::array<int, 3> point = {i % n, i / n % n, i / n / n}, stride = {1, n, n * n};
    const Vector w = wind_at(dimension, wind, {(point[0] + 1) * h, (point[1] + 1) * h, (point[2] + 1) * h});
    for (int d = 0; d < dimension; d++) {
      const double flow = peclet * w[d];
      entries[{i, i}] += 2 + std::abs(flow); // also of neighbours beyond the boundary
      if (point[d] > 0) entries[{i, i - stride[d]}] = -1 - std::max(flow, 0.0);
      if (point[d] + 1 < n) entries[{i, i + stride[d]}] = -1 + std::min(flow, 0.0);
    }
  }
  return make_csr(rows, rows, entries);
}
} // namespace amgkit::test
