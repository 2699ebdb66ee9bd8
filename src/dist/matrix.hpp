// A square matrix distributed by rows, as every level has one: its block of own columns, its block of ghost columns, and the
// halo between ranks.
#pragma once
#include "base/array.hpp"
#include "dist/ghost_numbers.hpp"
#include "dist/halo.hpp"
#include "sparse/merged_rows.hpp"
#include "sparse/stored_matrix.hpp"

#include <vector>

namespace amgkit
{
// Collective: rank r's n things are range[r] <= i < range[r + 1] among those of all ranks.
PetscErrorCode number_over_ranks(MPI_Comm comm, int n, std::vector<PetscInt> &range);

// own_diag of a level that is as large as the finest one is folded: kept in stored alone, twice as compact, while only the cycle needs it.
template <class Ex> struct DistMatrix {
  MPI_Comm comm = MPI_COMM_NULL;
  int rows = 0;                // of this rank
  std::vector<PetscInt> range; // rank r owns global rows range[r] <= i < range[r + 1]
  CsrView<double> diag, offd;  // of own_diag and own_offd, or of somebody else's memory; diag without columns and values: in stored alone
  Csr<double, Ex> own_diag, own_offd;
  StoredMatrix<Ex> stored;      // diag as the cycle reads it
  std::vector<PetscInt> ghosts; // global index of offd's columns, ascending
  bool folds = false;           // diag is folded when nobody but the cycle needs it
  Array<int, Ex> boundary;      // rows with entries in offd
  Halo<Ex> halo;

  PetscInt global_rows() const { return range.empty() ? 0 : range.back(); }
  PetscInt first(int rank) const { return range[static_cast<std::size_t>(rank)]; }
  std::size_t bytes() const { return own_diag.bytes() + own_offd.bytes() + stored.bytes() + boundary.bytes() + halo.bytes(); }

  // Collective: range from the numbers of rows.
  PetscErrorCode set_rows(MPI_Comm comm, int rows);
  // Local: boundary and the halo's buffers, once diag, offd and halo are set.
  PetscErrorCode allocate(Ex &);
  // Collective, once rows, own blocks and ghosts are set: the rest of a matrix that has its own memory.
  PetscErrorCode complete(Ex &);
  // Local: stored, with blocks of this size where they fit; fold: and diag folded, if stored can give its rows back.
  PetscErrorCode store(Ex &, Storage, int block, bool fold);
  // Local: stored takes new values of the same pattern; diag is not folded.
  PetscErrorCode store_values(Ex &ex, Storage storage) { return stored.refresh(ex, diag, storage); }
  // Local, after that: diag is folded again if it was before unfold().
  void fold();
  bool folded() const { return diag.nnz > 0 && !diag.col; }
  // Local: own_diag's columns and room for its values, to be set, where it is folded.
  PetscErrorCode unfold(Ex &);
  // Local: diag, or what stored has of it, in room; values as the cycle reads them.
  PetscErrorCode compressed_rows(Ex &, Csr<double, Ex> &room, CsrView<double> &rows) const;
  // Collective; V is float or double. r = b - A x. r must not be x, but may be b.
  template <class V> PetscErrorCode residual(Ex &, const V *b, const V *x, V *r);
  // y = A x. y must not be x.
  template <class V> PetscErrorCode multiply(Ex &, const V *x, V *y);
  // y = x + momentum (x - previous) + factor D (b - A x), as relax() in sparse/spmv.hpp. y must not be x.
  template <class D, class V> PetscErrorCode relax(Ex &, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
};

// One rank's rows of a matrix, square or not: diag's columns are the global ones from first on, offd's column k is ghosts[k].
struct DistRows {
  CsrView<double> diag, offd;
  PetscInt first = 0;
  const std::vector<PetscInt> *ghosts = nullptr; // ascending

  BlockRows blocks() const { return {{diag}, {offd}, ghosts_before(*ghosts, first)}; }
};
template <class Ex> DistRows rows_for_others(const DistMatrix<Ex> &A, int rank) { return {A.diag, A.offd, A.first(rank), &A.ghosts}; }
} // namespace amgkit
