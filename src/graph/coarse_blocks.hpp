// Matrices whose columns are the C points of all ranks: how they come from a level's matrix, and what of a product becomes one.
#pragma once
#include "dist/prolongator.hpp"
#include "graph/pmis.hpp"
#include "sparse/rows/selection.hpp"
#include "sparse/rows/truncate.hpp"
#include "sparse/spgemm/sliced_blocks.hpp"

namespace amgkit
{
// A's block of ghost columns, with A's rows even where it is none.
template <class Ex> CsrView<double> ghost_block(const DistMatrix<Ex> &A)
{
  CsrView<double> block = A.offd;
  block.rows = A.rows;
  return block;
}

// All of A's rows, with marks of its entries.
template <class Ex>
MarkedRows marked_rows(const DistMatrix<Ex> &A, const Array<unsigned char, Ex> &mark, const Array<unsigned char, Ex> &ghost_mark)
{
  return {A.diag, ghost_block(A), mark.data(), ghost_mark.data()};
}

// Which entries of a pair of blocks are meant.
template <class Ex> struct BlockSelection {
  Selection<Ex> diag, offd;

  // Those with these bits in their marks. Waits.
  PetscErrorCode create(Ex &, const MarkedRows &, unsigned char bits);
  BlockRows of(const MarkedRows &A, int ghosts_before) const
  {
    return {{A.diag, diag.ptr.data(), diag.at.data(), diag.size()}, {A.offd, offd.ptr.data(), offd.at.data(), offd.size()}, ghosts_before};
  }
  std::size_t bytes() const { return diag.bytes() + offd.bytes(); }
};

// The selection as a matrix with A's columns, counted from first; values allocated, not set, if there shall be any.
template <class Ex>
PetscErrorCode selected_pattern(Ex &, const CsrView<double> &A, const Selection<Ex> &, Csr<double, Ex> &M, int first = 0,
                                bool with_values = true);
// Entries of A in columns of C points as rows of their own; values allocated, not set. Local.
template <class Ex>
PetscErrorCode coarse_columns(Ex &, const DistMatrix<Ex> &A, const BlockSelection<Ex> &, const CoarsePoints<Ex> &, PetscInt first,
                              CoarseBlocks<Ex> &B);

// Columns of a product in the order of their global numbers: `own` of this rank stand behind `before` ghosts.
struct ProductColumns {
  int before = 0, own = 0;
  PetscInt first = 0; // global number of the own ones
  const std::vector<PetscInt> *ghosts = nullptr;
};
// The pattern of P's blocks: the entries of W with keep[k] = 1, chosen on return. P is not complete: see complete_blocks(). Local; waits.
template <class Ex>
PetscErrorCode split_product(Ex &, CsrView<double> W, const unsigned char *keep, const ProductColumns &, BlockSelection<Ex> &chosen,
                             CoarseBlocks<Ex> &P);
// Leaves out the columns of offd, all the ghosts of the product, that are not in use. Local; waits.
template <class Ex> PetscErrorCode complete_blocks(Ex &, const ProductColumns &, CoarseBlocks<Ex> &P);
// P = the product W, truncated, and not complete yet; and the same entries of it when W's values have changed.
template <class Ex> class TruncatedProduct {
public:
  // Local; waits.
  PetscErrorCode create(Ex &, CsrView<double> W, const ProductColumns &, const Truncation &, CoarseBlocks<Ex> &P);
  // Local. Neither waits nor allocates.
  PetscErrorCode values(Ex &, CsrView<double> W, CoarseBlocks<Ex> &P);
  std::size_t bytes() const { return keep_.bytes() + chosen_.bytes() + scale_.bytes(); }

private:
  Array<unsigned char, Ex> keep_; // of W's entries
  BlockSelection<Ex> chosen_;
  Array<double, Ex> scale_; // of W's rows
};

// Leaves out rows that are empty: M's row number[i] is what was row i, n rows with number[i] = -1 where they are left out. Local.
template <class Ex> PetscErrorCode leave_out_rows(Ex &, int n, const int *number, int count, Csr<double, Ex> &M);
} // namespace amgkit
