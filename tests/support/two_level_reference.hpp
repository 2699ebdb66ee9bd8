// Two-level ILU(0) as it is written down: all ranks' rows on one, dense, in natural order.
#pragma once
#include "support/gallery.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace amgkit::test
{
using Vector = std::vector<double>;
using Dense = std::vector<Vector>;

inline Vector times(const Dense &A, const Vector &x)
{
  Vector y;
  for (const Vector &row : A) y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
  return y;
}
inline double norm(const Vector &x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }
inline void add_to(Vector &y, double factor, const Vector &x)
{
  for (std::size_t i = 0; i < x.size(); i++) y[i] += factor * x[i];
}

// By elimination with pivots
inline Vector dense_solve(Dense A, Vector b)
{
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; k++) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; i++) p = std::abs(A[i][k]) > std::abs(A[p][k]) ? i : p;
    std::swap(A[k], A[p]);
    std::swap(b[k], b[p]);
    for (std::size_t i = k + 1; i < n; i++) {
      const double l = A[i][k] / A[k][k];
      for (std::size_t j = k; j < n && l != 0; j++) A[i][j] -= l * A[k][j];
      b[i] -= l * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

// y from span {M g, (M S) M g, ...} of so many vectors for which |M (g - S y)| is least. M: a preconditioner
template <class S, class M> Vector gmres(S multiply, M precondition, const Vector &g, int steps)
{
  Vector y(g.size(), 0);
  std::vector<Vector> basis, images;
  Vector r = precondition(g), v = r;
  const double beta = norm(r);
  for (int k = 0; k < steps; k++) {
    for (int again = 0; again < 2; again++) {
      for (const Vector &q : basis) add_to(v, -std::inner_product(q.begin(), q.end(), v.begin(), 0.0), q);
    }
    const double size = norm(v);
    if (!(size > 1e-13 * beta)) break;
    for (double &v_i : v) v_i /= size;
    basis.push_back(v);
    images.push_back(precondition(multiply(v)));
    v = images.back();
  }
  const std::size_t m = basis.size(); // least squares by modified Gram-Schmidt on the images
  Dense R(m, Vector(m, 0));
  Vector c(m, 0);
  for (std::size_t j = 0; j < m; j++) {
    for (std::size_t i = 0; i < j; i++) {
      R[i][j] = std::inner_product(images[i].begin(), images[i].end(), images[j].begin(), 0.0);
      add_to(images[j], -R[i][j], images[i]);
    }
    R[j][j] = norm(images[j]);
    for (double &x : images[j]) x /= R[j][j];
    c[j] = std::inner_product(images[j].begin(), images[j].end(), r.begin(), 0.0);
    add_to(r, -c[j], images[j]);
  }
  for (std::size_t j = m; j-- > 0;) {
    for (std::size_t i = j + 1; i < m; i++) c[j] -= R[j][i] * c[i];
    c[j] /= R[j][j];
    add_to(y, c[j], basis[j]);
  }
  return y;
}

// Everything in the order of the ranks, of each first the interior rows, then the interface; vectors are of all rows, and 0 where a part
// of them is meant and they are of the other one.
class TwoLevelReference {
public:
  // Rank r has the rows range[r] <= i < range[r + 1].
  TwoLevelReference(const HostCsr &matrix, const std::vector<PetscInt> &range, bool galerkin)
      : galerkin_(galerkin), n_(matrix.rows), interface_(n_, 0), A_(n_, Vector(n_, 0)), lu_(A_), stored_(n_, std::vector<char>(n_, 0))
  {
    std::vector<int> rank(n_), place(n_);
    for (int i = 0; i < n_; i++) rank[i] = static_cast<int>(std::upper_bound(range.begin(), range.end(), i) - range.begin()) - 1;
    std::vector<char> marked(n_, 0);
    for (int i = 0; i < n_; i++) {
      for (int k = matrix.ptr[i]; k < matrix.ptr[i + 1]; k++) {
        if (rank[i] != rank[matrix.col[k]]) marked[i] = marked[matrix.col[k]] = 1;
      }
    }
    order.resize(n_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return std::pair(rank[i], marked[i]) < std::pair(rank[j], marked[j]); });
    for (int p = 0; p < n_; p++) place[order[p]] = p;
    for (int i = 0; i < n_; i++) {
      interface_[place[i]] = marked[i];
      for (int k = matrix.ptr[i]; k < matrix.ptr[i + 1]; k++) {
        A_[place[i]][place[matrix.col[k]]] = matrix.val[k];
        if (rank[i] != rank[matrix.col[k]]) continue;
        lu_[place[i]][place[matrix.col[k]]] = matrix.val[k];
        stored_[place[i]][place[matrix.col[k]]] = 1;
      }
    }
    local_ = lu_;
    factor();
  }

  std::vector<int> order; // of the rows
  bool on_interface(int p) const { return interface_[p] != 0; }

  Vector ordered(const Vector &x) const
  {
    Vector y(n_);
    for (int p = 0; p < n_; p++) y[p] = x[order[p]];
    return y;
  }
  Vector natural(const Vector &y) const
  {
    Vector x(n_);
    for (int p = 0; p < n_; p++) x[order[p]] = y[p];
    return x;
  }

  Vector eliminate(const Vector &b) const
  {
    Vector f = part(b, 0), g = part(b, 1);
    lower(f, 0);
    if (galerkin_) upper(f, 0);
    add_to(g, -1, product(galerkin_ ? local_ : lu_, 1, 0, f));
    return g;
  }
  Vector substitute(const Vector &b, const Vector &y) const
  {
    Vector x = part(b, 0);
    if (!galerkin_) lower(x, 0);
    add_to(x, -1, product(galerkin_ ? local_ : lu_, 0, 1, y));
    if (galerkin_) lower(x, 0);
    upper(x, 0);
    add_to(x, 1, part(y, 1));
    return x;
  }
  Vector multiply(const Vector &y) const
  {
    Vector z = product(A_, 1, 1, y), t = product(galerkin_ ? local_ : lu_, 0, 1, y);
    if (!galerkin_) {
      add_to(z, -1, product(lu_, 1, 0, t));
      return z;
    }
    Vector u = t; // A_loc P y, with P y = (-t, y) then
    solve_interior(t);
    add_to(u, -1, product(local_, 0, 0, t));
    add_to(z, -1, product(local_, 1, 0, t));
    solve_interior(u);
    add_to(z, -1, product(local_, 1, 0, u));
    return z;
  }
  Vector precondition(Vector r) const
  {
    r = part(r, 1);
    lower(r, 1);
    upper(r, 1);
    return r;
  }
  // B b, with so many steps of GMRES; 0: S y = g' is solved exactly
  Vector apply(const Vector &b, int steps) const
  {
    const Vector p = ordered(b), g = eliminate(p);
    const Vector y = steps > 0
                         ? gmres([&](const Vector &x) { return multiply(x); }, [&](const Vector &r) { return precondition(r); }, g, steps)
                         : dense_solve(schur(), g);
    return natural(substitute(p, y));
  }

private:
  void factor()
  {
    for (int i = 0; i < n_; i++) {
      for (int k = 0; k < i; k++) {
        if (!stored_[i][k]) continue;
        lu_[i][k] /= lu_[k][k];
        for (int j = k + 1; j < n_; j++) {
          if (stored_[i][j] && stored_[k][j]) lu_[i][j] -= lu_[i][k] * lu_[k][j];
        }
      }
    }
  }
  // S on the interface, 1 on the interior
  Dense schur() const
  {
    Dense S(n_, Vector(n_, 0));
    for (int j = 0; j < n_; j++) {
      Vector e(n_, 0);
      e[j] = 1;
      const Vector column = interface_[j] ? multiply(e) : e;
      for (int i = 0; i < n_; i++) S[i][j] = column[i];
    }
    return S;
  }
  Vector part(Vector x, char of) const
  {
    for (int i = 0; i < n_; i++) x[i] = interface_[i] == of ? x[i] : 0;
    return x;
  }
  Vector product(const Dense &M, char rows, char cols, const Vector &x) const { return part(times(M, part(x, cols)), rows); }
  void solve_interior(Vector &x) const
  {
    lower(x, 0);
    upper(x, 0);
  }
  void lower(Vector &x, char of) const
  {
    for (int i = 0; i < n_; i++) {
      for (int j = 0; j < i; j++) x[i] -= interface_[i] == of && interface_[j] == of ? lu_[i][j] * x[j] : 0;
    }
  }
  void upper(Vector &x, char of) const
  {
    for (int i = n_ - 1; i >= 0; i--) {
      if (interface_[i] != of) continue;
      for (int j = i + 1; j < n_; j++) x[i] -= interface_[j] == of ? lu_[i][j] * x[j] : 0;
      x[i] /= lu_[i][i];
    }
  }

  bool galerkin_;
  int n_;
  std::vector<char> interface_;
  Dense A_, lu_, local_;
  std::vector<std::vector<char>> stored_;
};
} // namespace amgkit::test
