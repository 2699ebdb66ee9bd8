#include "sparse/rows/gauss_seidel.hpp"

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

// Whether A's entry k, of row i and a column j < i, is the next one of row j above the diagonal, to the tolerance.
bool is_mirrored(const CsrView<double> &A, const int *below, int *next, int i, int k)
{
  constexpr double tolerance = 1e-12;
  const int j = A.col[k], t = next[j]++;
  if (t >= A.ptr[j + 1] || A.col[t] != i) return false;
  if (A.val[t] == A.val[k]) return true;
  const double size = std::sqrt(std::abs(diagonal_entry(A, below, i))) * std::sqrt(std::abs(diagonal_entry(A, below, j)));
  return std::abs(A.val[t] - A.val[k]) <= tolerance * size;
}
} // namespace

void split_rows(const CsrView<double> &A, int *below)
{
  for (int i = 0; i < A.rows; i++) below[i] = static_cast<int>(std::lower_bound(A.col + A.ptr[i], A.col + A.ptr[i + 1], i) - A.col);
}

// Rows have their entries below the diagonal in the order in which the rows above have the same: next[j] is the first of row j that none
// has been compared with.
bool halves_agree(const CsrView<double> &A, const int *below, int *next)
{
  for (int i = 0; i < A.rows; i++) {
    next[i] = below[i] < A.ptr[i + 1] && A.col[below[i]] == i ? below[i] + 1 : below[i];
    for (int k = A.ptr[i]; k < below[i]; k++) {
      if (!is_mirrored(A, below, next, i, k)) return false;
    }
  }
  return A.rows == 0 || std::equal(next, next + A.rows, A.ptr + 1);
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

void sweep_from_zero(const CsrView<double> &A, const int *below, bool symmetric, const double *d, const double *b, double *x, double *r)
{
  const int *const ptr = A.ptr, *const col = A.col;
  const double *const val = A.val;
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

void subtract_upper(const CsrView<double> &A, const int *below, const double *d, const double *x, double *r)
{
  for (int i = 0; i < A.rows; i++) {
    double s = 0;
    for (int k = below[i] + (d[i] != 0 ? 1 : 0); k < A.ptr[i + 1]; k++) s += A.val[k] * x[A.col[k]];
    r[i] -= s;
  }
}

// The x_j of the row before comes last: the others are read while it is made. So it is in the next function, which reads all backwards:
// with its first loop forwards the hardware's prefetching fails, and rows of 81 entries take three times as long.
void sweep_forward(const CsrView<double> &A, const int *below, const double *d, const double *b, double *x)
{
  const int *const ptr = A.ptr, *const col = A.col;
  const double *const val = A.val;
  for (int i = 0; i < A.rows; i++) {
    const int end = below[i];
    double s = b[i];
    for (int k = end; k < ptr[i + 1]; k++) s -= val[k] * x[col[k]];
    for (int k = ptr[i]; k < end; k++) s -= val[k] * x[col[k]];
    x[i] += d[i] * s;
  }
}

void sweep_backward(const CsrView<double> &A, const int *below, const double *d, const double *b, double *x)
{
  const int *const ptr = A.ptr, *const col = A.col;
  const double *const val = A.val;
  for (int i = A.rows - 1; i >= 0; i--) {
    const int end = below[i];
    double s = b[i];
    for (int k = end - 1; k >= ptr[i]; k--) s -= val[k] * x[col[k]];
    for (int k = ptr[i + 1] - 1; k >= end; k--) s -= val[k] * x[col[k]];
    x[i] += d[i] * s;
  }
}

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
