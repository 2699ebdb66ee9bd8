// The columns of rows of C that are too long for a hash table, as one bit for each column that C could have: setting bits needs no order
// and gives the columns sorted.
#pragma once
#include "base/bits.hpp"
#include "sparse/spgemm/spgemm_factors.hpp"

namespace amgkit::spgemm
{
constexpr int block_words = 32, block_columns = 32 * block_words; // bits are counted by blocks
constexpr int piece_entries = 64;                                 // of the left factor, whose bits one team sets

// Some of the long rows.
struct Slice {
  const int *row;
  std::int64_t rows, blocks; // rows of them, blocks in each
  unsigned *bits;            // block_words of each block of each row
  int *before;               // columns in the blocks before block b of row l, b + blocks l
};

template <class In, class Ex> PetscErrorCode set_bits(Ex &ex, const In &in, const Slice &slice)
{
  Array<int, Ex> pieces;
  std::int64_t total = 0;

  PetscFunctionBegin;
  PetscCall(pieces.allocate(ex, slice.rows + 1));
  int *piece = pieces.data();
  PetscCall(for_each(ex, slice.rows, [=] AMGKIT_FN(std::int64_t l) {
    const Segment left = in.row(slice.row[l]);
    piece[l] = (left.end - left.begin + piece_entries - 1) / piece_entries;
  }));
  PetscCall(exclusive_scan(ex, slice.rows, piece, &total));
  PetscCall(for_rows(ex, total, in.B.average(), [=] AMGKIT_FN(auto team, std::int64_t p) {
    const int l = piece_of(piece, static_cast<int>(slice.rows), p);
    unsigned *bits = slice.bits + l * slice.blocks * block_words;
    Segment left = in.row(slice.row[l]);
    left.begin += (static_cast<int>(p) - piece[l]) * piece_entries;
    if (left.end - left.begin > piece_entries) left.end = left.begin + piece_entries;
    for_columns(team, WholeTeam{}, in, left, [&](int column) {
      const unsigned bit = 1U << column % 32;
      if (!(atomic_load(&bits[column / 32]) & bit)) atomic_or(&bits[column / 32], bit);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode count_bits(Ex &ex, const Slice &slice)
{
  const std::int64_t blocks = slice.rows * slice.blocks;
  std::int64_t total = 0;

  PetscFunctionBegin;
  PetscCall(for_each(ex, blocks, [=] AMGKIT_FN(std::int64_t b) {
    int n = 0;
    for (int w = 0; w < block_words; w++) n += bits_set(slice.bits[b * block_words + w]);
    slice.before[b] = n;
  }));
  PetscCall(exclusive_scan(ex, blocks, slice.before, &total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// count[i] <- number of columns of each row i of the slice
template <class Ex> PetscErrorCode count_slice(Ex &ex, const Slice &slice, int *count)
{
  return for_each(ex, slice.rows, [=] AMGKIT_FN(std::int64_t l) {
    count[slice.row[l]] = slice.before[(l + 1) * slice.blocks] - slice.before[l * slice.blocks];
  });
}

template <class Ex> PetscErrorCode fill_slice(Ex &ex, const Slice &slice, const int *ptr, int *col)
{
  return for_each(ex, slice.rows * slice.blocks, [=] AMGKIT_FN(std::int64_t b) {
    const std::int64_t l = b / slice.blocks;
    int at = ptr[slice.row[l]] + slice.before[b] - slice.before[l * slice.blocks];
    for (int w = 0; w < block_words; w++) {
      const int first = static_cast<int>(b % slice.blocks) * block_columns + 32 * w;
      for_bits(slice.bits[b * block_words + w], [&](int bit) { col[at++] = first + bit; });
    }
  });
}

// use(slice), its bits set and counted, for slices of n rows in order, of at most so many bytes, but one row at least; fewer rows where
// there is no memory for as many.
template <class In, class Ex, class F>
PetscErrorCode for_slices(Ex &ex, const In &in, const int *row, std::int64_t n, std::int64_t work_bytes, F use)
{
  Array<unsigned, Ex> bits;
  Array<int, Ex> before;
  const std::int64_t blocks = (std::int64_t{in.B.cols} + block_columns - 1) / block_columns;
  const std::int64_t row_bytes = blocks * (block_words + 1) * static_cast<std::int64_t>(sizeof(int));
  std::int64_t rows = std::clamp<std::int64_t>(work_bytes / row_bytes, 1, n);

  PetscFunctionBegin;
  for (;; rows = (rows + 1) / 2) {
    PetscErrorCode status = bits.allocate(ex, rows * blocks * block_words);
    if (!status) status = before.allocate(ex, rows * blocks + 1);
    if (!status) break;
    if (status != PETSC_ERR_MEM || rows == 1) PetscFunctionReturn(status);
    bits.release();
  }
  for (std::int64_t first = 0; first < n; first += rows) {
    const Slice slice{row + first, std::min(rows, n - first), blocks, bits.data(), before.data()};
    PetscCall(memory_zero(ex, bits.data(), bits.bytes()));
    PetscCall(set_bits(ex, in, slice));
    PetscCall(count_bits(ex, slice));
    PetscCall(use(slice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::spgemm
