#include "dist/prolongator.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/ghost_numbers.hpp"
#include "sparse/formats/sell.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/truncate.hpp"

namespace amgkit
{
template <class Ex> std::size_t Prolongator<Ex>::bytes() const
{
  return diag.bytes() + offd.bytes() + to_own.bytes() + to_ghosts.bytes() + halo.bytes() + arrivals.bytes() + receiving.bytes() +
         boundary.bytes() + from_diag_.bytes() + from_offd_.bytes() + stored_.bytes() + stored_transposed_.bytes() + single_own_.bytes();
}

namespace
{
CsrView<float> in_floats(const CsrView<double> &A, const float *val) { return {A.rows, A.cols, A.nnz, A.ptr, A.col, val}; }

// The rows of A go into what is stored, if that can give them back, and are freed, unless they are to be kept.
template <class Ex> PetscErrorCode fold_rows(Ex &ex, bool values_are_stored, bool keep, Csr<double, Ex> &A, StoredMatrix<Ex> &stored)
{
  PetscFunctionBegin;
  if (A.col.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (!stored.has_rows())
    PetscCall(stored.create(ex, A.view(), Storage::in_single, 1, keep ? nullptr : &A, SellForm::sorted));
  else if (!values_are_stored)
    PetscCall(stored.refresh(ex, A.view(), Storage::in_single));
  if (keep || !stored.has_rows()) PetscFunctionReturn(PETSC_SUCCESS);
  A.col.release();
  A.val.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether R is sliced: a thread takes two rows, and a GPU must be full of them. With fewer rows several threads share one.
template <class Ex> bool rows_suffice(const Csr<double, Ex> &R) { return !Ex::on_device || R.rows >= 1 << 18; }

// A's values in single precision, and back
template <class Ex> PetscErrorCode fold_values(Ex &ex, bool keep, Csr<double, Ex> &A, Array<float, Ex> &single)
{
  PetscFunctionBegin;
  if (A.val.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(single.allocate(ex, A.col.size()));
  PetscCall(convert(ex, A.col.size(), static_cast<const double *>(A.val.data()), single.data()));
  if (!keep) A.val.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> PetscErrorCode unfold_values(Ex &ex, Csr<double, Ex> &A, Array<float, Ex> &single)
{
  PetscFunctionBegin;
  if (A.val.size() == 0) {
    PetscCall(A.val.allocate(ex, A.col.size()));
    PetscCall(convert(ex, A.col.size(), static_cast<const float *>(single.data()), A.val.data()));
  }
  single.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x += Rᵀ e, on a plain host. P = Rᵀ has short rows, of lengths that a core does not foresee: with 7 points, the product by P's rows takes
// twice as long.
template <class V> void scatter_product(const CsrView<double> &R, const V *e, V *x)
{
  const int *const col = R.col;
  const double *const val = R.val;
  for (int J = 0; J < R.rows; J++) {
    const double e_J = e[J];
    for (int k = R.ptr[J]; k < R.ptr[J + 1]; k++) x[col[k]] = static_cast<V>(x[col[k]] + val[k] * e_J);
  }
}

// A's rows, so many entries of which are in what is stored, into to, which may be A.
template <class Ex>
PetscErrorCode unfold_rows(Ex &ex, std::int64_t entries, const Csr<double, Ex> &A, const StoredMatrix<Ex> &stored, Csr<double, Ex> &to)
{
  PetscFunctionBegin;
  PetscCall(allocate_each(ex, entries, to.col, to.val));
  PetscCall(stored.entries(ex, A.ptr.data(), to.col.data(), to.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// Local: whether all weights are representable in single precision
template <class Ex> PetscErrorCode Prolongator<Ex>::representable(Ex &ex, bool *all) const
{
  bool own, other;

  PetscFunctionBegin;
  PetscCall(representable_in_single(ex, diag.view(), &own));
  PetscCall(representable_in_single(ex, offd.view(), &other));
  *all = own && other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode Prolongator<Ex>::round_values(Ex &ex)
{
  PetscFunctionBegin;
  rounded_ = false;
  if (in_single) PetscCall(representable(ex, &rounded_));
  if (!rounded_ || exact_product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(round_rows(ex, {diag.view(), offd.view(), ghosts_before(ghosts, first), diag.val.data(), offd.val.data()}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On a plain host: the columns of blocks, which stay for other values.
template <class Ex> PetscErrorCode Prolongator<Ex>::store_blocks(Ex &ex)
{
  PetscFunctionBegin;
  if (stored_values_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(stored_.create(ex, diag.view(), Storage::in_double, BlockForm::rectangular(blocks.rows, blocks.cols)));
  PetscCall(stored_transposed_.create(ex, to_own.view(), Storage::in_double, BlockForm::rectangular(blocks.cols, blocks.rows)));
  stored_values_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::fold(Ex &ex)
{
  PetscFunctionBegin;
  if (!Ex::sliced_rows) PetscFunctionReturn(store_blocks(ex));
  if (!rounded_) {
    stored_ = {};
    stored_transposed_ = {};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(fold_rows(ex, stored_values_, keeps_rows(), diag, stored_));
  PetscCall(rows_suffice(to_own) ? fold_rows(ex, stored_values_, keeps_rows(), to_own, stored_transposed_)
                                 : fold_values(ex, keeps_rows(), to_own, single_own_));
  stored_values_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::unfold(Ex &ex)
{
  PetscFunctionBegin;
  if (single_own_.size() > 0) PetscCall(unfold_values(ex, to_own, single_own_));
  if (to_own.col.size() < entries_) PetscCall(unfold_rows(ex, entries_, to_own, stored_transposed_, to_own));
  if (diag.col.size() < entries_) PetscCall(unfold_rows(ex, entries_, diag, stored_, diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::whole_diag(Ex &ex, Csr<double, Ex> &room, CsrView<double> &out) const
{
  PetscFunctionBegin;
  out = diag.view();
  if (!folded()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(unfold_rows(ex, entries_, diag, stored_, room));
  out = {diag.rows, diag.cols, entries_, diag.ptr.data(), room.col.data(), room.val.data()};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::fits_single(Ex &ex, bool *fits) const
{
  PetscFunctionBegin;
  *fits = rounded_;
  if (!rounded_) PetscCall(representable(ex, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode Prolongator<Ex>::transpose_all(Ex &ex)
{
  PetscFunctionBegin;
  entries_ = diag.col.size();
  if (offd.ptr.size() == 0) PetscCall(offd.make_empty(ex, diag.rows));
  PetscCall(round_values(ex));
  PetscCall(halo.allocate(ex));
  PetscCall(nonempty_rows(ex, offd.view(), boundary));
  PetscCall(transpose(ex, diag.view(), to_own, values_change ? &from_diag_ : nullptr, blocks));
  PetscCall(transpose(ex, offd.view(), to_ghosts, values_change ? &from_offd_ : nullptr, blocks));
  if (halo.active()) PetscCall(halo.arrivals(ex, diag.cols, arrivals, receiving));
  if (range.size() == 2) offd.ptr.release(); // one rank: without entries
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::create(Ex &ex, MPI_Comm c)
{

  PetscFunctionBegin;
  comm = c;
  PetscCall(number_over_ranks(comm, diag.cols, range));
  first = range.first();
  PetscCall(halo.create(comm, range, ghosts));
  PetscCall(attempt(comm, [&] { return transpose_all(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongator<Ex>::transpose_values(Ex &ex)
{
  const double *own = diag.val.data(), *other = offd.val.data();

  PetscFunctionBegin;
  PetscCheck(values_change && from_diag_.size() == diag.val.size() && from_offd_.size() == offd.val.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "This prolongator was made for values that do not change");
  PetscCall(round_values(ex));
  if (Ex::sliced_rows) stored_values_ = false;
  PetscCall(gather(ex, from_diag_.size(), from_diag_.data(), own, to_own.val.data()));
  PetscCall(gather(ex, from_offd_.size(), from_offd_.data(), other, to_ghosts.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows without ghosts are done while the halo travels.
template <class Ex> template <class V> PetscErrorCode Prolongator<Ex>::add_product(Ex &ex, const V *e, V *x)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, e));
  if (Ex::one_by_one && !stored_.block_columns())
    scatter_product(to_own.view(), e, x);
  else
    PetscCall(stored_.add_product(ex, diag.view(), e, x));
  PetscCall(exchange.subtract(ex, offd.view(), boundary, -1, unscaled<V>, x));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(entries_ + offd.col.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class V>
PetscErrorCode Prolongator<Ex>::multiply_transposed(Ex &ex, const V *r, V *b, const FirstStep<V> &step)
{
  const bool in_floats_alone = single_own_.size() > 0, step_beside = in_floats_alone && !halo.active();
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(entries_ + offd.col.size())));
  if (halo.active()) {
    PetscCall(spmv(ex, to_ghosts.view(), r, halo.template to_return<V>()));
    PetscCall(exchange.template begin_back<V>());
  }
  if (in_floats_alone)
    PetscCall(spmv(ex, in_floats(to_own.view(), single_own_.data()), r, b, step_beside ? step : FirstStep<V>{}));
  else
    PetscCall(stored_transposed_.multiply(ex, to_own.view(), r, b));
  PetscCall(exchange.subtract(ex, arrivals.view(), receiving, -1, unscaled<V>, b));
  if (step.x && !step_beside) PetscCall(take(ex, step, static_cast<const V *>(b)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE_VECTORS(Ex, V)                                                                                                         \
  template PetscErrorCode Prolongator<Ex>::add_product(Ex &, const V *, V *);                                                              \
  template PetscErrorCode Prolongator<Ex>::multiply_transposed(Ex &, const V *, V *, const FirstStep<V> &);
#define INSTANTIATE(Ex)                                                                                                                    \
  template struct Prolongator<Ex>;                                                                                                         \
  INSTANTIATE_VECTORS(Ex, float)                                                                                                           \
  INSTANTIATE_VECTORS(Ex, double)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_VECTORS
} // namespace amgkit
