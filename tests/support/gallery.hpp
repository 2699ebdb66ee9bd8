// Host matrices and graphs that every kernel meets.
#pragma once
#include "base/array.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace amgkit::test
{
struct HostCsr {
  int rows = 0, cols = 0;
  std::vector<int> ptr{0}, col;
  std::vector<double> val;

  CsrView<double> view() const { return {rows, cols, static_cast<std::int64_t>(col.size()), ptr.data(), col.data(), val.data()}; }
  double at(int i, int j) const; // 0 when not stored
  std::vector<double> diagonal() const;
};

// From entries (i, j) -> value
HostCsr make_csr(int rows, int cols, const std::map<std::pair<int, int>, double> &entries);
std::map<std::pair<int, int>, double> entries_of(const HostCsr &);
// A symmetric M-matrix from weighted edges: -weight off the diagonal, the sum of the weights plus shift on it.
HostCsr from_edges(int n, const std::map<std::pair<int, int>, double> &edges, double shift = 0.1);
// Grid Laplacians of TARGETS: 7-point on nx x ny x nz with face weights, Dirichlet
HostCsr grid7(int nx, int ny, int nz, double wx = 1, double wy = 1, double wz = 1);
HostCsr grid27(int n);
// A without two of three entries below the diagonal: its pattern is not symmetric
HostCsr one_sided(const HostCsr &A);
// Every entry becomes a block of rows x cols, with values of their own
HostCsr blown_up(const HostCsr &A, int rows, int cols);
HostCsr random_graph(int n, int edges, unsigned seed, bool symmetric_pattern = true);

struct Named {
  std::string name;
  HostCsr A;
};
// Empty, 1x1, diagonal, isolated vertices, paths (equal, rising, falling weights), star, cliques, grids, random graphs with and
// without ties, non-symmetric pattern, positive off-diagonal entries.
std::vector<Named> gallery();
// Symmetric positive definite, and hard on a coarsening; all but 1 x 1 of even size, so that they can be of two unknowns a node too
std::vector<Named> odd_matrices();

template <class Ex> PetscErrorCode upload(Ex &ex, const HostCsr &from, Csr<double, Ex> &to)
{
  PetscFunctionBegin;
  to.rows = from.rows;
  to.cols = from.cols;
  PetscCall(amgkit::upload(ex, from.ptr, to.ptr));
  PetscCall(amgkit::upload(ex, from.col, to.col));
  PetscCall(amgkit::upload(ex, from.val, to.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> PetscErrorCode download(Ex &ex, const CsrView<double> &from, HostCsr &to)
{
  PetscFunctionBegin;
  to.rows = from.rows;
  to.cols = from.cols;
  PetscCall(amgkit::download(ex, from.ptr, from.ptr ? std::int64_t{from.rows} + 1 : 0, to.ptr));
  PetscCall(amgkit::download(ex, from.col, from.nnz, to.col));
  PetscCall(amgkit::download(ex, from.val, from.val ? from.nnz : 0, to.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> PetscErrorCode download(Ex &ex, const Csr<double, Ex> &from, HostCsr &to) { return download(ex, from.view(), to); }
// y += Pᵀ x or P x, on whole vectors
inline void add_product(const HostCsr &P, bool transposed, const std::vector<double> &x, std::vector<double> &y)
{
  for (int i = 0; i < P.rows; i++) {
    for (int k = P.ptr[i]; k < P.ptr[i + 1]; k++) y[transposed ? P.col[k] : i] += P.val[k] * x[transposed ? i : P.col[k]];
  }
}
} // namespace amgkit::test
