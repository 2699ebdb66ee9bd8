// Matrices with positive couplings. Those of finite elements are symmetric positive definite, with Dirichlet conditions at all ends.
#pragma once
#include "base/hash.hpp"
#include "support/gallery.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
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

// The stiffness and mass on a line
struct LineOfElements {
  int n = 0;
  std::map<std::pair<int, int>, double> stiffness, mass;
};

// Of finite elements of degree 1 or 2 with these lengths, without the ends of the line
inline LineOfElements conforming(const std::vector<double> &lengths, int degree)
{
  const std::vector<double> K = degree == 1 ? std::vector<double>{1, -1, -1, 1} : std::vector<double>{7, -8, 1, -8, 16, -8, 1, -8, 7};
  const std::vector<double> M = degree == 1 ? std::vector<double>{2, 1, 1, 2} : std::vector<double>{4, 2, -1, 2, 16, 2, -1, 2, 4};
  const int nodes = degree + 1;
  LineOfElements line{degree * static_cast<int>(lengths.size()) - 1, {}, {}};
  for (int e = 0; e < static_cast<int>(lengths.size()); e++) {
    for (int k = 0; k < nodes * nodes; k++) {
      const int i = degree * e + k / nodes - 1, j = degree * e + k % nodes - 1;
      if (i < 0 || j < 0 || i >= line.n || j >= line.n) continue;
      line.stiffness[{i, j}] += K[k] / lengths[e] / (degree == 1 ? 1 : 3);
      line.mass[{i, j}] += M[k] * lengths[e] / (degree == 1 ? 6 : 30);
    }
  }
  return line;
}

// Of discontinuous linear elements of this length: the symmetric interior penalty method, with a penalty of 4 / length. Element e has the
// unknowns 2 e and 2 e + 1 at its ends.
inline LineOfElements discontinuous(int elements, double length)
{
  constexpr double penalty = 4;
  LineOfElements line{2 * elements, {}, {}};
  for (int e = 0; e < elements; e++) {
    for (int k = 0; k < 4; k++) {
      line.stiffness[{2 * e + k / 2, 2 * e + k % 2}] += (k / 2 == k % 2 ? 1 : -1) / length;
      line.mass[{2 * e + k / 2, 2 * e + k % 2}] += (k / 2 == k % 2 ? 2 : 1) * length / 6;
    }
  }
  for (int f = 0; f <= elements; f++) { // between elements f - 1 and f, of which one may be missing
    const double jump[4] = {0, 1, -1, 0};
    const double sides = f > 0 && f < elements ? 2 : 1, slope[4] = {-1 / sides, 1 / sides, -1 / sides, 1 / sides};
    for (int k = 0; k < 16; k++) {
      const int p = k / 4, q = k % 4, i = 2 * f - 2 + p, j = 2 * f - 2 + q;
      if (i < 0 || j < 0 || i >= line.n || j >= line.n) continue;
      line.stiffness[{i, j}] += (penalty * jump[p] * jump[q] - slope[p] * jump[q] - jump[p] * slope[q]) / length;
    }
  }
  std::erase_if(line.stiffness, [](const auto &entry) { return entry.second == 0; });
  return line;
}

// The stiffness of rectangles; unknowns of a line along y follow one another.
inline HostCsr rectangles(const LineOfElements &x, const LineOfElements &y)
{
  std::map<std::pair<int, int>, double> entries;
  const auto add = [&](const auto &of_x, const auto &of_y) {
    for (const auto &[along_x, a] : of_x) {
      for (const auto &[along_y, b] : of_y) {
        entries[{along_x.first * y.n + along_y.first, along_x.second * y.n + along_y.second}] += a * b;
      }
    }
  };
  add(x.stiffness, y.mass);
  add(x.mass, y.stiffness);
  return make_csr(x.n * y.n, x.n * y.n, entries);
}

// Plane strain on n x n rectangles of 1 : length with bilinear elements, E = 1, Poisson's ratio 0.3, two unknowns a node, zero on all
// sides.
inline HostCsr elasticity_of_rectangles(int n, double length)
{
  constexpr double nu = 0.3, mu = 1 / (2 * (1 + nu)), lambda = nu / ((1 + nu) * (1 - 2 * nu));
  const LineOfElements x = conforming(std::vector<double>(n, 1), 1), y = conforming(std::vector<double>(n, length), 1);
  std::map<std::pair<int, int>, double> entries;
  for (const auto &[i, m_x] : x.mass) {
    for (const auto &[j, m_y] : y.mass) {
      // the integrals of a shape function's derivative times another one
      const double along_x = (i.first - i.second) / 2.0, along_y = (j.first - j.second) / 2.0;
      const double xx = x.stiffness.at(i) * m_y, yy = m_x * y.stiffness.at(j), xy = -along_x * along_y;
      const int row = 2 * (i.first * y.n + j.first), column = 2 * (i.second * y.n + j.second);
      entries[{row, column}] = (lambda + 2 * mu) * xx + mu * yy;
      entries[{row + 1, column + 1}] = mu * xx + (lambda + 2 * mu) * yy;
      entries[{row, column + 1}] = entries[{row + 1, column}] = (lambda + mu) * xy;
    }
  }
  return make_csr(2 * x.n * y.n, 2 * x.n * y.n, entries);
}

// A random graph whose couplings have sizes in (1, spread], and whose row sums are 1; so many in a hundred are positive. It may be
// indefinite.
inline HostCsr random_signs(int n, double spread, int positive)
{
  const HostCsr graph = random_graph(n, 5 * n, 7);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int k = graph.ptr[i]; k < graph.ptr[i + 1]; k++) {
      const int j = graph.col[k];
      const std::uint64_t hash = hash64(static_cast<std::uint64_t>(std::min(i, j)) * n + std::max(i, j));
      const double size = std::pow(spread, static_cast<double>(hash % 1000 + 1) / 1000);
      const double a_ij = static_cast<int>(hash / 1000 % 100) < positive ? size : -size;
      if (j == i) continue;
      entries[{i, j}] = a_ij;
      entries[{i, i}] -= a_ij;
    }
    entries[{i, i}] += 1;
  }
  return make_csr(n, n, entries);
}

// Of bricks(n, ...) that are long in y: strong couplings are all across the bricks. strong(k): of the k-th entry
template <class F> void expect_strong_across(const HostCsr &A, int n, double length, F strong)
{
  int count = 0;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (!strong(k)) continue;
      count++;
      EXPECT_EQ(i / n % n, A.col[k] / n % n) << length << ": " << i << " " << A.col[k];
    }
  }
  EXPECT_GT(count, A.rows);
}

// As assembled in another order: entries that were the same differ in their last digits. A symmetric matrix stays so.
inline HostCsr rounded(HostCsr A)
{
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] *= 1 + 1e-14 * static_cast<double>((i * i + A.col[k] * A.col[k]) % 19);
  }
  return A;
}

// A row as graph/positive_couplings.hpp sees it: its couplings, those of the diagonal entry's sign positive, and the opposite ones.
struct OppositeCouplings {
  std::vector<double> here, there;

  void take(double a_ii, double a_ij, double a_ji)
  {
    here.push_back(a_ii < 0 ? -a_ij : a_ij);
    there.push_back(a_ii < 0 ? -a_ji : a_ji);
  }
  // The size up to which negative couplings are weak, where those up to `weak` are so anyway; -1: the row is not judged by signs.
  // diagonal: |a_ii|, scaled as the couplings are.
  // Rows with P <= N / q are not, those with P <= N / sure only if their negative couplings are of two clearly different sizes.
  double largest_cancelled(double diagonal, double weak, double q, double sure) const
  {
    double positive = 0, negative = 0, alone = 0; // alone: positive couplings whatever the opposite ones are
    std::vector<double> sizes;
    for (std::size_t k = 0; k < here.size(); k++) {
      if (here[k] > 0) positive += std::max((here[k] + there[k]) / 2, 0.0);
      alone += std::max(here[k], 0.0);
      if (here[k] < 0) sizes.push_back(-here[k]);
    }
    for (const double size : sizes) negative += size;
    positive *= 1.000001;
    alone *= 1.000001;
    if (std::min(positive, alone) <= negative / q || std::max(positive, alone) >= negative) return -1;
    std::sort(sizes.begin(), sizes.end());
    double small = 0;
    for (const double size : sizes) small += 2 * size <= sizes.back() ? size : 0;
    const double least = std::min(positive, alone);
    const bool two_sizes = least <= negative / sure;
    if (two_sizes && small > 1.25 * least) return -1;
    const auto last = std::upper_bound(sizes.begin(), sizes.end(), weak);
    const double shadow = diagonal > 0 ? 1.1 * *std::max_element(here.begin(), here.end()) / diagonal * sizes.back() : 0;
    double smaller = std::accumulate(sizes.begin(), last, 0.0);
    for (auto first = last; first != sizes.end() && 1.1 * *first < sizes.back();) {
      const double largest = 1.1 * *first;
      const auto next = std::upper_bound(first, sizes.end(), largest);
      const double same = std::accumulate(first, next, 0.0);
      if (smaller + same / 2 > least && !(*first <= shadow && same <= least)) break;
      weak = largest;
      smaller += same;
      first = next;
    }
    const auto left = std::upper_bound(sizes.begin(), sizes.end(), weak);
    if (two_sizes && left != sizes.end() && *left < 2 * weak) return -1;
    return weak;
  }
};

// A and B beside each other
inline HostCsr beside(HostCsr A, const HostCsr &B)
{
  for (int i = 0; i < B.rows; i++) A.ptr.push_back(A.ptr[A.rows] + B.ptr[i + 1]);
  for (const int j : B.col) A.col.push_back(A.rows + j);
  A.val.insert(A.val.end(), B.val.begin(), B.val.end());
  A.rows += B.rows;
  A.cols += B.cols;
  return A;
}

inline std::vector<Named> with_positive_couplings(int n = 6)
{
  return {{"flat bricks", bricks(n, 1, 1, 0.01, 1, 0)}, {"flat bricks, three edges", bricks(n, 1, 0.1, 0.01, 1, 0)},
          {"mass", bricks(n, 1, 1, 1, 0, 1)},           {"a short time step", bricks(n, 1, 1, 1, 0.01, 1)},
          {"a time step", bricks(n, 1, 1, 1, 0.2, 1)},  {"discontinuous, 1 : 20", rectangles(discontinuous(n, 1), discontinuous(n, 20))}};
}
} // namespace amgkit::test
