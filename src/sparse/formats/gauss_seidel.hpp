// Gauss-Seidel sweeps through the rows of one rank on a plain host, where one row after the other is as fast as any order:
// x_i <- x_i + d_i (b - A x)_i, in which the rows before it have their new x_j.
//
// Rows that consist of complete blocks are read as block_csr.hpp has them: sweeps then take about half of the time.
#pragma once
#include "sparse/formats/block_csr.hpp"
#include "sparse/rows/tied_rows.hpp"

namespace amgkit
{
// Rows as sweeps read them: row by row, or, where by_blocks(), by blocks, which are square. T: double, or float for values that
// have been rounded.
template <class T> struct SweptRows {
  CsrView<T> A;
  const int *below = nullptr; // below[i]: where the entries of row i with columns from i on begin
  BlockCsrView<T> blocks;     // of A; every node I has the block (I, I)
  const int *own = nullptr;   // own[I]: where that is
  bool alike = true;          // as rows_are_alike() says

  bool by_blocks() const { return blocks.block.rows > 1; }
};

// below: as SweptRows has it.
void split_rows(const CsrView<double> &A, int *below);
// Whether most rows have as many entries below the diagonal, and from it on, as the row before. A core then foresees where a row's loops
// end, which is else what a sweep of short rows waits for.
bool rows_are_alike(const CsrView<double> &A, const int *below);
// own: as SweptRows has it. Returns whether every node has its own block.
bool find_own_blocks(const BlockCsrView<double> &A, int *own);
// to <- A's values as floats. Returns whether all can be; if not, to is unfinished.
bool round_values(const CsrView<double> &A, float *to);
// Whether A is symmetric, to 1e-12 |a_ii a_jj|^(1/2); entries that are not stored are 0. next: room for a number a row.
bool halves_agree(const CsrView<double> &A, const int *below, int *next);

// For rows that are coupled to other ranks' x_j, which a sweep takes as they were at its beginning: d_i = 1 / a_ii becomes the inverse of
// sign(a_ii) max(|a_ii|, 2/3 |a_ii| + 1/2 sum of |a_ij| over these j). M, the lower triangle with that diagonal, then has
// M + Mᵀ - A >= D / 3 for a symmetric definite A, and sweeps converge (Baker, Falgout, Kolev, Yang 2011, theorem 3.1 and remark 6.2,
// who add all of the half as soon as it is large; so little is sufficient). nrows: of rows, the rows with such couplings.
void damp_coupled_rows(const CsrView<double> &others, std::int64_t nrows, const int *rows, double *d);

// Forward from x = 0: reads the lower triangle alone. r = b - (L + D) x, of which the residual lacks U x. symmetric: r = b - A x, for which
// row i also gives its part of U x to the rows before it, while they are in the cache. d_i is other than 0 where a_ii is.
template <class T> void sweep_from_zero(const SweptRows<T> &rows, bool symmetric, const double *d, const double *b, double *x, double *r);
// r -= U x
template <class T> void subtract_upper(const SweptRows<T> &rows, const double *d, const double *x, double *r);
// r = b - A x
template <class T> void swept_residual(const SweptRows<T> &rows, const double *b, const double *x, double *r);
template <class T> void sweep_forward(const SweptRows<T> &rows, const double *d, const double *b, double *x);
template <class T> void sweep_backward(const SweptRows<T> &rows, const double *d, const double *b, double *x);

// x += M⁻¹ (b - A x) in tied rows, one group after the other, the last first if backward; transposed: M⁻ᵀ, for an A that is. r = b - A x of
// a symmetric A takes part, if it is given.
void solve_tied_rows(const CsrView<double> &A, const TiedRows<Host> &, bool backward, bool transposed, const double *b, double *x,
                     double *r);
} // namespace amgkit
