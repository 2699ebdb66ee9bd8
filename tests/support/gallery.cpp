#include "support/gallery.hpp"

#include <algorithm>
#include <random>

namespace amgkit::test
{
using Entries = std::map<std::pair<int, int>, double>;

std::vector<double> HostCsr::diagonal() const
{
  std::vector<double> a(rows);
  for (int i = 0; i < rows; i++) a[i] = at(i, i);
  return a;
}

double HostCsr::at(int i, int j) const
{
  for (int k = ptr[i]; k < ptr[i + 1]; k++) {
    if (col[k] == j) return val[k];
  }
  return 0;
}

Entries entries_of(const HostCsr &M)
{
  Entries entries;
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) entries[{i, M.col[k]}] = M.val[k];
  }
  return entries;
}

HostCsr make_csr(int rows, int cols, const Entries &entries)
{
  HostCsr A;
  A.rows = rows;
  A.cols = cols;
  A.ptr.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto &[where, value] : entries) {
    A.ptr[where.first + 1]++;
    A.col.push_back(where.second);
    A.val.push_back(value);
  }
  for (int i = 0; i < rows; i++) A.ptr[i + 1] += A.ptr[i];
  return A;
}

HostCsr from_edges(int n, const Entries &edges, double shift)
{
  Entries entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = shift;
  for (const auto &[edge, weight] : edges) {
    entries[{edge.first, edge.second}] -= weight;
    entries[{edge.second, edge.first}] -= weight;
    entries[{edge.first, edge.first}] += weight;
    entries[{edge.second, edge.second}] += weight;
  }
  return make_csr(n, n, entries);
}

HostCsr grid7(int nx, int ny, int nz, double wx, double wy, double wz)
{
  Entries entries;
  auto add = [&](int i, bool inside, int j, double w) {
    if (inside) entries[{i, j}] = -w;
  };
  for (int z = 0; z < nz; z++) {
    for (int y = 0; y < ny; y++) {
      for (int x = 0; x < nx; x++) {
        const int i = x + nx * (y + ny * z);
        entries[{i, i}] = 2 * (wx + wy + wz);
        add(i, x > 0, i - 1, wx);
        add(i, x + 1 < nx, i + 1, wx);
        add(i, y > 0, i - nx, wy);
        add(i, y + 1 < ny, i + nx, wy);
        add(i, z > 0, i - nx * ny, wz);
        add(i, z + 1 < nz, i + nx * ny, wz);
      }
    }
  }
  return make_csr(nx * ny * nz, nx * ny * nz, entries);
}

HostCsr grid27(int n)
{
  Entries entries;
  auto index = [=](int x, int y, int z) { return x + n * (y + n * z); };
  for (int i = 0; i < n * n * n; i++) {
    const int x = i % n, y = i / n % n, z = i / n / n;
    for (int d = 0; d < 27; d++) {
      const int u = x + d % 3 - 1, v = y + d / 3 % 3 - 1, w = z + d / 9 - 1;
      if (std::min({u, v, w}) >= 0 && std::max({u, v, w}) < n) entries[{i, index(u, v, w)}] = d == 13 ? 26 : -1;
    }
  }
  return make_csr(n * n * n, n * n * n, entries);
}

HostCsr one_sided(const HostCsr &A)
{
  Entries entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] >= i || (i + A.col[k]) % 3 == 0) entries[{i, A.col[k]}] = A.val[k];
    }
  }
  return make_csr(A.rows, A.cols, entries);
}

HostCsr blown_up(const HostCsr &A, int rows, int cols)
{
  HostCsr out;
  out.rows = rows * A.rows;
  out.cols = cols * A.cols;
  for (int i = 0; i < out.rows; i++) {
    for (int k = A.ptr[i / rows]; k < A.ptr[i / rows + 1]; k++) {
      for (int q = 0; q < cols; q++) {
        out.col.push_back(cols * A.col[k] + q);
        out.val.push_back(A.val[k] * (1 + 0.3 * q) / (1 + 0.7 * (i % rows)));
      }
    }
    out.ptr.push_back(static_cast<int>(out.col.size()));
  }
  return out;
}

HostCsr random_graph(int n, int edges, unsigned seed, bool symmetric_pattern)
{
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> vertex(0, n - 1), weight(1, 4); // few values: ties
  Entries entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 20;
  for (int e = 0; e < edges; e++) {
    const int i = vertex(random), j = vertex(random);
    if (i == j) continue;
    entries[{i, j}] = -weight(random);
    if (symmetric_pattern) entries[{j, i}] = entries[{i, j}];
  }
  return make_csr(n, n, entries);
}

namespace
{
HostCsr path(int n, const std::function<double(int)> &weight)
{
  Entries edges;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = weight(i);
  return from_edges(n, edges);
}

HostCsr shuffled_path(int n)
{
  std::vector<int> order(static_cast<std::size_t>(n));
  Entries edges;
  for (int i = 0; i < n; i++) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937{7});
  for (int i = 0; i + 1 < n; i++) edges[{order[i], order[i + 1]}] = 1;
  return from_edges(n, edges);
}

HostCsr star(int n)
{
  Entries edges;
  for (int i = 1; i < n; i++) edges[{0, i}] = 1 + i % 3;
  return from_edges(n, edges);
}

HostCsr cliques(int n, int size)
{
  Entries edges;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n && j / size == i / size; j++) edges[{i, j}] = 1;
  }
  return from_edges(n, edges);
}

HostCsr random_weights(int n, int count, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> vertex(0, n - 1);
  std::uniform_real_distribution<double> weight(0.01, 100);
  Entries edges;
  for (int e = 0; e < count; e++) {
    const int i = vertex(random), j = vertex(random);
    if (i != j) edges[{std::min(i, j), std::max(i, j)}] = weight(random);
  }
  return from_edges(n, edges);
}

HostCsr positive_couplings(int n)
{
  Entries entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = i % 5 ? 3 : 0.1;
  for (int i = 0; i + 1 < n; i++) entries[{i, i + 1}] = entries[{i + 1, i}] = i % 2 ? 2 : -1;
  return make_csr(n, n, entries);
}
} // namespace

std::vector<Named> gallery()
{
  Entries diagonal, isolated = {{{0, 0}, 2}, {{1, 1}, 2}, {{2, 2}, 2}, {{0, 2}, -1}, {{2, 0}, -1}};
  for (int i = 0; i < 9; i++) diagonal[{i, i}] = i + 1;
  return {
      {"empty", make_csr(0, 0, {})},
      {"one", make_csr(1, 1, {{{0, 0}, 3}})},
      {"diagonal", make_csr(9, 9, diagonal)},
      {"isolated", make_csr(3, 3, isolated)},
      {"pair", from_edges(2, {{{0, 1}, 1}})},
      {"path", path(101, [](int) { return 1; })},
      {"rising path", path(64, [](int i) { return 1 + i; })},
      {"falling path", path(64, [](int i) { return 100 - i; })},
      {"shuffled path", shuffled_path(200)},
      {"star", star(300)},
      {"cliques", cliques(60, 12)},
      {"clique", cliques(40, 40)},
      {"grid 2d", grid7(13, 11, 1)},
      {"grid 3d", grid7(7, 6, 5)},
      {"grid 3d anisotropic", grid7(6, 7, 8, 1, 1, 0.01)},
      {"grid 27", grid27(6)},
      {"random ties", random_graph(300, 900, 1)},
      {"random dense", random_graph(60, 2000, 2)},
      {"random sparse", random_graph(500, 300, 3)},
      {"random weights", random_weights(400, 1500, 4)},
      {"non-symmetric pattern", random_graph(200, 700, 5, false)},
      {"positive couplings", positive_couplings(50)},
  };
}

std::vector<Named> odd_matrices()
{
  constexpr int n = 400;
  Entries diagonal, dominant, positive, arrow, parts, pairs, dirichlet;
  auto couple = [](Entries &A, int i, int j, double value) { A[{i, j}] = A[{j, i}] = value; };
  for (int i = 0; i < n; i++) {
    diagonal[{i, i}] = 1 + i % 7;
    dominant[{i, i}] = 30;
    positive[{i, i}] = 2.2;
    arrow[{i, i}] = i == 0 ? n : 2.5;
    parts[{i, i}] = i % 8 == 0 ? 3 : 2.01; // eight to a path, then a point by itself
    pairs[{i, i}] = 1.01;
    dirichlet[{i, i}] = i < 40 ? 1 : 4; // a boundary of identity rows below a 20 x 18 grid
    if (i > 0) couple(dominant, i, i - 1, -1);
    if (i > 0) couple(positive, i, i - 1, 1);
    if (i > 0) couple(arrow, i, 0, -0.5);
    if (i > 1) couple(arrow, i, i - 1, -1);
    if (i % 8 > 1) couple(parts, i, i - 1, -1);
    if (i % 2) couple(pairs, i, i - 1, -1);
    if (i >= 40 && i % 20 > 0) couple(dirichlet, i, i - 1, -1);
    if (i >= 60) couple(dirichlet, i, i - 20, -1);
  }
  return {{"diagonal: nothing to coarsen", make_csr(n, n, diagonal)},
          {"no strong couplings", make_csr(n, n, dominant)},
          {"positive off the diagonal", make_csr(n, n, positive)},
          {"a dense row and column", make_csr(n, n, arrow)},
          {"many parts", make_csr(n, n, parts)},
          {"pairs: coarsening ends after one level", make_csr(n, n, pairs)},
          {"identity rows of a boundary", make_csr(n, n, dirichlet)},
          {"1 x 1", make_csr(1, 1, {{{0, 0}, 3.0}})}};
}
} // namespace amgkit::test
