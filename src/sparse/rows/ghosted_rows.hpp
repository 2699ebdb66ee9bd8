// Rows in which own columns and ghosts have one numbering, by ascending global index: some ghosts first, then the own columns, then the
// other ghosts. They are made of two blocks, and split into two again. Sums along them, and over them in a product, are added in the same
// order on any number of ranks. Patterns are made once; values are filled in as often as wanted.
//
// The types of rows in two blocks, own columns and ghosts, here and elsewhere:
//   DistRows     a rank's rows of any matrix, ghosts by global numbers on the host      dist/matrix.hpp
//   SplitRows    the same for kernels, ghosts by global numbers in the space            rows/rearrange.hpp
//   BlockRows    rows of this rank and of others, to be stacked into one block          here
//   GhostedRows  rows of such a stacked block                                           here
//   ChosenRows   some of these, to be split into two blocks again                       here
//   MarkedRows   the same whose entries bear marks, and slices of them                  spgemm/sliced_blocks.hpp
#pragma once
#include "base/array.hpp"

#include <vector>

namespace amgkit
{
// Chosen entries of a block: ptr and at as in Selection, and how many there are; ptr = nullptr: the whole block.
struct BlockPart {
  CsrView<double> block;
  const int *ptr = nullptr, *at = nullptr;
  std::int64_t chosen = 0;

  std::int64_t entries() const { return ptr ? chosen : block.nnz; }
};
// A numbering of more columns than a pair of blocks has: diag's column j is before + j, offd's column g is ghost[g], ascending.
struct WiderNumbers {
  int cols = 0, before = 0;
  const int *ghost = nullptr;
};
// A rank's rows in two blocks, and those of other ranks around them.
struct BlockRows {
  BlockPart diag, offd;
  int ghosts_before = 0;       // so many of offd's columns stand before diag's
  WiderNumbers numbers = {};   // without cols: those of the blocks' columns alone
  CsrView<double> others = {}; // in these numbers
  int rows_before = 0;         // so many of others stand before the blocks' rows
};
// M's pattern and values. Allocates, and does not wait.
template <class Ex> PetscErrorCode stack_rows(Ex &, const BlockRows &, Csr<double, Ex> &M);
// M's values anew, for other values on the same patterns. Neither waits nor allocates.
template <class Ex> PetscErrorCode stack_values(Ex &, const BlockRows &, Csr<double, Ex> &M);
// all[r] <- own[i] or others[g], whichever row r stands for
template <class Ex>
PetscErrorCode stack_vector(Ex &, int own_rows, const double *own, int other_rows, const double *others, int rows_before, double *all);

// Rows of a merged numbering; ghost[g]: where its ghost g goes among the columns of a block of ghosts, ascending; nullptr: to column g.
struct GhostedRows {
  CsrView<double> M;
  int before = 0;
  const int *ghost = nullptr;
};
// Row t of the chosen ones is row row[t] of first, or row -1 - row[t] of second where row[t] < 0; row = nullptr: row t of first.
struct ChosenRows {
  int rows = 0, own = 0; // own: columns
  GhostedRows first, second = {};
  const int *row = nullptr;
};
// diag: the own columns, from 0 on; offd: the ghosts, of which there are so many. Waits.
template <class Ex> PetscErrorCode split_rows(Ex &, const ChosenRows &, int ghosts, Csr<double, Ex> &diag, Csr<double, Ex> &offd);
// Their values anew. Reads no ghost[]. Neither waits nor allocates.
template <class Ex> PetscErrorCode split_values(Ex &, const ChosenRows &, Csr<double, Ex> &diag, Csr<double, Ex> &offd);

// Renumbers A's columns, leaving out those that have no entry. kept: the old numbers of the others, ascending. Waits.
template <class Ex> PetscErrorCode drop_empty_columns(Ex &, Csr<double, Ex> &A, std::vector<int> &kept);

// S = [I B], where B is made of the rows row[0] < row[1] < ... of A, all that have entries.
template <class Ex> PetscErrorCode identity_and_rows(Ex &, CsrView<double> A, const Array<int, Ex> &row, Csr<double, Ex> &S);
// choice[i] <- i for 0 <= i < n, but -1 - t for i = row[t]
template <class Ex> PetscErrorCode choose_rows(Ex &, int n, const Array<int, Ex> &row, Array<int, Ex> &choice);
} // namespace amgkit
