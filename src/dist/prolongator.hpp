// A prolongator P whose rows may have entries at other ranks' coarse points, and R = Pᵀ beside it.
#pragma once
#include "dist/ghost_rows.hpp"
#include "dist/matrix.hpp"
#include "sparse/rows/transpose.hpp"

namespace amgkit
{
// A rank's rows of a matrix whose columns are the coarse points of all ranks.
template <class Ex> struct CoarseBlocks {
  Csr<double, Ex> diag, offd;   // columns: the rank's own coarse points, counted from its first; ghosts
  PetscInt first = 0;           // global number of diag's first column
  std::vector<PetscInt> ghosts; // global numbers of offd's columns, other ranks' coarse points, ascending, each in use

  DistRows rows() const { return {diag.view(), offd.view(), first, &ghosts}; }
  std::size_t bytes() const { return diag.bytes() + offd.bytes(); }
};

// What R's rows of other ranks' points give travels the halo's way back, and the owners add it to their own sum, in a fixed order.
template <class Ex> struct Prolongator : CoarseBlocks<Ex> {
  // The blocks are set by the caller, but for first, and for offd where no row has entries at ghosts. On one rank offd.ptr is freed by
  // create().
  using CoarseBlocks<Ex>::diag, CoarseBlocks<Ex>::offd, CoarseBlocks<Ex>::first, CoarseBlocks<Ex>::ghosts;
  // To be set before create(), too: whether transpose_values() will be called, for which 4 bytes an entry are kept.
  bool values_change = false;
  TransposeBlocks blocks; // that its entries may come in
  // To be set before create(), too: whether weights shall be rounded to single precision, if they allow it, rows keeping their
  // sums, and be kept so between products. Pᵀ A P is then that of the rounded P.
  bool in_single = false;
  // With in_single: only the cycle's P and R are rounded, and Pᵀ A P is that of P as it was set, of which rows need not keep their sums.
  // Where values do not change, the rows then stay beside what the cycle reads.
  bool exact_product = false;

  MPI_Comm comm = MPI_COMM_NULL;
  RankRanges range;                  // rank r owns coarse points range[r] <= I < range[r + 1]
  Csr<double, Ex> to_own, to_ghosts; // R: a row an own coarse point; a row a ghost
  Halo<Ex> halo;                     // of the ghosts
  Csr<double, Ex> arrivals;          // ones: which of the values that come back belong to an own coarse point
  Array<int, Ex> receiving;          // the points for which any come, ascending
  Array<int, Ex> boundary;           // rows with entries in offd

  std::size_t bytes() const;
  // Collective: all but what the caller has set.
  PetscErrorCode create(Ex &, MPI_Comm comm);
  // Local: R's values anew, for other values of P on the same pattern; with values_change. P's are rounded if they are kept so.
  PetscErrorCode transpose_values(Ex &);
  // Local: folded, the rows of diag and to_own, or to_own's values, are kept in the cycle's format alone, where their values have been
  // rounded to single precision and it can give them back. What reads the rows themselves wants them unfolded. On a plain host all stays,
  // and is read by its blocks, if these are complete.
  PetscErrorCode fold(Ex &);
  PetscErrorCode unfold(Ex &);
  bool folded() const { return diag.col.size() < entries_; }
  // Local: diag, folded or not, in room where it is.
  PetscErrorCode whole_diag(Ex &, Csr<double, Ex> &room, CsrView<double> &out) const;
  // Local: whether what the cycle reads can be read in single precision.
  PetscErrorCode fits_single(Ex &, bool *fits) const;
  // Collective; V is float or double. x += P e
  template <class V> PetscErrorCode add_product(Ex &, const V *e, V *x);
  // b = Pᵀ r; and step, of b
  template <class V> PetscErrorCode multiply_transposed(Ex &, const V *r, V *b, const FirstStep<V> &step = {});

private:
  PetscErrorCode representable(Ex &, bool *all) const;
  PetscErrorCode round_values(Ex &);
  PetscErrorCode store_blocks(Ex &);
  bool keeps_rows() const { return exact_product && !values_change; }
  PetscErrorCode transpose_all(Ex &);

  bool rounded_ = false, stored_values_ = false; // whether what is stored has the values of now; on a plain host: was made
  std::int64_t entries_ = 0;                     // of diag
  StoredMatrix<Ex> stored_, stored_transposed_;  // diag and to_own as the cycle reads them, where values are rounded, or on a plain host
  Array<float, Ex> single_own_;                  // or to_own's values, where its rows are too few for stored_transposed_
  Array<int, Ex> from_diag_, from_offd_;         // P's entry behind each of R's, with values_change
};
} // namespace amgkit
