// The coarse matrix R A P of R and P with any entries: sparse matrix products.
//
// Every rank fetches P's rows of A's ghosts, multiplies its rows of A with them and its own, by ascending global indices, and the result
// with its columns of R: those of its own coarse points, and those of others' points. The rows of the latter go to their owners.
// These add what comes to their own row, by ascending ranks, as a product too: of [I E], E the zeros and ones that say what comes for
// which row, with all rows stacked. So every sum has a fixed order, and new values take the same way on the patterns that are there.
//
// A P is the largest of these matrices, and stays no longer than it takes to multiply it: a solver that sets up once never holds it beside
// the rest. The first time that values change its pattern is found again, and stays, 4 bytes an entry, where a sixteenth of what is free
// holds it: at 7-point 256³ it is a third of the time that new values take, and 0.8 GB. So do the places of its products, a byte each, and
// those of R's, for each as much memory at most, see spgemm_note_places(). Of A P's values there are
// SpgemmOptions::window_bytes at a time, see windowed_product.hpp, where other ranks' points need few of its rows and its pattern is not
// that of blocks. Back ends other than native keep what they made of it, and it with that.
//
// Where A has ghosts, it is copied with these among its own columns. Where A is large and few of its rows have ghosts, only those rows are:
// see boundary_product.hpp.
//
// Where even A P's pattern is more than SpgemmOptions::product_bytes, A P is formed in slices, see sliced_product.hpp, whatever the back
// end, for the rows of own coarse points and for those of others' apart. The bits are the same.
#pragma once
#include "dist/boundary_product.hpp"
#include "dist/gathered_rows.hpp"
#include "dist/prolongator.hpp"
#include "sparse/spgemm/sliced_product.hpp"
#include "sparse/spgemm/windowed_product.hpp"

namespace amgkit
{
enum class ProductForm {
  two_products, // A P, then R (A P)
  at_once       // R A P row by row; SpgemmKind::native alone
};

// P, and R by its transpose Rᵀ, whose to_own and to_ghosts are R's rows. Where R = Pᵀ, both are the same object.
template <class Ex> struct TransferOperators {
  const Prolongator<Ex> &P, &Rt;
};

template <class Ex> class GalerkinProduct {
public:
  // Collective, once: coarse = R A P, complete but for what the cycle stores. Its pattern is that of the product, entries that are 0 by
  // chance included. ops must be created on A's communicator; A, P and R must stay where they are. The options' blocks are those of A P.
  PetscErrorCode create(Ex &, ProductForm, const SpgemmOptions &, DistMatrix<Ex> &A, const TransferOperators<Ex> &ops,
                        DistMatrix<Ex> &coarse);
  // Collective: coarse's values anew, for other values of A on the same pattern; the same bits as create() gives. Allocates A P's values,
  // and the first time its pattern, or a slice of both, the places of products, and what a back end other than native needs; where the
  // boundary is apart, its rows of A.
  PetscErrorCode refresh(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse);
  // Collective: takes P's new values on the same pattern, R's included, which refresh() then uses.
  PetscErrorCode update_prolongator(Ex &, const Prolongator<Ex> &P);
  // Local, after create(): false where the options promise blocks of A, and one that this rank has is not complete, so that its products
  // go entry by entry, in about twice the time. Not known, and true, where A P is formed in slices or by another back end.
  bool in_blocks() const { return in_blocks_; }
  std::size_t bytes() const;

private:
  PetscErrorCode connect(Ex &, DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, const LocalWork &after);
  PetscErrorCode choose_algorithm(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops);
  PetscErrorCode multiply_first(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own);
  PetscErrorCode multiply(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own);
  PetscErrorCode prepare_AP(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops);
  PetscErrorCode multiply_AP(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own);
  PetscErrorCode forget_AP(Ex &, bool again);
  PetscErrorCode note_places(Ex &, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, const Csr<double, Ex> &own);
  PetscErrorCode send_rows(Ex &, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse);
  PetscErrorCode add_arrivals(Ex &, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse);
  PetscErrorCode add_arrivals_again(Ex &, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse);

  // The factors on this rank, A's columns and P's rows in the order of their global indices; as they are where there is no ghost. Where the
  // boundary is apart, own columns and rows alone; the rows' ptr need not begin with 0 then.
  CsrView<double> left(const DistMatrix<Ex> &A) const { return A_.ptr.size() > 0 ? A_.view() : A.diag.view(); }
  CsrView<double> right(const Prolongator<Ex> &P) const
  {
    const DistRows own = P.rows();
    CsrView<double> rows = rows_of_P_.rows(own);
    if (!boundary_apart_) return rows;
    rows.rows = own.diag.rows;
    rows.nnz = own.diag.nnz + own.offd.nnz;
    rows.ptr += ghosts_before_;
    return rows;
  }
  // A slice takes as much of R's entries, whichever part they are in.
  std::int64_t slices_of(const CsrView<double> &part_of_R, const TransferOperators<Ex> &ops) const
  {
    const std::int64_t entries = ops.Rt.to_own.col.size() + ops.Rt.to_ghosts.col.size();
    return entries > 0 ? (slices_ * part_of_R.nnz + entries - 1) / entries : 1;
  }
  // Of R times A P, whose blocks of rows are P's runs.
  SpgemmOptions options_of_R() const
  {
    SpgemmOptions options = options_;
    options.rows = options.run;
    return options;
  }
  // The rows of own coarse points before anything is added: coarse's where no rank has ghosts.
  Csr<double, Ex> &sums_of_own(DistMatrix<Ex> &coarse) { return alone_ ? coarse.own_diag : own_; }
  BlockRows blocks_of(const DistMatrix<Ex> &A) const { return {{A.diag}, {A.offd}, ghosts_before_}; }
  // Of others_, of own_, and of what has become of own_.
  ChosenRows sent_rows(const TransferOperators<Ex> &ops) const
  {
    return {others_.rows, ops.Rt.diag.cols, {others_.view(), rows_of_P_.before()}};
  }
  ChosenRows receiving_rows(const TransferOperators<Ex> &ops) const
  {
    return {static_cast<int>(ops.Rt.receiving.size()), ops.Rt.diag.cols, {own_.view(), rows_of_P_.before()}, {}, ops.Rt.receiving.data()};
  }
  ChosenRows coarse_rows(const TransferOperators<Ex> &ops, const int *ghost) const
  {
    const GhostedRows alone = {own_.view(), rows_of_P_.before(), ghost}, with_others = {sums_.view(), arrived_.before()};
    return {own_.rows, ops.Rt.diag.cols, alone, with_others, choice_.data()};
  }
  DistRows sent(const TransferOperators<Ex> &ops) const
  {
    return {sent_diag_.view(), sent_offd_.view(), ops.Rt.first, &rows_of_P_.ghosts()};
  }
  DistRows receiving(const TransferOperators<Ex> &ops) const
  {
    return {receiving_diag_.view(), receiving_offd_.view(), ops.Rt.first, &rows_of_P_.ghosts()};
  }

  ProductForm form_ = ProductForm::two_products;
  SpgemmOptions options_;
  bool in_blocks_ = true;
  bool alone_ = true;                     // no rank has ghosts of A or P
  int ghosts_before_ = 0;                 // of A's ghosts
  GatheredRows<Ex> rows_of_P_;            // its numbering is that of the products' columns
  Csr<double, Ex> A_, AP_, own_, others_; // others_: a row a ghost of P
  bool boundary_apart_ = false;           // boundary_ computes the rows with ghosts, and A_ is empty
  BoundaryProduct<Ex> boundary_;
  SpgemmPlan<Ex> plan_AP_, plan_own_, plan_others_;
  bool AP_has_values_ = false; // of the present A and P
  bool AP_stays_ = false;      // its pattern, and all of it with other back ends than native
  std::int64_t slices_ = 1;    // of A P; in several, there is no AP_, and the plans are these
  SlicedPlan<Ex> sliced_own_, sliced_others_;

  Csr<double, Ex> sent_diag_, sent_offd_; // others_
  Halo<Ex> back_;                         // its ghosts: the rows of others_ of all ranks that belong here
  GhostRows<Ex> arrived_;
  Csr<double, Ex> receiving_diag_, receiving_offd_; // own_'s rows to which something is added
  Csr<double, Ex> add_, summands_, sums_;           // sums_ = add_ summands_
  SpgemmPlan<Ex> plan_sums_;
  Array<int, Ex> choice_; // of each coarse row: from own_ or from sums_
};
} // namespace amgkit
