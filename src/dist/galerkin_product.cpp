#include "dist/galerkin_product.hpp"

#include "dist/attempt.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// Collective. Ranks return rows to the owners of the halo's ghosts, one a ghost, rank r's counting from range[r] on; wanted: those for
// this rank, in the order of sent_rows().
template <class Ex>
PetscErrorCode number_returned(MPI_Comm comm, const Halo<Ex> &halo, int ghosts, RankRanges &range, std::vector<PetscInt> &wanted)
{
  PetscFunctionBegin;
  PetscCall(number_over_ranks(comm, ghosts, range));
  if (!halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
  const std::vector<int> &given = halo.sent_to_rank();
  std::vector<int> at(given.size() - 1); // where each rank's ghosts that are this rank's begin
  PetscCallMPI(MPI_Alltoall(halo.ghosts_of_rank().data(), 1, MPI_INT, at.data(), 1, MPI_INT, comm));
  for (std::size_t r = 0; r < at.size(); r++) {
    for (int t = given[r]; t < given[r + 1]; t++) wanted.push_back(range[r] + at[r] + t - given[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The places of some ghosts in a list that has them all; both ascend.
std::vector<int> places_in(const std::vector<PetscInt> &all, const std::vector<PetscInt> &some)
{
  std::vector<int> places;
  places.reserve(some.size());
  auto at = all.begin();
  for (const PetscInt g : some) {
    while (at != all.end() && *at < g) ++at;
    places.push_back(static_cast<int>(at - all.begin()));
  }
  return places;
}
} // namespace

template <class Ex> std::size_t GalerkinProduct<Ex>::bytes() const
{
  std::size_t total = rows_of_P_.bytes() + back_.bytes() + arrived_.bytes() + choice_.bytes();
  for (const Csr<double, Ex> *M :
       {&A_, &AP_, &own_, &others_, &sent_diag_, &sent_offd_, &receiving_diag_, &receiving_offd_, &add_, &summands_, &sums_})
    total += M->bytes();
  for (const SpgemmPlan<Ex> *plan : {&plan_AP_, &plan_own_, &plan_others_, &plan_sums_}) total += plan->bytes();
  total += sliced_own_.bytes() + sliced_others_.bytes() + boundary_.bytes();
  return total;
}

// Collective: P's rows of A's ghosts; then what follows locally.
template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::connect(Ex &ex, DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, const LocalWork &after)
{
  int any = !A.ghosts.empty() || !ops.P.ghosts.empty() || !ops.Rt.ghosts.empty();

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, A.comm));
  alone_ = !any;
  if (alone_) PetscFunctionReturn(attempt(A.comm, after));
  ghosts_before_ = A.ghosts_before();
  PetscCall(rows_of_P_.create(ex, A.comm, A.halo, ops.P.rows(), ghosts_before_, after));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: own and others_ from the patterns. Rows of A P that the latter need are computed twice in windows.
template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::multiply_AP(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own)
{
  constexpr std::int64_t most_twice = 8; // one in so many
  const CsrView<double> L = left(A), M = right(ops.P), to_own = ops.Rt.to_own.view(), to_ghosts = ops.Rt.to_ghosts.view();
  const std::int64_t entries = AP_.col.size(), bytes = entries * static_cast<std::int64_t>(sizeof(double));
  const bool by_blocks = plan_AP_.rows > 1 || plan_own_.rows > 1 || plan_others_.rows > 1;
  std::vector<ProductWindow> windows, of_others;

  PetscFunctionBegin;
  if (options_.kind == SpgemmKind::native && !by_blocks && bytes > options_.window_bytes) {
    PetscCall(find_windows(ex, options_.window_bytes, to_own, AP_.view(), plan_AP_, plan_own_, windows));
    if (windows.size() > 1 && !alone_)
      PetscCall(find_windows(ex, options_.window_bytes, to_ghosts, AP_.view(), plan_AP_, plan_others_, of_others));
  }
  if (windows.size() > 1 && most_twice * entries_computed(of_others) <= entries) {
    PetscCall(windowed_product(ex, windows, to_own, L, M, AP_.view(), plan_AP_, plan_own_, own, boundary_.rows(A)));
    if (!alone_)
      PetscCall(windowed_product(ex, of_others, to_ghosts, L, M, AP_.view(), plan_AP_, plan_others_, others_, boundary_.rows(A)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!AP_has_values_) {
    if (AP_.val.size() != entries) PetscCall(AP_.val.allocate(ex, entries));
    PetscCall(spgemm_numeric(ex, plan_AP_, L, M, AP_));
    PetscCall(spgemm_put_values(ex, boundary_.rows(A), 0, AP_.rows, AP_.ptr.data(), AP_.val.data()));
  }
  PetscCall(spgemm_numeric(ex, plan_own_, to_own, AP_.view(), own));
  if (!alone_) PetscCall(spgemm_numeric(ex, plan_others_, to_ghosts, AP_.view(), others_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: chooses slices_ and boundary_apart_, and makes A_ where it is needed.
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::choose_algorithm(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops)
{
  constexpr std::int64_t few = 8; // one row in so many
  const std::int64_t chosen = Ex::on_device ? std::int64_t{1} << 25 : std::int64_t{1} << 20, entries = A.diag.nnz + A.offd.nnz;
  const std::int64_t copied = options_.most_copied_entries < 0 ? chosen : options_.most_copied_entries;
  const bool ghosts = !A.ghosts.empty(), entry_by_entry = options_.run == 1 && options_.rows == 1;
  const auto count_slices = [&]() -> PetscErrorCode {
    slices_ = 1;
    if (form_ != ProductForm::two_products) return PETSC_SUCCESS;
    return slices_of_product(ex, options_, entries, rows_of_P_.rows(ops.P.rows()), &slices_);
  };

  PetscFunctionBegin;
  if (ghosts && form_ == ProductForm::two_products && options_.kind == SpgemmKind::native && entry_by_entry && entries > copied &&
      few * A.boundary.size() <= A.rows) {
    PetscCall(count_slices());
    boundary_apart_ = slices_ == 1;
    if (boundary_apart_) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ghosts) PetscCall(stack_rows(ex, blocks_of(A), A_)); // also for slices, though memory is scarce then
  PetscCall(count_slices());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: own and others_, patterns and values; each by one call if A P has its values already.
template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::multiply_first(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own)
{
  const CsrView<double> L = left(A), M = right(ops.P), to_own = ops.Rt.to_own.view(), to_ghosts = ops.Rt.to_ghosts.view();

  PetscFunctionBegin;
  if (slices_ > 1) {
    PetscCall(sliced_product_symbolic(ex, options_, slices_of(to_own, ops), to_own, L, M, own, sliced_own_));
    if (!alone_) PetscCall(sliced_product_symbolic(ex, options_, slices_of(to_ghosts, ops), to_ghosts, L, M, others_, sliced_others_));
  } else if (form_ == ProductForm::two_products) {
    PetscCall(prepare_AP(ex, A, ops));
    in_blocks_ = !plan_AP_.incomplete;
    if (AP_has_values_) {
      PetscCall(spgemm_product(ex, options_of_R(), to_own, AP_.view(), own, plan_own_));
      if (!alone_) PetscCall(spgemm_product(ex, options_of_R(), to_ghosts, AP_.view(), others_, plan_others_));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(spgemm_symbolic(ex, options_of_R(), to_own, AP_.view(), own, plan_own_));
    if (!alone_) PetscCall(spgemm_symbolic(ex, options_of_R(), to_ghosts, AP_.view(), others_, plan_others_));
  } else {
    PetscCall(triple_product_symbolic(ex, options_, to_own, L, M, own, plan_own_));
    if (!alone_) PetscCall(triple_product_symbolic(ex, options_, to_ghosts, L, M, others_, plan_others_));
  }
  PetscCall(multiply(ex, A, ops, own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::multiply(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, Csr<double, Ex> &own)
{
  const CsrView<double> L = left(A), M = right(ops.P), to_own = ops.Rt.to_own.view(), to_ghosts = ops.Rt.to_ghosts.view();

  PetscFunctionBegin;
  if (slices_ > 1) {
    PetscCall(sliced_product_numeric(ex, sliced_own_, to_own, L, M, own));
    if (!alone_) PetscCall(sliced_product_numeric(ex, sliced_others_, to_ghosts, L, M, others_));
  } else if (form_ == ProductForm::two_products) {
    PetscCall(multiply_AP(ex, A, ops, own));
  } else {
    PetscCall(triple_product_numeric(ex, plan_own_, to_own, L, M, own));
    if (!alone_) PetscCall(triple_product_numeric(ex, plan_others_, to_ghosts, L, M, others_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: A P's pattern, if it is not there, with its values where they need no windows, see multiply_AP().
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::prepare_AP(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops)
{
  PetscFunctionBegin;
  if (form_ != ProductForm::two_products || slices_ > 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (AP_stays_) {
    if (boundary_apart_) PetscCall(boundary_.multiply(ex, A, rows_of_P_.rows(ops.P.rows())));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (boundary_apart_) PetscCall(boundary_.create(ex, options_, A, rows_of_P_.rows(ops.P.rows())));
  PetscCall(spgemm_product(ex, options_, left(A), right(ops.P), AP_, plan_AP_, options_.window_bytes, boundary_.rows(A)));
  AP_has_values_ = AP_.val.size() == AP_.col.size();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local. again: new values have come once, and may once more.
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::forget_AP(Ex &ex, bool again)
{
  PetscFunctionBegin;
  AP_has_values_ = false;
  if (options_.kind != SpgemmKind::native) {
    AP_stays_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AP_.val.release();
  if (again && !AP_stays_) PetscCall(memory_to_spare(ex, AP_.bytes() + plan_AP_.bytes() + boundary_.bytes(), &AP_stays_));
  if (AP_stays_) PetscFunctionReturn(PETSC_SUCCESS);
  AP_ = {};
  plan_AP_ = {};
  boundary_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: for the new values after these. AP_ has no values.
template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::note_places(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops,
                                                const Csr<double, Ex> &own)
{
  if (form_ != ProductForm::two_products || slices_ > 1) return PETSC_SUCCESS;
  return without_memory_go_on([&] {
    PetscFunctionBegin;
    PetscCall(spgemm_note_places(ex, left(A), right(ops.P), AP_, plan_AP_));
    PetscCall(spgemm_note_places(ex, ops.Rt.to_own.view(), AP_.view(), own, plan_own_));
    if (!alone_) PetscCall(spgemm_note_places(ex, ops.Rt.to_ghosts.view(), AP_.view(), others_, plan_others_));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

// Collective: others_ to the owners, who add them.
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::send_rows(Ex &ex, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse)
{
  RankRanges range;
  std::vector<PetscInt> wanted;

  PetscFunctionBegin;
  PetscCall(attempt(ops.Rt.comm,
                    [&] { return split_rows(ex, sent_rows(ops), static_cast<int>(rows_of_P_.ghosts().size()), sent_diag_, sent_offd_); }));
  PetscCall(number_returned(ops.Rt.comm, ops.Rt.halo, others_.rows, range, wanted));
  PetscCall(back_.create(ops.Rt.comm, range, wanted));
  PetscCall(arrived_.create(
      ex, ops.Rt.comm, back_, sent(ops), [&] { return back_.allocate(ex); }, [&] { return add_arrivals(ex, ops, coarse); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local. Native, as it sums in a fixed order.
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::add_arrivals(Ex &ex, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse)
{
  const std::vector<PetscInt> &ghosts = arrived_.ghosts();
  Array<int, Ex> place;

  PetscFunctionBegin;
  PetscCall(split_rows(ex, receiving_rows(ops), static_cast<int>(rows_of_P_.ghosts().size()), receiving_diag_, receiving_offd_));
  PetscCall(stack_rows(ex, arrived_.around(receiving(ops), 0), summands_));
  PetscCall(identity_and_rows(ex, ops.Rt.arrivals.view(), ops.Rt.receiving, add_));
  PetscCall(spgemm_product(ex, {SpgemmKind::native, options_.work_bytes}, add_.view(), summands_.view(), sums_, plan_sums_));
  PetscCall(choose_rows(ex, own_.rows, ops.Rt.receiving, choice_));
  PetscCall(upload(ex, places_in(ghosts, rows_of_P_.ghosts()), place));
  PetscCall(split_rows(ex, coarse_rows(ops, place.data()), static_cast<int>(ghosts.size()), coarse.own_diag, coarse.own_offd));
  PetscCall(keep_used_ghosts(ex, coarse.own_offd, ghosts, coarse.ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode GalerkinProduct<Ex>::add_arrivals_again(Ex &ex, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  PetscCall(split_values(ex, receiving_rows(ops), receiving_diag_, receiving_offd_));
  PetscCall(stack_values(ex, arrived_.around(receiving(ops), 0), summands_));
  PetscCall(spgemm_numeric(ex, plan_sums_, add_.view(), summands_.view(), sums_));
  PetscCall(split_values(ex, coarse_rows(ops, nullptr), coarse.own_diag, coarse.own_offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::create(Ex &ex, ProductForm form, const SpgemmOptions &options, DistMatrix<Ex> &A,
                                           const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  form_ = form;
  options_ = options;
  PetscCall(coarse.set_rows(A.comm, ops.Rt.diag.cols));
  PetscCall(connect(ex, A, ops, [&] {
    PetscFunctionBegin;
    PetscCall(choose_algorithm(ex, A, ops));
    PetscCall(multiply_first(ex, A, ops, sums_of_own(coarse)));
    PetscCall(forget_AP(ex, false));
    if (alone_) PetscCall(coarse.own_offd.make_empty(ex, coarse.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (!alone_) PetscCall(send_rows(ex, ops, coarse));
  PetscCall(coarse.complete(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode GalerkinProduct<Ex>::refresh(Ex &ex, const DistMatrix<Ex> &A, const TransferOperators<Ex> &ops, DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    if (A_.ptr.size() > 0) PetscCall(stack_values(ex, blocks_of(A), A_));
    PetscCall(prepare_AP(ex, A, ops));
    PetscCall(multiply(ex, A, ops, sums_of_own(coarse)));
    PetscCall(forget_AP(ex, true));
    if (AP_stays_) PetscCall(note_places(ex, A, ops, sums_of_own(coarse)));
    if (!alone_) PetscCall(split_values(ex, sent_rows(ops), sent_diag_, sent_offd_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(arrived_.update(ex, sent(ops)));
  PetscCall(attempt(A.comm, [&] { return add_arrivals_again(ex, ops, coarse); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GalerkinProduct<Ex>::update_prolongator(Ex &ex, const Prolongator<Ex> &P)
{
  PetscFunctionBegin;
  if (alone_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(rows_of_P_.update(ex, P.rows()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, GalerkinProduct)
} // namespace amgkit
