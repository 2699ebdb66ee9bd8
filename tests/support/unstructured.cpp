#include "support/unstructured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>

namespace amgkit::test
{
namespace
{
using Point = std::complex<double>;

// The standard library's distributions differ between implementations; its engines do not. In (0, 1).
double draw(std::mt19937 &random) { return (static_cast<double>(random()) + 0.5) / 4294967296.0; }

double dot(Point a, Point b) { return a.real() * b.real() + a.imag() * b.imag(); }

// Of a convex polygon; beyond: whose cell is on the other side of the edge from here to the next corner, -1: that of a mirror image.
struct Corner {
  Point at;
  int beyond;
};
using Cell = std::vector<Corner>;

// What of i's cell is nearer to i than to j.
Cell cut(const Cell &cell, Point i, Point j, int number_of_j)
{
  Cell rest;
  auto excess = [=](Point p) { return dot(p - 0.5 * (i + j), j - i); };
  for (std::size_t k = 0; k < cell.size(); k++) {
    const Point a = cell[k].at, b = cell[(k + 1) % cell.size()].at;
    const double of_a = excess(a), of_b = excess(b);
    if (of_a <= 0) rest.push_back(cell[k]);
    if ((of_a <= 0) != (of_b <= 0)) rest.push_back({a + (b - a) * (of_a / (of_a - of_b)), of_a <= 0 ? number_of_j : cell[k].beyond});
  }
  return rest;
}

// Random points in bins of about two, numbered bin by bin, row by row of the square.
struct Cloud {
  int side;
  std::vector<Point> points;
  std::vector<int> first; // point of each bin

  explicit Cloud(int n) : side(std::max(1, static_cast<int>(std::sqrt(n / 2)))), points(static_cast<std::size_t>(n))
  {
    std::mt19937 random(1);
    for (Point &p : points) {
      const double x = draw(random);
      p = {x, draw(random)};
    }
    std::sort(points.begin(), points.end(), [&](Point p, Point q) { return bin(p) != bin(q) ? bin(p) < bin(q) : p.real() < q.real(); });
    for (int b = 0, i = 0; b <= side * side; b++) {
      while (i < n && bin(points[i]) < b) i++;
      first.push_back(i);
    }
  }
  int bin(Point p) const { return static_cast<int>(p.imag() * side) * side + static_cast<int>(p.real() * side); }

  // The Voronoi cell of point i: bins are looked through ring by ring, until those left are too far away to cut it.
  Cell cell(int i) const
  {
    const Point p = points[i];
    const int x = bin(p) % side, y = bin(p) / side;
    Cell rest = {{{0, 0}, -1}, {{1, 0}, -1}, {{1, 1}, -1}, {{0, 1}, -1}};
    for (int ring = 0; (ring - 1.0) / side <= 2 * radius(rest, p); ring++) {
      for (int v = std::max(0, y - ring); v <= std::min(side - 1, y + ring); v++) {
        for (int u = std::max(0, x - ring); u <= std::min(side - 1, x + ring); u++) {
          if (std::max(std::abs(u - x), std::abs(v - y)) < ring) continue;
          for (int j = first[v * side + u]; j < first[v * side + u + 1]; j++)
            if (j != i) rest = cut(rest, p, points[j], j);
        }
      }
    }
    return rest;
  }

private:
  static double radius(const Cell &cell, Point p)
  {
    double most = 0;
    for (const Corner &corner : cell) most = std::max(most, std::abs(corner.at - p));
    return most;
  }
};

Point mirrored(Point p, Point on_side, Point along)
{
  const Point way = p - on_side;
  return on_side + 2 * dot(way, along) / std::norm(along) * along - way;
}
} // namespace

// The cotangent formula: a_ij = -|edge between the Voronoi cells of i and j| / |x_i - x_j|
HostCsr delaunay_laplacian(int n)
{
  const Cloud cloud(n);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    const Point p = cloud.points[i];
    const Cell cell = cloud.cell(i);
    for (std::size_t k = 0; k < cell.size(); k++) {
      const Point from = cell[k].at, edge = cell[(k + 1) % cell.size()].at - from;
      const int j = cell[k].beyond;
      const double weight = std::abs(edge) / std::abs(p - (j < 0 ? mirrored(p, from, edge) : cloud.points[j]));
      entries[{i, i}] += weight;
      if (j > i) entries[{i, j}] = entries[{j, i}] = -weight;
    }
  }
  return make_csr(n, n, entries);
}

namespace
{
using Place = std::array<double, 3>;

Place from_to(const Place &a, const Place &b) { return {b[0] - a[0], b[1] - a[1], b[2] - a[2]}; }
Place cross(const Place &a, const Place &b) { return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}; }
double dot(const Place &a, const Place &b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Tetrahedra {
  int n; // points 0 and n + 1 of a line are on the boundary
  std::vector<Place> points;
  std::map<std::pair<int, int>, double> entries;

  int point(const std::array<int, 3> &at) const { return at[0] + (n + 2) * (at[1] + (n + 2) * at[2]); }
  // Inside, else -1
  int unknown(int p) const
  {
    const int x = p % (n + 2) - 1, y = p / (n + 2) % (n + 2) - 1, z = p / (n + 2) / (n + 2) - 1;
    return std::min({x, y, z}) < 0 || std::max({x, y, z}) >= n ? -1 : x + n * (y + n * z);
  }

  // a_kl += volume ∇u_k · ∇u_l, u_k linear, 1 in corner k and 0 in the others
  void add(const std::array<int, 4> &corners)
  {
    Place gradient[4];
    double volume = 0;
    for (int k = 0; k < 4; k++) {
      const Place &a = points[corners[(k + 1) % 4]], &b = points[corners[(k + 2) % 4]], &c = points[corners[(k + 3) % 4]];
      gradient[k] = cross(from_to(a, b), from_to(a, c));
      const double height = dot(gradient[k], from_to(a, points[corners[k]])); // 6 volumes, with a sign
      volume = std::abs(height) / 6;
      for (double &g : gradient[k]) g /= height;
    }
    for (int k = 0; k < 4; k++) {
      for (int l = 0; l < 4; l++) {
        const int i = unknown(corners[k]), j = unknown(corners[l]);
        if (i >= 0 && j >= 0) entries[{i, j}] += volume * dot(gradient[k], gradient[l]);
      }
    }
  }
};
} // namespace

// Kuhn's six: from one corner of the cell to the opposite one along its edges, the axes in every order
HostCsr tetrahedra_laplacian(int n, double shift)
{
  Tetrahedra mesh{n, {}, {}};
  std::mt19937 random(1);
  const int side = n + 2;
  for (int p = 0; p < side * side * side; p++) {
    mesh.points.push_back({1.0 * (p % side), 1.0 * (p / side % side), 1.0 * (p / side / side)});
    for (double &x : mesh.points.back()) x = (x + (mesh.unknown(p) < 0 ? 0 : shift * (2 * draw(random) - 1))) / (n + 1);
  }
  for (int cell = 0; cell < (n + 1) * (n + 1) * (n + 1); cell++) {
    std::array<int, 3> axes = {0, 1, 2};
    do {
      std::array<int, 3> at = {cell % (n + 1), cell / (n + 1) % (n + 1), cell / (n + 1) / (n + 1)};
      std::array<int, 4> corners = {mesh.point(at)};
      for (int step = 0; step < 3; step++) {
        at[axes[step]]++;
        corners[step + 1] = mesh.point(at);
      }
      mesh.add(corners);
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
  return make_csr(n * n * n, n * n * n, mesh.entries);
}
} // namespace amgkit::test
