// Symmetric positive definite matrices of finite elements with positive couplings, Dirichlet conditions at all ends.
#pragma once
#include "support/gallery.hpp"

#include <vector>

namespace amgkit::test
{
// On an n x n x n grid of trilinear bricks with edges hx, hy, hz: stiffness K times k plus mass M times m.
inline HostCsr bricks(int n, double hx, double hy, double hz, double k, double m)
{
  const double h[3] = {hx, hy, hz};
  auto stiffness = [&](int axis, int d) { return (d == 0 ? 2 : -1) / h[axis]; };
  auto mass = [&](int axis, int d) { return (d == 0 ? 4 : 1) * h[axis] / 6; };
  std::map<std::pair<int, int>, double> entries;
  for (int row = 0; row < n * n * n; row++) {
    const int x[3] = {row % n, row / n % n, row / n / n};
    for (int near = 0; near < 27; near++) {
      const int d[3] = {near % 3 - 1, near / 3 % 3 - 1, near / 9 - 1};
      bool inside = true;
      double M = 1, K = 0;
      for (int a = 0; a < 3; a++) {
        inside = inside && x[a] + d[a] >= 0 && x[a] + d[a] < n;
        M *= mass(a, d[a]);
        K += stiffness(a, d[a]) * mass((a + 1) % 3, d[(a + 1) % 3]) * mass((a + 2) % 3, d[(a + 2) % 3]);
      }
      if (inside) entries[{row, row + d[0] + n * (d[1] + n * d[2])}] = k * K + m * M;
    }
  }
  return make_csr(n * n * n, n * n * n, entries);
}

inline std::vector<Named> with_positive_couplings(int n = 6)
{
  return {{"flat bricks", bricks(n, 1, 1, 0.01, 1, 0)},
          {"flat bricks, three edges", bricks(n, 1, 0.1, 0.01, 1, 0)},
          {"mass", bricks(n, 1, 1, 1, 0, 1)},
          {"a short time step", bricks(n, 1, 1, 1, 0.01, 1)},
          {"a time step", bricks(n, 1, 1, 1, 0.2, 1)}};
}
} // namespace amgkit::test
