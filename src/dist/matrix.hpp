// A square matrix distributed by rows, as every level has one: its block of own columns, its block of ghost columns, and the
// halo between ranks.
#pragma once
#include "base/array.hpp"
#include "dist/ghost_numbers.hpp"
#include "dist/halo.hpp"
#include "sparse/formats/stored_matrix.hpp"
#include "sparse/rows/ghosted_rows.hpp"

#include <vector>

namespace amgkit
{
// Collective: rank r's n things are range[r] <= i < range[r + 1] among those of all ranks.
PetscErrorCode number_over_ranks(MPI_Comm comm, int n, RankRanges &range);

// The block of own columns as compressed rows. Its size is always known; its rows are read as a CsrView, and cannot be while they are
// folded, that is, while DistMatrix::stored alone has them: own_rows() gives them whatever holds them.
class OwnBlock {
public:
  int rows = 0, cols = 0;
  std::int64_t nnz = 0;

  OwnBlock() = default;
  OwnBlock &operator=(const CsrView<double> &view)
  {
    rows = view.rows;
    cols = view.cols;
    nnz = view.nnz;
    view_ = view;
    return *this;
  }
  operator CsrView<double>() const { return view(); }
  CsrView<double> view() const
  {
    PetscCheckAbort(!folded(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "These rows are stored in the cycle's format alone");
    return view_;
  }
  const int *row_begins() const { return view_.ptr; }
  bool folded() const { return nnz > 0 && !view_.col; }
  // Its columns and values have been freed.
  void forget_rows() { view_.col = nullptr, view_.val = nullptr; }
  // For who reads them only where nothing else is stored.
  const CsrView<double> &perhaps_folded() const { return view_; }

private:
  CsrView<double> view_;
};

// Coarse matrices that are large beside the finest one are folded while only the cycle needs them: kept in stored alone, twice as compact.
template <class Ex> struct DistMatrix {
  MPI_Comm comm = MPI_COMM_NULL;
  int rows = 0;         // of this rank
  RankRanges range;     // rank r owns global rows range[r] <= i < range[r + 1]
  OwnBlock diag;        // of own_diag, or of somebody else's memory
  CsrView<double> offd; // of own_offd, or of somebody else's memory
  Csr<double, Ex> own_diag, own_offd;
  StoredMatrix<Ex> stored;      // diag as the cycle reads it
  std::vector<PetscInt> ghosts; // global index of offd's columns, ascending
  bool may_fold = false;        // whether stored can give diag's rows back, which then are there only between unfold() and fold()
  Array<int, Ex> boundary;      // rows with entries in offd
  Halo<Ex> halo;

  int ghosts_before() const { return amgkit::ghosts_before(ghosts, range.first()); } // own columns
  PetscInt global_rows() const { return range.empty() ? 0 : range.back(); }
  std::size_t bytes() const { return own_diag.bytes() + own_offd.bytes() + stored.bytes() + boundary.bytes() + halo.bytes(); }

  // Collective: range from the numbers of rows.
  PetscErrorCode set_rows(MPI_Comm comm, int rows);
  // Local: boundary and the halo's buffers, once diag, offd and halo are set.
  PetscErrorCode allocate(Ex &);
  // Collective, once rows, own blocks and ghosts are set: the rest of a matrix that has its own memory.
  PetscErrorCode complete(Ex &);
  // Local: stored, with such blocks where they fit; the first call alone does anything. compact: diag is folded from here on but
  // between unfold() and fold(), if stored can give its rows back.
  PetscErrorCode store(Ex &, Storage, BlockForm, bool compact);
  // Local: the same, where stored.look_ahead() says that it pays. If not, what was found out stays for store(), which comes later.
  PetscErrorCode store_ahead(Ex &, Storage, BlockForm);
  // Local: stored takes new values of the same pattern; diag is not folded.
  PetscErrorCode store_values(Ex &ex, Storage storage) { return stored.refresh(ex, diag, storage); }
  // Local, after that: diag is folded again if it was before unfold().
  void fold();
  // Local: own_diag's columns and room for its values, to be set, where it is folded.
  PetscErrorCode unfold(Ex &);
  // Local: diag, or what stored has of it, in room; values as the cycle reads them.
  PetscErrorCode own_rows(Ex &, Csr<double, Ex> &room, CsrView<double> &rows) const;
  // Collective; V is float or double. r = b - A x. r must not be x, but may be b.
  template <class V> PetscErrorCode residual(Ex &, const V *b, const V *x, V *r);
  // y = A x. y must not be x. sums: nothing, or ProductSums, of this rank's rows.
  template <class V, class... S> PetscErrorCode multiply(Ex &, const V *x, V *y, const S &...sums);
  // The same with A's own entries, from what is stored where it has them, else from diag, which is not folded; and always from diag.
  template <class V, class... S> PetscErrorCode multiply_exactly(Ex &, const V *x, V *y, const S &...sums);
  template <class V, class... S> PetscErrorCode multiply_rows(Ex &, const V *x, V *y, const S &...sums);
  // The same with A's own entries to 40 bits, after stored.keep_rests().
  template <class... S> PetscErrorCode multiply_long(Ex &, const float *x, float *y, const S &...sums);
  // y -= (the couplings to other ranks) x
  template <class V> PetscErrorCode subtract_others(Ex &, const V *x, V *y);
  bool halo_active() const { return halo.active(); }
  CsrView<double> own_block() const { return diag; } // not folded
  // y = x + momentum (x - previous) + factor D (b - A x), as relax() in sparse/formats/spmv.hpp. y must not be x.
  template <class D, class V> PetscErrorCode relax(Ex &, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);

private:
  // y = A x, by f() or f(sums) for diag
  template <class V, class F, class... S> PetscErrorCode multiply_with(Ex &, const V *x, V *y, F f, const S &...sums);
  bool is_stored_ = false;
};

// One rank's rows of a matrix, square or not: diag's columns are the global ones from first on, offd's column k is ghosts[k].
struct DistRows {
  CsrView<double> diag, offd;
  PetscInt first = 0;
  const std::vector<PetscInt> *ghosts = nullptr; // ascending

  BlockRows blocks() const { return {{diag}, {offd}, ghosts_before(*ghosts, first)}; }
};
template <class Ex> DistRows rows_of(const DistMatrix<Ex> &A) { return {A.diag, A.offd, A.range.first(), &A.ghosts}; }
} // namespace amgkit
