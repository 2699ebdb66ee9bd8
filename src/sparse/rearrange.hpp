// Rows on their way from one rank to another: the two blocks of columns become one with global columns, arrive in pieces, and become two
// blocks again.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// M's row i holds row i of diag, its columns raised by first, and row i of offd, column j as ghost[j]; all columns ascend. ghost ascends
// and leaves out first, ..., first + diag.cols - 1.
template <class Ex>
PetscErrorCode merge_columns(Ex &, CsrView<double> diag, CsrView<double> offd, int first, const int *ghost, Csr<double, Ex> &M);

// length[i] = entries of row i
template <class Ex> PetscErrorCode row_lengths(Ex &, CsrView<double> A, int *length);

// Rows that arrived from several ranks, in pieces of equal room: piece q has its rows' lengths from most_rows q on, its entries from
// most_entries q on. Row i of the whole is row slot[i] % most_rows of piece slot[i] / most_rows; pieces follow each other.
struct Pieces {
  int count = 0, most_rows = 0, most_entries = 0;
  const int *length = nullptr, *col = nullptr;
  const double *val = nullptr;
};
// first_row[q]: the whole's row that piece q begins with.
template <class Ex>
PetscErrorCode join_pieces(Ex &, const Pieces &, int rows, const int *slot, const int *first_row, Csr<double, Ex> &whole);

// The inverse of merge_columns for the rank that owns columns first <= j < first + own: diag's columns count from first, offd's stay
// global.
template <class Ex> PetscErrorCode split_columns(Ex &, CsrView<double> M, int first, int own, Csr<double, Ex> &diag, Csr<double, Ex> &offd);

// col[k] <- the position of col[k] in the ascending list
template <class Ex> PetscErrorCode number_columns(Ex &, std::int64_t n, const int *list, int size, int *col);
} // namespace amgkit
