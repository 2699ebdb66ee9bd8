// Rows in which own columns and ghosts have one numbering: some ghosts first, then the own columns, then the other ghosts. Made of two
// blocks, and split into two again. Patterns are made once; values are filled in as often as wanted.
#pragma once
#include "base/array.hpp"

#include <vector>

namespace amgkit
{
// Two blocks of a rank's rows. In the merged numbering diag's column j is before + j, offd's column k is column[k], ascending; the first
// ghosts_before of them are below before, the others follow diag's. column = nullptr: all follow, without a gap.
struct BlockRows {
  CsrView<double> diag, offd;
  int before = 0, ghosts_before = 0;
  const int *column = nullptr;
};
// M's rows: those of top, then those of bottom, which has M's columns. Waits.
template <class Ex> PetscErrorCode stack_rows(Ex &, const BlockRows &top, CsrView<double> bottom, int cols, Csr<double, Ex> &M);
// M's values anew, for other values on the same patterns. Neither waits nor allocates.
template <class Ex> PetscErrorCode stack_values(Ex &, const BlockRows &top, CsrView<double> bottom, Csr<double, Ex> &M);

// Rows of a merged numbering; ghost[g]: where its ghost g goes among the columns of a block of ghosts, ascending; nullptr: to column g.
struct MergedRows {
  CsrView<double> M;
  int before = 0;
  const int *ghost = nullptr;
};
// Row t of the chosen ones is row row[t] of first, or row -1 - row[t] of second where row[t] < 0; row = nullptr: row t of first.
struct ChosenRows {
  int rows = 0, own = 0; // own: columns
  MergedRows first, second;
  const int *row = nullptr;
};
// diag: the own columns, from 0 on; offd: the ghosts, of which there are so many. Waits.
template <class Ex> PetscErrorCode split_rows(Ex &, const ChosenRows &, int ghosts, Csr<double, Ex> &diag, Csr<double, Ex> &offd);
// Their values anew. Reads no ghost[]. Neither waits nor allocates.
template <class Ex> PetscErrorCode split_values(Ex &, const ChosenRows &, Csr<double, Ex> &diag, Csr<double, Ex> &offd);

// Renumbers A's columns, leaving out those that have no entry. kept: the old numbers of the others, ascending.
template <class Ex> PetscErrorCode drop_empty_columns(Ex &, Csr<double, Ex> &A, std::vector<int> &kept);

// S = [I B], where B is made of the rows row[0] < row[1] < ... of A, all that have entries.
template <class Ex> PetscErrorCode identity_and_rows(Ex &, CsrView<double> A, const Array<int, Ex> &row, Csr<double, Ex> &S);
// choice[i] <- i for 0 <= i < n, but -1 - t for i = row[t]
template <class Ex> PetscErrorCode choose_rows(Ex &, int n, const Array<int, Ex> &row, Array<int, Ex> &choice);
} // namespace amgkit
