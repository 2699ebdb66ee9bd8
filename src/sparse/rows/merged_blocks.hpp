// The rows of a sequential block of own columns and of one of ghosts as rows of one matrix, or of two.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// Which entries of the two blocks go to the rows of one matrix.
struct MergedBlocks {
  int rows = 0;
  const int *own = nullptr;    // the own block's row pointer; nullptr: its entries go elsewhere
  const int *ghosts = nullptr; // that of the ghosts' block
  const int *ghost = nullptr;  // of an entry of that block
  const int *number = nullptr; // of a ghost there; -1: its entries go elsewhere. In the order of the ghosts
  int before = 0;              // so many ghosts come before all own columns
  const int *at = nullptr;     // at[i]: place of row i's first entry there
  double average = 0;          // entries a row
};

// col[place] <- column + shift of own entries, and the numbers of ghosts
template <class Ex> PetscErrorCode merge_columns(Ex &, const MergedBlocks &, const PetscInt *own, int shift, int *col);
// val[place] <- values of both
template <class Ex> PetscErrorCode merge_values(Ex &, const MergedBlocks &, const double *own, const double *ghosts, double *val);
} // namespace amgkit
