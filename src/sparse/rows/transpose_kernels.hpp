#include "sparse/rows/block_patterns.hpp"
#include "sparse/rows/search.hpp"
#include "sparse/rows/transpose.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
template <class Ex> PetscErrorCode begins_of_rows(Ex &ex, int rows, std::int64_t n, const std::uint32_t *row, int *ptr)
{
  // More rows than entries: those of a face of a grid leave all the others to one thread.
  if (rows > n) {
    const int end = static_cast<int>(n);
    return for_each(ex, std::int64_t{rows} + 1, [=] AMGKIT_FN(std::int64_t j) {
      ptr[j] = first_not_below([=](int k) { return static_cast<int>(row[k]); }, 0, end, static_cast<int>(j));
    });
  }
  // the first entry of every row at or after the one before it
  return for_each(ex, n + 1, [=] AMGKIT_FN(std::int64_t k) {
    const std::int64_t here = k < n ? static_cast<std::int64_t>(row[k]) : rows;
    for (std::int64_t j = k > 0 ? static_cast<std::int64_t>(row[k - 1]) + 1 : 0; j <= here; j++) ptr[j] = static_cast<int>(k);
  });
}

namespace
{
// One row after the other, each entry to the next place of its column.
inline PetscErrorCode transpose_one_by_one(Host &ex, const CsrView<double> &A, Csr<double, Host> &At, Array<int, Host> *from)
{
  Array<int, Host> places;

  PetscFunctionBegin;
  PetscCall(At.ptr.allocate(ex, std::int64_t{At.rows} + 1));
  PetscCall(places.allocate(ex, At.rows));
  PetscCall(At.col.allocate(ex, A.nnz));
  if (A.val) PetscCall(At.val.allocate(ex, A.nnz));
  if (from) PetscCall(from->allocate(ex, A.nnz));
  int *ptr = At.ptr.data(), *place = places.data();
  std::fill_n(ptr, At.rows + 1, 0);
  for (int k = 0; k < A.nnz; k++) ptr[A.col[k] + 1]++;
  std::partial_sum(ptr, ptr + At.rows + 1, ptr);
  std::copy_n(ptr, At.rows, place);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int to = place[A.col[k]]++;
      At.col.data()[to] = i;
      if (A.val) At.val.data()[to] = A.val[k];
      if (from) from->data()[to] = k;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sorting the entries by their columns, in a stable way, leaves the rows of each column in ascending order. Without A.val: the pattern.
template <class Ex> PetscErrorCode transpose_entries(Ex &ex, const CsrView<double> &A, Csr<double, Ex> &At, Array<int, Ex> *from)
{
  Array<std::uint32_t, Ex> columns;
  Array<int, Ex> positions;
  const std::int64_t n = A.nnz;
  int bits = 1;

  PetscFunctionBegin;
  At.rows = A.cols;
  At.cols = A.rows;
  At.col.release();
  At.val.release();
  if constexpr (Ex::one_by_one) PetscFunctionReturn(transpose_one_by_one(ex, A, At, from));
  PetscCall(allocate_each(ex, n, columns, positions));
  std::uint32_t *column = columns.data();
  int *position = positions.data(), *row = columns.template as<int>();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) {
    column[k] = static_cast<std::uint32_t>(A.col[k]);
    position[k] = static_cast<int>(k);
  }));
  while (A.cols >> bits) bits++;
  PetscCall(stable_sort_pairs(ex, n, column, position, bits));
  PetscCall(At.ptr.allocate(ex, std::int64_t{At.rows} + 1));
  PetscCall(begins_of_rows(ex, At.rows, n, column, At.ptr.data()));
  // the columns have done their work: each entry's row in place of them
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) row[k] = static_cast<int>(i);
  }));
  PetscCall(At.col.allocate(ex, n));
  if (A.val) PetscCall(At.val.allocate(ex, n));
  int *col = At.col.data();
  double *val = At.val.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) {
    col[k] = row[position[k]];
    if (val) val[k] = A.val[position[k]];
  }));
  if (from) *from = std::move(positions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// At from the patterns of A's blocks and of theirs, whose entry b is A's block from_block[b].
template <class Ex>
PetscErrorCode transpose_blocks(Ex &ex, const CsrView<double> &A, const TransposeBlocks &size, const CsrView<double> &blocks,
                                const CsrView<double> &transposed, const int *from_block, Csr<double, Ex> &At, Array<int, Ex> *from)
{
  const int rows = size.rows, cols = size.cols;

  PetscFunctionBegin;
  At.rows = A.cols;
  At.cols = A.rows;
  PetscCall(At.ptr.allocate(ex, std::int64_t{At.rows} + 1));
  PetscCall(allocate_each(ex, A.nnz, At.col, At.val));
  if (from) PetscCall(from->allocate(ex, A.nnz));
  int *ptr = At.ptr.data(), *col = At.col.data(), *position = from ? from->data() : nullptr;
  double *val = At.val.data();
  PetscCall(for_each(ex, At.ptr.size(), [=] AMGKIT_FN(std::int64_t j) {
    const std::int64_t J = j / cols;
    const int q = static_cast<int>(j % cols);
    ptr[j] = rows * (cols * transposed.ptr[J] + (q > 0 ? q * (transposed.ptr[J + 1] - transposed.ptr[J]) : 0));
  }));
  PetscCall(for_rows(ex, transposed.rows, transposed.average() * rows * cols, [=] AMGKIT_FN(auto team, std::int64_t J) {
    const int begin = transposed.ptr[J], length = rows * (transposed.ptr[J + 1] - begin), first = rows * cols * begin;
    for (int t : team.share(0, length)) {
      const int b = begin + t / rows, p = t % rows, I = transposed.col[b], row = blocks.ptr[I];
      const int at = rows * cols * row + cols * (p * (blocks.ptr[I + 1] - row) + from_block[b] - row);
      for (int q = 0; q < cols; q++) {
        const int k = first + q * length + t;
        col[k] = rows * I + p;
        val[k] = A.val[at + q];
        if (position) position[k] = at + q;
      }
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode transpose(Ex &ex, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from, TransposeBlocks size)
{
  Csr<double, Ex> blocks, transposed;
  Array<int, Ex> from_block;
  bool whole = false;

  PetscFunctionBegin;
  if (A.nnz > 0 && size.rows * size.cols > 1) PetscCall(find_blocks(ex, A, size.rows, size.cols, blocks, &whole));
  if (whole) {
    PetscCall(transpose_entries(ex, blocks.view(), transposed, &from_block));
    PetscCall(transpose_blocks(ex, A, size, blocks.view(), transposed.view(), from_block.data(), At, from));
  } else {
    PetscCall(transpose_entries(ex, A, At, from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(begins_of_rows)
AMGKIT_INSTANTIATE(transpose)
} // namespace amgkit
