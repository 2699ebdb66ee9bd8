// Patterns that consist of complete aligned blocks, from entries to blocks and back. Runs of columns are blocks of one row.
#pragma once
#include "base/parallel.hpp"

namespace amgkit
{
// No branch: four and more are compared at once.
AMGKIT_FN inline bool same_columns(int n, const int *a, const int *b)
{
  int others = 0;
  for (int t = 0; t < n; t++) others |= a[t] ^ b[t];
  return others == 0;
}

// blocks: the pattern of A's rows x cols blocks, without values, if *whole: A has all entries of each or none. A has entries. Waits.
template <class Ex> PetscErrorCode find_blocks(Ex &ex, const CsrView<double> &A, int rows, int cols, Csr<double, Ex> &blocks, bool *whole)
{
  Array<unsigned, Ex> flag;
  const int size = rows * cols, *ptr = A.ptr, *col = A.col;
  unsigned broken = 0;

  PetscFunctionBegin;
  *whole = A.rows % rows == 0 && A.cols % cols == 0 && A.nnz % size == 0;
  if (!*whole) PetscFunctionReturn(PETSC_SUCCESS);
  blocks.rows = A.rows / rows;
  blocks.cols = A.cols / cols;
  PetscCall(flag.allocate(ex, 1));
  PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  PetscCall(blocks.ptr.allocate(ex, std::int64_t{blocks.rows} + 1));
  PetscCall(blocks.col.allocate(ex, A.nnz / size));
  int *block_ptr = blocks.ptr.data(), *block_col = blocks.col.data();
  unsigned *is_broken = flag.data();
  PetscCall(for_each(ex, std::int64_t{blocks.rows} + 1, [=] AMGKIT_FN(std::int64_t I) {
    block_ptr[I] = ptr[I * rows] / size;
    if (ptr[I * rows] % size != 0) atomic_or(is_broken, 1);
  }));
  // also where they are not whole, all that is read and written is there
  PetscCall(for_rows(ex, blocks.rows, A.average() / cols, [=] AMGKIT_FN(auto team, std::int64_t I) {
    const int begin = ptr[I * rows], length = (ptr[(I + 1) * rows] - begin) / rows, count = length / cols, first = begin / size;
    bool fits = count * cols == length;
    for (int p = 1; p < rows; p++) fits = fits && ptr[I * rows + p] == begin + p * length;
    int each = rows; // rows that are compared with the blocks
    if (Ex::one_by_one) {
      for (int p = 1; p < rows; p++) fits = fits && same_columns(length, col + begin, col + begin + p * length);
      each = 1;
    }
    for (int b : team.share(0, count)) {
      const int *corner = col + begin + b * cols, start = *corner;
      for (int p = 0; p < each; p++) {
        for (int c = 0; c < cols; c++) fits &= corner[p * length + c] == start + c; // no branch: all are read at once
      }
      const int J = start / cols;
      fits &= J * cols == start;
      block_col[first + b] = J;
    }
    if (!fits) atomic_or(is_broken, 1);
  }));
  PetscCall(memory_to_host(ex, &broken, flag.data(), flag.bytes()));
  *whole = !broken;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The runs that B's rows have, without values. B has entries.
template <class Ex> PetscErrorCode find_runs(Ex &ex, const CsrView<double> &B, int run, Csr<double, Ex> &runs)
{
  bool whole = false;

  PetscFunctionBegin;
  PetscCall(find_blocks(ex, B, 1, run, runs, &whole));
  PetscCheck(whole, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "The right factor's columns do not come in complete aligned runs of %d", run);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// C's pattern from that of its rows x run blocks.
template <class Ex>
PetscErrorCode write_blocks(Ex &ex, int rows, int run, const Array<int, Ex> &offsets, const Array<int, Ex> &columns, Csr<double, Ex> &C)
{
  const std::int64_t nodes = offsets.size() - 1;

  PetscFunctionBegin;
  PetscCall(C.ptr.allocate(ex, nodes * rows + 1));
  PetscCall(C.col.allocate(ex, columns.size() * rows * run));
  const int *from = offsets.data(), *block = columns.data();
  int *ptr = C.ptr.data(), *col = C.col.data();
  PetscCall(for_each(ex, C.ptr.size(), [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t I = i / rows;
    const int p = static_cast<int>(i % rows);
    ptr[i] = run * (rows * from[I] + (p > 0 ? p * (from[I + 1] - from[I]) : 0));
  }));
  const double average = nodes > 0 ? static_cast<double>(columns.size()) * run / static_cast<double>(nodes) : 0;
  PetscCall(for_rows(ex, nodes, average, [=] AMGKIT_FN(auto team, std::int64_t I) {
    const int begin = from[I], length = run * (from[I + 1] - begin);
    int *first = col + rows * run * begin;
    for (int t : team.share(0, length)) {
      const int column = run * block[begin + t / run] + t % run;
      for (int p = 0; p < rows; p++) first[p * length + t] = column;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
