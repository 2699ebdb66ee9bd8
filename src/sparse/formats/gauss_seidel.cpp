#include "sparse/formats/gauss_seidel.hpp"

#include "sparse/formats/sell_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace amgkit
{
namespace
{
double diagonal_entry(const CsrView<double> &A, const int *below, int i)
{
  const int k = below[i];
  return k < A.ptr[i + 1] && A.col[k] == i ? A.val[k] : 0;
}

// Whether a_ij and a_ji are the same, to the tolerance.
bool agree(const CsrView<double> &A, const int *below, int i, int j, double a_ij, double a_ji)
{
  constexpr double tolerance = 1e-12;
  if (a_ij == a_ji) return true;
  const double size = std::sqrt(std::abs(diagonal_entry(A, below, i))) * std::sqrt(std::abs(diagonal_entry(A, below, j)));
  return std::abs(a_ij - a_ji) <= tolerance * size;
}

// Whether the entries of row j from next[j] to those before column i agree with 0, as the rows of these columns do not have them.
bool stand_for_zeros(const CsrView<double> &A, const int *below, int *next, int j, int i)
{
  for (int &t = next[j]; t < A.ptr[j + 1] && A.col[t] < i; t++) {
    if (!agree(A, below, j, A.col[t], A.val[t], 0)) return false;
  }
  return true;
}
} // namespace

void split_rows(const CsrView<double> &A, int *below)
{
  for (int i = 0; i < A.rows; i++) below[i] = static_cast<int>(std::lower_bound(A.col + A.ptr[i], A.col + A.ptr[i + 1], i) - A.col);
}

bool rows_are_alike(const CsrView<double> &A, const int *below)
{
  int others = 0;
  for (int i = 1; i < A.rows; i++)
    others += below[i] - A.ptr[i] != below[i - 1] - A.ptr[i - 1] || A.ptr[i + 1] - below[i] != A.ptr[i] - below[i - 1];
  return 2 * std::int64_t{others} <= A.rows;
}

bool find_own_blocks(const BlockCsrView<double> &A, int *own)
{
  for (int I = 0; I < A.nodes(); I++) {
    own[I] = static_cast<int>(std::lower_bound(A.col + A.ptr[I], A.col + A.ptr[I + 1], I) - A.col);
    if (own[I] == A.ptr[I + 1] || A.col[own[I]] != I) return false;
  }
  return true;
}

bool round_values(const CsrView<double> &A, float *to)
{
  for (std::int64_t k = 0; k < A.nnz; k++) {
    if (!is_representable_in_single(A.val[k])) return false;
    to[k] = static_cast<float>(A.val[k]);
  }
  return true;
}

// Rows have their entries below the diagonal in the order in which the rows above have the same: next[j] is the first of row j that none
// has been compared with. An entry that is not stored is 0: programs that drop zeros keep one of two that should be, if it is 1e-17.
bool halves_agree(const CsrView<double> &A, const int *below, int *next)
{
  for (int i = 0; i < A.rows; i++) {
    next[i] = below[i] < A.ptr[i + 1] && A.col[below[i]] == i ? below[i] + 1 : below[i];
    for (int k = A.ptr[i]; k < below[i]; k++) {
      const int j = A.col[k];
      if (!stand_for_zeros(A, below, next, j, i)) return false;
      const bool stored = next[j] < A.ptr[j + 1] && A.col[next[j]] == i;
      if (!agree(A, below, i, j, A.val[k], stored ? A.val[next[j]++] : 0)) return false;
    }
  }
  for (int j = 0; j < A.rows; j++) {
    if (!stand_for_zeros(A, below, next, j, A.cols)) return false;
  }
  return true;
}

void damp_coupled_rows(const CsrView<double> &others, std::int64_t nrows, const int *rows, double *d)
{
  for (std::int64_t r = 0; r < nrows; r++) {
    const int i = rows[r];
    if (d[i] == 0) continue;
    double sum = 0;
    for (int k = others.ptr[i]; k < others.ptr[i + 1]; k++) sum += std::abs(others.val[k]);
    const double size = std::abs(1 / d[i]);
    d[i] = std::copysign(1 / std::max(size, 2 * size / 3 + sum / 2), d[i]);
  }
}

namespace
{
template <class T>
void sweep_rows_from_zero(const CsrView<T> &A, const int *below, bool symmetric, const double *d, const double *b, double *x, double *r)
{
  const int *const ptr = A.ptr, *const col = A.col;
  const T *const val = A.val;
  for (int i = 0; i < A.rows; i++) {
    const int begin = ptr[i], end = below[i];
    double s = b[i];
    for (int k = begin; k < end; k++) s -= val[k] * x[col[k]];
    const double x_i = d[i] * s;
    x[i] = x_i;
    r[i] = d[i] != 0 ? s - val[end] * x_i : s;
    if (!symmetric) continue;
    for (int k = begin; k < end; k++) r[col[k]] -= val[k] * x_i;
  }
}

// The entries of the rows of node I: the row p of N begins at at(p), with so many blocks before the node's own one, and all.
template <int N, class T> struct NodeRows {
  const T *val;
  const int *col;
  int before, all;

  NodeRows(const SweptRows<T> &rows, int I)
      : val(rows.A.val + std::ptrdiff_t{N} * N * rows.blocks.ptr[I]), col(rows.blocks.col + rows.blocks.ptr[I]),
        before(rows.own[I] - rows.blocks.ptr[I]), all(rows.blocks.ptr[I + 1] - rows.blocks.ptr[I])
  {}
  const T *at(int p) const { return val + std::ptrdiff_t{N} * all * p; }
  const T *own(int p) const { return at(p) + std::ptrdiff_t{N} * before; }
};

// In the node, the rows before row p are of the lower triangle.
template <int N, class T>
void sweep_blocks_from_zero(const SweptRows<T> &rows, bool symmetric, const double *d, const double *b, double *x, double *r)
{
  for (int I = 0, i = 0; I < rows.blocks.nodes(); I++) {
    const NodeRows<N, T> node(rows, I);
    const int first = N * I;
    for (int p = 0; p < N; p++, i++) {
      const T *const a = node.at(p), *const own = node.own(p);
      double s = b[i] - times_blocks<N>(node.before, a, node.col, x);
      for (int q = 0; q < p; q++) s -= own[q] * x[first + q];
      const double x_i = d[i] * s;
      x[i] = x_i;
      r[i] = s - own[p] * x_i;
      if (!symmetric) continue;
      for (int q = 0; q < p; q++) r[first + q] -= own[q] * x_i;
      for (int k = 0; k < node.before; k++) {
        double *const of_node = r + std::ptrdiff_t{N} * node.col[k];
        for (int c = 0; c < N; c++) of_node[c] -= a[N * k + c] * x_i;
      }
    }
  }
}

template <int N, class T> void subtract_upper_blocks(const SweptRows<T> &rows, const double *x, double *r)
{
  for (int I = 0, i = 0; I < rows.blocks.nodes(); I++) {
    const NodeRows<N, T> node(rows, I);
    const int after = node.before + 1;
    for (int p = 0; p < N; p++, i++) {
      double s = times_blocks<N>(node.all - after, node.own(p) + N, node.col + after, x);
      for (int q = p + 1; q < N; q++) s += node.own(p)[q] * x[N * I + q];
      r[i] -= s;
    }
  }
}

template <int N, bool Down, class T> void sweep_blocks(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  const int nodes = rows.blocks.nodes();
  for (int t = 0; t < nodes; t++) {
    const int I = Down ? nodes - 1 - t : t;
    const NodeRows<N, T> node(rows, I);
    for (int u = 0; u < N; u++) {
      const int p = Down ? N - 1 - u : u, i = N * I + p;
      x[i] += d[i] * (b[i] - times_blocks<N, Down>(node.all, node.at(p), node.col, x));
    }
  }
}

// Forward, or backward, which reads all backwards: with one loop forwards the hardware's prefetching fails, and rows of 81 entries take
// three times as long. The x_j of the row before comes last: the others are read while it is made.
template <bool Down, class T> void sweep_rows(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  const int *const ptr = rows.A.ptr, *const col = rows.A.col, *const below = rows.below, n = rows.A.rows;
  const T *const val = rows.A.val;
  for (int t = 0; t < n; t++) {
    const int i = Down ? n - 1 - t : t, middle = below[i];
    double s = b[i];
    if constexpr (Down) {
      for (int k = middle - 1; k >= ptr[i]; k--) s -= val[k] * x[col[k]];
      for (int k = ptr[i + 1] - 1; k >= middle; k--) s -= val[k] * x[col[k]];
    } else {
      for (int k = middle; k < ptr[i + 1]; k++) s -= val[k] * x[col[k]];
      for (int k = ptr[i]; k < middle; k++) s -= val[k] * x[col[k]];
    }
    x[i] += d[i] * s;
  }
}

// The same with one loop a row, whose end is mispredicted, in place of two.
template <bool Down, class T> void sweep_uneven_rows(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  const int *const ptr = rows.A.ptr, *const col = rows.A.col, n = rows.A.rows;
  const T *const val = rows.A.val;
  for (int t = 0; t < n; t++) {
    const int i = Down ? n - 1 - t : t;
    double s = b[i];
    if constexpr (Down) {
      for (int k = ptr[i + 1] - 1; k >= ptr[i]; k--) s -= val[k] * x[col[k]];
    } else {
      for (int k = ptr[i]; k < ptr[i + 1]; k++) s -= val[k] * x[col[k]];
    }
    x[i] += d[i] * s;
  }
}

template <bool Down, class T> void sweep(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  if (rows.by_blocks()) return for_columns_of_blocks(rows.blocks.block.cols, [&](auto N) { sweep_blocks<N, Down>(rows, d, b, x); });
  rows.alike ? sweep_rows<Down>(rows, d, b, x) : sweep_uneven_rows<Down>(rows, d, b, x);
}
} // namespace

template <class T> void sweep_from_zero(const SweptRows<T> &rows, bool symmetric, const double *d, const double *b, double *x, double *r)
{
  if (!rows.by_blocks()) return sweep_rows_from_zero(rows.A, rows.below, symmetric, d, b, x, r);
  for_columns_of_blocks(rows.blocks.block.cols, [&](auto N) { sweep_blocks_from_zero<N>(rows, symmetric, d, b, x, r); });
}

template <class T> void subtract_upper(const SweptRows<T> &rows, const double *d, const double *x, double *r)
{
  const CsrView<T> &A = rows.A;
  if (rows.by_blocks()) return for_columns_of_blocks(rows.blocks.block.cols, [&](auto N) { subtract_upper_blocks<N>(rows, x, r); });
  for (int i = 0; i < A.rows; i++) {
    double s = 0;
    for (int k = rows.below[i] + (d[i] != 0 ? 1 : 0); k < A.ptr[i + 1]; k++) s += A.val[k] * x[A.col[k]];
    r[i] -= s;
  }
}

template <class T> void swept_residual(const SweptRows<T> &rows, const double *b, const double *x, double *r)
{
  const CsrView<T> &A = rows.A;
  if (rows.by_blocks()) return for_block_rows(rows.blocks, x, [=](int i, double s) { r[i] = b[i] - s; });
  for (int i = 0; i < A.rows; i++) {
    double s = b[i];
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) s -= A.val[k] * x[A.col[k]];
    r[i] = s;
  }
}

template <class T> void sweep_forward(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  sweep<false>(rows, d, b, x);
}

template <class T> void sweep_backward(const SweptRows<T> &rows, const double *d, const double *b, double *x)
{
  sweep<true>(rows, d, b, x);
}

#define INSTANTIATE(T)                                                                                                                     \
  template void sweep_from_zero(const SweptRows<T> &, bool, const double *, const double *, double *, double *);                           \
  template void subtract_upper(const SweptRows<T> &, const double *, const double *, double *);                                            \
  template void swept_residual(const SweptRows<T> &, const double *, const double *, double *);                                            \
  template void sweep_forward(const SweptRows<T> &, const double *, const double *, double *);                                             \
  template void sweep_backward(const SweptRows<T> &, const double *, const double *, double *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

void solve_tied_rows(const CsrView<double> &A, const TiedRows<Host> &tied, bool backward, bool transposed, const double *b, double *x,
                     double *r)
{
  const int *begin = tied.begin.data(), *row = tied.row.data(), groups = tied.groups();
  const auto residual_of = [&](int i) {
    if (r) return r[i];
    double left = b[i];
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) left -= A.val[k] * x[A.col[k]];
    return left;
  };
  const auto take = [&](int i, double correction) {
    x[i] += correction;
    if (!r) return;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) r[A.col[k]] -= A.val[k] * correction;
  };
  for (int place = 0; place < groups; place++) {
    const int g = backward ? groups - 1 - place : place, first = begin[g], n = begin[g + 1] - first;
    const double *block = tied.blocks.data() + std::ptrdiff_t{most_tied} * first;
    std::array<double, most_tied> left{};
    for (int t = 0; t < n; t++) left[t] = residual_of(row[first + t]);
    for (int t = 0; t < n; t++) {
      double correction = 0;
      for (int s = 0; s < n; s++) correction += block[transposed ? most_tied * s + t : most_tied * t + s] * left[s];
      take(row[first + t], correction);
    }
  }
}
} // namespace amgkit
