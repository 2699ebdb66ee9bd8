// What incomplete factorisations meet: the gallery, what users bring, long chains, a row and a column of all, values that are not
// symmetric.
#pragma once
#include "support/random_matrices.hpp"

#include <cmath>

namespace amgkit::test
{
inline HostCsr tridiagonal(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    entries[{i, i}] = 4 + i % 3;
    if (i > 0) entries[{i, i - 1}] = -1 - i % 2;
    if (i + 1 < n) entries[{i, i + 1}] = -1.5;
  }
  return make_csr(n, n, entries);
}

// Row and column `full` have all entries.
inline HostCsr arrow(int n, int full)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    entries[{full, i}] = -1;
    entries[{i, full}] = -0.5;
    entries[{i, i}] = i == full ? n : 3;
  }
  return make_csr(n, n, entries);
}

// a_ij (1 + a little that depends on i and j)
inline HostCsr skewed(HostCsr A)
{
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] != i) A.val[k] *= 1 + 0.3 * std::sin(7.0 * i + 3.0 * A.col[k]);
    }
  }
  return A;
}

inline std::vector<Named> ilu_matrices()
{
  std::vector<Named> all;
  for (auto &[name, A] : gallery()) all.push_back({name, skewed(A)});
  all.push_back({"tridiagonal", tridiagonal(100)});
  all.push_back({"long chain", tridiagonal(20000)});
  all.push_back({"dense first row", arrow(300, 0)});
  all.push_back({"dense last row", arrow(300, 299)});
  all.push_back({"dense middle row", arrow(1000, 500)});
  all.push_back({"one-sided grid", one_sided(skewed(grid7(9, 8, 7)))});
  for (unsigned seed = 0; seed < 40; seed++) {
    auto drawn = random_matrix(seed, 1);
    if (drawn.tame) all.push_back({"random " + std::to_string(seed) + ": " + drawn.description, drawn.A});
  }
  return all;
}

// Without so much of the diagonal that pivots vanish or change their sign
inline std::vector<Named> troubled()
{
  std::vector<Named> all;
  all.push_back({"ones", make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}})});
  all.push_back({"no diagonal to speak of", make_csr(2, 2, {{{0, 0}, 0}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 0}})});
  for (double less : {1.0, 3.5, 6.0, 9.0}) {
    HostCsr A = skewed(grid7(6, 5, 4));
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        if (A.col[k] == i) A.val[k] -= less;
      }
    }
    all.push_back({"grid - " + std::to_string(less), A});
  }
  HostCsr gaps = skewed(grid7(6, 5, 4));
  for (int i = 0; i < gaps.rows; i += 7) {
    for (int k = gaps.ptr[i]; k < gaps.ptr[i + 1]; k++) gaps.val[k] = 0;
  }
  all.push_back({"rows of zeros", gaps});
  return all;
}

inline std::vector<double> wave(int n)
{
  std::vector<double> b(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i++) b[i] = std::sin(1.0 + 0.7 * i);
  return b;
}

inline double largest(const std::vector<double> &x)
{
  double most = 0;
  for (double x_i : x) most = std::max(most, std::abs(x_i));
  return most;
}
} // namespace amgkit::test
