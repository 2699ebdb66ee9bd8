// Matrices with tied rows, as slivers make them: sparse/rows/tied_rows.hpp.
#pragma once
#include "support/gallery.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
// A 7-point grid of n³ points, and on every fourth square of four of them c g gᵀ, the matrix of an element that is as good as flat, with c
// such that the two largest entries of g are tied by a_ij² = tied a_ii a_jj. Symmetric positive definite.
inline HostCsr with_flat_elements(int n, double tied)
{
  const HostCsr grid = grid7(n, n, n);
  std::map<std::pair<int, int>, double> entries = entries_of(grid);
  const double g[4] = {1, -1.1, 0.7, -0.6}, part = std::sqrt(tied), c = 6 * part / (g[0] * -g[1] * (1 - part));
  int square = 0;
  for (int z = 0; z < n; z++) {
    for (int y = 0; y + 1 < n; y += 2) {
      for (int x = 0; x + 1 < n; x += 2, square++) {
        if (square % 4 != 1) continue;
        const int first = x + n * (y + n * z), node[4] = {first, first + n + 1, first + 1, first + n};
        for (int s = 0; s < 4; s++) {
          for (int t = 0; t < 4; t++) entries[{node[s], node[t]}] += c * g[s] * g[t];
        }
      }
    }
  }
  return make_csr(grid.rows, grid.cols, entries);
}

// The entries below the diagonal times factor: no longer symmetric, but nearly
inline HostCsr with_lower_times(double factor, HostCsr A)
{
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] *= A.col[k] < i ? factor : 1;
  }
  return A;
}

inline std::vector<double> inverse_diagonal(const HostCsr &A)
{
  std::vector<double> d = A.diagonal();
  for (double &x : d) x = x == 0 ? 0 : 1 / x;
  return d;
}
} // namespace amgkit::test
