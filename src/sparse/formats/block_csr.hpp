// Compressed rows that consist of complete blocks of M x N entries, for products on a plain host: values stay where the rows have them, and
// the column of a block, one number, takes the place of those of its entries. A row's sum goes by the N columns of blocks, as N sums that
// do not wait for each other. Of elasticity's 24,000 rows in a core's cache, a product takes 0.65 ms where rows take 1.25; of rows that are
// beyond it 8.0 and 10.9 (n = 20 and 40, share/amgkit/bench/NOTES.md).
#pragma once
#include "sparse/formats/spmv.hpp"

#include <array>
#include <cstddef>

namespace amgkit
{
struct BlockSize {
  int rows = 0, cols = 0;
};
// Those that there are, with any number of rows: of nodes with two or three unknowns, and coarse ones with the three or six translations
// and rotations.
constexpr bool block_csr_has(BlockSize size) { return size.rows > 0 && (size.cols == 2 || size.cols == 3 || size.cols == 6); }

// Node I has blocks with columns of nodes col[k], ptr[I] <= k < ptr[I + 1], ascending. rows: its values are read, not its columns. T:
// double, or float where values have been rounded.
template <class T> struct BlockCsrView {
  CsrView<T> rows;
  BlockSize block;
  const int *ptr = nullptr, *col = nullptr;

  int nodes() const { return block.rows > 0 ? rows.rows / block.rows : 0; }
};

// The columns of the blocks of A.
template <class Ex> struct BlockColumns {
  BlockSize block;
  Csr<double, Ex> pattern; // without values

  template <class T> BlockCsrView<T> view(CsrView<T> A) const { return {A, block, pattern.ptr.data(), pattern.col.data()}; }
  std::size_t bytes() const { return pattern.bytes(); }
};

// f(std::integral_constant<int, N>) for N = cols, which there is.
template <class F> void for_columns_of_blocks(int cols, F f)
{
  if (cols == 2) f(std::integral_constant<int, 2>{});
  if (cols == 3) f(std::integral_constant<int, 3>{});
  if (cols == 6) f(std::integral_constant<int, 6>{});
}

// A row's part in n blocks, N values of each after those of the one before, times x: ascending, or from the last block down, in which
// direction memory is then read.
template <int N, bool Down = false, class T, class V> double times_blocks(int n, const T *val, const int *col, const V *x)
{
  std::array<double, N> sums{};
  for (int t = 0; t < n; t++) {
    const int k = Down ? n - 1 - t : t;
    const T *a = val + std::ptrdiff_t{N} * k;
    const V *of_node = x + std::ptrdiff_t{N} * col[k];
    for (int c = 0; c < N; c++) sums[c] += static_cast<double>(a[c]) * of_node[c];
  }
  double sum = sums[0];
  for (int c = 1; c < N; c++) sum += sums[c];
  return sum;
}

// f(i, (A x)_i) for each row i
template <class T, class V, class F> void for_block_rows(const BlockCsrView<T> &A, const V *x, F f)
{
  for_columns_of_blocks(A.block.cols, [&](auto cols) {
    constexpr int N = cols;
    const int *const ptr = A.ptr, *const col = A.col, rows = A.block.rows, nodes = A.nodes();
    const T *val = A.rows.val;
    for (int I = 0, i = 0; I < nodes; I++) {
      const int begin = ptr[I], n = ptr[I + 1] - begin;
      for (int p = 0; p < rows; p++, i++, val += std::ptrdiff_t{N} * n) f(i, times_blocks<N>(n, val, col + begin, x));
    }
  });
}

// As in spmv.hpp.
template <class T, class V> PetscErrorCode spmv(Host &, const BlockCsrView<T> &A, const V *x, V *y)
{
  PetscFunctionBegin;
  for_block_rows(A, x, [=](int i, double s) { y[i] = static_cast<V>(s); });
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <int N, class T, class V> PetscErrorCode spmv(Host &ex, const BlockCsrView<T> &A, const V *x, V *y, const ProductSums<N, V> &sums)
{
  PetscFunctionBegin;
  PetscCall(spmv(ex, A, x, y));
  PetscCall(sum_products(ex, A.rows.rows, x, y, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T, class V> PetscErrorCode add_product(Host &, const BlockCsrView<T> &A, const V *x, V *y)
{
  PetscFunctionBegin;
  for_block_rows(A, x, [=](int i, double s) { y[i] = static_cast<V>(y[i] + s); });
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T, class V> PetscErrorCode residual(Host &, const BlockCsrView<T> &A, const V *b, const V *x, V *r)
{
  PetscFunctionBegin;
  for_block_rows(A, x, [=](int i, double s) { r[i] = static_cast<V>(b[i] - s); });
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T, class D, class V>
PetscErrorCode relax(Host &, const BlockCsrView<T> &A, const D *d, RelaxStep step, const V *b, const V *x, OptionalVector<V> previous, V *y)
{
  PetscFunctionBegin;
  for_block_rows(A, x, [=](int i, double s) { y[i] = step(i, s, d, b, x, previous); });
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
