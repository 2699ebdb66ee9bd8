// A rank's rows and those it has got from others as one matrix, rows and columns in the order of their global indices. Sums along its
// rows, and over them in a product, are then added in the same order on any number of ranks.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// Chosen entries of a block, ptr and at as in Selection; ptr = nullptr: the whole block.
struct BlockPart {
  CsrView<double> block;
  const int *ptr = nullptr, *at = nullptr;
};

struct StackedRows {
  BlockPart diag, offd;
  // diag's column j is column first + j of the result, offd's column k is column_of_ghost[k], ascending, below first for the first
  // ghosts_before of them.
  int cols = 0, first = 0, ghosts_before = 0;
  const int *column_of_ghost = nullptr;
  CsrView<double> others; // other ranks' rows, their columns those of the result
  int rows_before = 0;    // so many of them come before this rank's
};

// Pattern and values of the stack. Waits.
template <class Ex> PetscErrorCode stack_rows(Ex &, const StackedRows &, Csr<double, Ex> &M);
// The values anew. Neither waits nor allocates.
template <class Ex> PetscErrorCode stack_values(Ex &, const StackedRows &, Csr<double, Ex> &M);
// all[r] <- own[i] or others[g], the row that r stands for
template <class Ex>
PetscErrorCode stack_vector(Ex &, int own_rows, const double *own, int other_rows, const double *others, int rows_before, double *all);
} // namespace amgkit
