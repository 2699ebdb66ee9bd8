// This process's rows of the user's matrix: on the host, or as PETSc has them in a space's memory.
#pragma once
#include "dist/mat_view.hpp"

#include <array>
#include <vector>

namespace amgkit
{
// Host and device access to a sequential block's memory, in PETSc's index type. Row and column indices need no release: they stay as long
// as the pattern does.
struct RawArrays {
  const PetscInt *ptr = nullptr, *col = nullptr;
  const PetscScalar *val = nullptr;
};
PetscErrorCode pattern_on_host(Mat block, RawArrays &); // ptr and col
PetscErrorCode raw_access(Host &, Mat block, RawArrays &);
PetscErrorCode raw_access(Cuda &, Mat block, RawArrays &);
// The same without ptr. Of a block most of whose rows are empty PETSc keeps the begins of the other rows on the GPU; to ask for all makes
// it copy them from the host.
PetscErrorCode raw_entries(Cuda &, Mat block, RawArrays &);
// The row of each entry, ascending, from the begins of the rows on the host. Passes over many rows without entries at once.
std::vector<std::uint32_t> rows_of_entries(const PetscInt *ptr, PetscInt rows);
PetscErrorCode raw_release(Host &, Mat block, const PetscScalar **val);
PetscErrorCode raw_release(Cuda &, Mat block, const PetscScalar **val);

class UserRows {
public:
  // Local: the pattern; and, besides, the values, which PETSc then brings to the host.
  PetscErrorCode open_pattern(Mat A)
  {
    PetscFunctionBegin;
    PetscCall(get_blocks(A, &blocks_[0].mat, &blocks_[1].mat, &ghosts_));
    PetscCall(MatGetOwnershipRange(A, &first_, &last_));
    for (Block &block : blocks_) {
      RawArrays raw;
      if (!block.mat) continue;
      PetscCall(pattern_on_host(block.mat, raw)); // stays as long as the pattern
      block.ptr = raw.ptr;
      block.col = raw.col;
    }
    if (blocks_[1].mat) PetscCall(MatGetLocalSize(blocks_[1].mat, nullptr, &ghost_count_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode open_values()
  {
    PetscFunctionBegin;
    for (Block &block : blocks_) {
      if (block.mat) PetscCall(MatSeqAIJGetArrayRead(block.mat, &block.val));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode open(Mat A)
  {
    PetscFunctionBegin;
    PetscCall(open_pattern(A));
    PetscCall(open_values());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close()
  {
    PetscFunctionBegin;
    for (Block &block : blocks_) {
      if (block.val) PetscCall(MatSeqAIJRestoreArrayRead(block.mat, &block.val));
      block.val = nullptr;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt rows() const { return last_ - first_; }
  // Of the block of own columns, 0, or of ghosts, 1
  Mat block(int which) const { return blocks_[static_cast<std::size_t>(which)].mat; }
  PetscInt entries(int which) const { return block(which) ? blocks_[static_cast<std::size_t>(which)].ptr[rows()] : 0; }
  PetscInt first() const { return first_; }
  std::vector<PetscInt> ghosts() const { return {ghosts_, ghosts_ + ghost_count_}; } // of the second block, ascending
  // take(global column, value) for the entries of row i, by ascending columns
  template <class F> void visit(PetscInt i, F take) const
  {
    const auto &[own, others] = blocks_;
    PetscInt k = others.mat ? others.ptr[i] : 0;
    const PetscInt end = others.mat ? others.ptr[i + 1] : 0;
    for (; k < end && ghosts_[others.col[k]] < first_; k++) take(ghosts_[others.col[k]], others.val[k]);
    for (PetscInt d = own.ptr[i]; d < own.ptr[i + 1]; d++) take(first_ + own.col[d], own.val[d]);
    for (; k < end; k++) take(ghosts_[others.col[k]], others.val[k]);
  }

  // Entries one after the other in a block's arrays: 0, of own columns, or 1, of ghosts.
  struct Run {
    int block;
    PetscInt begin, end;
  };
  const PetscInt *columns(const Run &run) const { return blocks_[static_cast<std::size_t>(run.block)].col + run.begin; }
  const PetscScalar *values(const Run &run) const { return blocks_[static_cast<std::size_t>(run.block)].val + run.begin; }
  // How many entries row i has in own columns, if own says so, and in those ghosts g that have chosen[g].
  PetscInt count(PetscInt i, bool own, const std::vector<bool> &chosen) const
  {
    const auto &[of_own, others] = blocks_;
    PetscInt sum = own ? of_own.ptr[i + 1] - of_own.ptr[i] : 0;
    for (PetscInt k = others.mat ? others.ptr[i] : 0; others.mat && k < others.ptr[i + 1]; k++) sum += chosen[others.col[k]];
    return sum;
  }
  // How many entries the first rows have in all columns.
  PetscInt count_of_first(PetscInt count) const { return blocks_[0].ptr[count] + (blocks_[1].mat ? blocks_[1].ptr[count] : 0); }
  // take(run) for these entries, by rows and then by ascending columns, in runs as long as can be
  template <class F> void visit_runs(bool own, const std::vector<bool> &chosen, F take) const
  {
    const auto &[of_own, others] = blocks_;
    Run run = {0, 0, 0};
    const auto add = [&](int block, PetscInt begin, PetscInt end) {
      if (begin == end) return;
      if (block == run.block && begin == run.end) {
        run.end = end;
        return;
      }
      if (run.begin < run.end) take(run);
      run = {block, begin, end};
    };
    for (PetscInt i = 0; i < rows(); i++) {
      const PetscInt before = i;
      while (i < rows() && (!others.mat || others.ptr[i] == others.ptr[i + 1])) i++; // most rows have no ghosts
      if (own) add(0, of_own.ptr[before], of_own.ptr[i]);
      if (i == rows()) break;
      PetscInt k = others.ptr[i];
      for (; k < others.ptr[i + 1] && ghosts_[others.col[k]] < first_; k++) add(1, k, chosen[others.col[k]] ? k + 1 : k);
      if (own) add(0, of_own.ptr[i], of_own.ptr[i + 1]);
      for (; k < others.ptr[i + 1]; k++) add(1, k, chosen[others.col[k]] ? k + 1 : k);
    }
    if (run.begin < run.end) take(run);
  }

private:
  struct Block {
    Mat mat = nullptr;
    const PetscInt *ptr = nullptr, *col = nullptr;
    const PetscScalar *val = nullptr;
  };
  std::array<Block, 2> blocks_;
  const PetscInt *ghosts_ = nullptr;
  PetscInt first_ = 0, last_ = 0, ghost_count_ = 0;
};

// Local: whether MatMult() is that of compressed rows on a host: not so of types that are derived from MATAIJ for the sake of another
// product, nor where the user has replaced MATOP_MULT.
PetscErrorCode multiplies_by_rows(Mat A, bool *by_rows);
} // namespace amgkit
