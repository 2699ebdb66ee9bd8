// Rows of a pair of blocks cut into slices, each a pair of its own: for products that are made a slice after the other, so that what
// belongs to their rows is there for one slice at a time.
#pragma once
#include "sparse/spgemm/row_slices.hpp"

#include <vector>

namespace amgkit
{
// Rows of a matrix in two blocks, whose entries bear marks; nullptr: none. Row i is the matrix's row first + i.
struct MarkedRows {
  CsrView<double> diag, offd;
  const unsigned char *mark = nullptr, *ghost_mark = nullptr;
  int first = 0;
};
// Where a slice begins: its first row, and its first entry in each block.
struct RowCut {
  int row = 0, diag = 0, offd = 0;
};

// cuts: of so many slices with about equally many of diag's entries, some perhaps without rows; and the end. Waits.
template <class Ex> PetscErrorCode cut_rows(Ex &, const MarkedRows &, int slices, std::vector<RowCut> &cuts);
// How many of A's entries have these bits in their marks, all where mark is nullptr, and terms in their product with B, whose row
// before + j belongs to A's column j. Waits.
template <class Ex>
PetscErrorCode count_terms(Ex &, CsrView<double> A, const unsigned char *mark, unsigned char bits, CsrView<double> B, int before,
                           std::int64_t *terms);

// The rows between two cuts. ptr, ghost_ptr: their memory.
template <class Ex>
PetscErrorCode slice_rows(Ex &, const MarkedRows &, const RowCut &begin, const RowCut &end, Array<int, Ex> &ptr, Array<int, Ex> &ghost_ptr,
                          MarkedRows &slice);
// whole: the rows of all parts, which are used up; without values if these have none. Columns are those of the parts.
template <class Ex> PetscErrorCode join_rows(Ex &, std::vector<Csr<double, Ex>> &parts, Csr<double, Ex> &whole);
} // namespace amgkit
