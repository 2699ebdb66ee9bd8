// Symmetric positive definite matrices of finite elements with positive couplings, Dirichlet conditions at all ends.
#pragma once
#include "support/gallery.hpp"

#include <algorithm>
#include <numeric>
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

// As assembled in another order: entries that were the same differ in their last digits.
inline HostCsr rounded(HostCsr A)
{
  for (std::size_t k = 0; k < A.val.size(); k++) A.val[k] *= 1 + 1e-14 * static_cast<double>(k * k % 19);
  return A;
}

// The size up to which negative couplings are weak in a row with these couplings and a positive diagonal entry, where those up to `weak`
// are so anyway; -1: the row is not judged by signs. graph/positive_couplings.hpp, read literally.
inline double largest_cancelled(const std::vector<double> &couplings, double weak)
{
  double positive = 0;
  std::vector<double> sizes;
  for (const double a : couplings) {
    positive += std::max(a, 0.0);
    if (a < 0) sizes.push_back(-a);
  }
  const double negative = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  if (positive <= negative / 4 || positive >= negative) return -1;
  std::sort(sizes.begin(), sizes.end());
  double smaller = 0;
  for (auto first = sizes.begin(); first != sizes.end();) {
    const double largest = 1.000001 * *first;
    const auto last = std::find_if(first, sizes.end(), [=](double a) { return a > largest; });
    const double same = std::accumulate(first, last, 0.0);
    if (*first > weak && smaller + same / 2 > positive) break;
    weak = std::max(weak, largest);
    smaller += same;
    first = last;
  }
  return weak;
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
