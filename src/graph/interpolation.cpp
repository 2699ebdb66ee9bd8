#include "graph/interpolation.hpp"

#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
// Local: which entries of A are used, their patterns and values.
template <class Ex>
PetscErrorCode Interpolation<Ex>::choose(Ex &ex, const DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule)
{
  const Splitting splitting = {points.number.data(), points.ghosts.data(), rule.unknown, rule.ghost_unknown, rule.wanted};

  PetscFunctionBegin;
  number_ = points.number.data();
  if (rule.keep) {
    PetscCall(kept_number_.allocate(ex, A.rows));
    PetscCall(memory_copy(ex, kept_number_.data(), number_, kept_number_.bytes()));
    number_ = kept_number_.data();
  }
  PetscCall(classify_entries(ex, {A.diag, A.offd, first_row_, nullptr, ghosts_before_}, S, splitting, kinds_));
  strength_ = {};
  PetscCall(to_coarse_.create(ex, rows_of(A), to_coarse));
  PetscCall(coarse_columns(ex, A, to_coarse_, points, points.range.first(), B_));
  if (kind_ == InterpolationKind::ext_i) {
    PetscCall(select_entries(ex, ghost_block(A), kinds_.offd.data(), to_fine, {}, to_fine_));
    PetscCall(selected_pattern(ex, ghost_block(A), to_fine_, F_offd_));
  }
  if (kind_ == InterpolationKind::ext_e) {
    PetscCall(own_mean_.allocate(ex, A.rows));
    PetscCall(mean_.allocate(ex, std::int64_t{A.rows} + ghosts_));
  }
  PetscCall(take_values(ex, A));
  if (!rule.keep) to_coarse_ = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what other ranks will ask for.
template <class Ex> PetscErrorCode Interpolation<Ex>::take_values(Ex &ex, const DistMatrix<Ex> &A)
{
  PetscFunctionBegin;
  PetscCall(selected_values(ex, A.diag, to_coarse_.diag, nullptr, B_.diag.val.data()));
  PetscCall(unit_rows(ex, A.rows, number_, B_.diag.ptr.data(), B_.diag.val.data()));
  PetscCall(selected_values(ex, ghost_block(A), to_coarse_.offd, nullptr, B_.offd.val.data()));
  if (kind_ == InterpolationKind::ext_i) PetscCall(selected_values(ex, ghost_block(A), to_fine_, nullptr, F_offd_.val.data()));
  if (kind_ == InterpolationKind::ext_e) PetscCall(means_of_fine(ex, points_of(rows_of(A)), own_mean_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
template <class Ex> PetscErrorCode Interpolation<Ex>::exchange_means(Ex &ex, DistMatrix<Ex> &A)
{
  PetscFunctionBegin;
  if (kind_ != InterpolationKind::ext_e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(A.halo.exchange(ex, own_mean_.data()));
  PetscCall(stack_vector(ex, A.rows, own_mean_.data(), ghosts_, A.halo.template ghost<double>(), ghosts_before_, mean_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> ProductColumns Interpolation<Ex>::columns() const
{
  if (paths()) return {gathered_.before(), B_.diag.cols, B_.first, &gathered_.ghosts()};
  return {ghosts_before(B_.ghosts, B_.first), B_.diag.cols, B_.first, &B_.ghosts};
}

// Local, once the others' rows are here: some rows of P, before its ghosts are known.
template <class Ex>
PetscErrorCode Interpolation<Ex>::make_part(Ex &ex, const MarkedRows &rows, const MarkedRows &all, const InterpolationRule &rule, Steps &of,
                                            CoarseBlocks<Ex> &part)
{
  PetscFunctionBegin;
  if (paths()) {
    PetscCall(of.path.create(ex, rows, on_path));
    PetscCall(stack_rows(ex, of.path.of(rows, ghosts_before_), of.w));
    if (!rule.keep) of.path = {};
    PetscCall(weigh_paths(ex, rows, all, of.w));
    if (whole_) forget_weights();
    PetscCall(spgemm_product(ex, rule.spgemm, of.w.view(), product_factor(), of.W, of.plan));
    if (!rule.keep) of.w = {};
    if (whole_) forget_product();
  } else {
    PetscCall(stack_rows(ex, B_.rows().blocks(), of.W));
    PetscCall(weigh_direct(ex, points_of(rows), of.W));
  }
  PetscCall(of.truncated.create(ex, of.W.view(), columns(), rule.truncation, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local, once the others' rows are here: P. direct has one slice, as its W is not larger than B.
template <class Ex>
PetscErrorCode Interpolation<Ex>::make_rows(Ex &ex, const DistMatrix<Ex> &A, const InterpolationRule &rule, CoarseBlocks<Ex> &P)
{
  const MarkedRows all = rows_of(A);
  const ProductColumns all_columns = columns();
  std::vector<CoarseBlocks<Ex>> parts;
  int slices = 1;

  PetscFunctionBegin;
  if (paths()) {
    PetscCall(beta_.allocate(ex, product_factor().rows));
    PetscCall(row_sums(ex, product_factor(), beta_.data()));
  }
  if (rule.keep) {
    parts.emplace_back();
    PetscCall(make_part(ex, all, all, rule, steps_.emplace(), parts[0]));
  } else {
    if (paths()) PetscCall(count_slices(ex, all, on_path, product_factor(), ghosts_before_, rule.slice_bytes, &slices));
    whole_ = slices == 1;
    const auto make = [&](const MarkedRows &slice, CoarseBlocks<Ex> &part) {
      Steps steps;
      return make_part(ex, slice, all, rule, steps, part);
    };
    PetscCall(make_parts<Ex>(ex, all, slices, make, parts));
    forget_weights();
    forget_product();
  }
  PetscCall(join_parts(ex, parts, all_columns, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: w from the values of A that it holds.
template <class Ex> PetscErrorCode Interpolation<Ex>::weigh_paths(Ex &ex, const MarkedRows &rows, const MarkedRows &all, Csr<double, Ex> &w)
{
  PetscFunctionBegin;
  switch (kind_) {
  case InterpolationKind::ext:
    PetscCall(weigh_ext(ex, points_of(rows), beta_.data(), w));
    break;
  case InterpolationKind::ext_i:
    PetscCall(weigh_ext_i(ex, points_of(rows), all, beta_.data(), {ghost_F_.rows(), ghost_F_.before()}, w));
    break;
  default:
    PetscCall(weigh_ext_e(ex, points_of(rows), beta_.data(), mean_.data(), w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Without keep: what the others have asked for, and B's own rows if they are among the gathered ones.
template <class Ex> void Interpolation<Ex>::forget_own_rows()
{
  to_fine_ = {};
  F_offd_ = {};
  own_mean_ = {};
  if (paths() && product_factor().ptr != B_.diag.ptr.data()) forget_product();
}
// Without keep: what the parts were made of.
template <class Ex> void Interpolation<Ex>::forget_weights()
{
  kinds_ = {};
  beta_ = {};
  mean_ = {};
}
template <class Ex> void Interpolation<Ex>::forget_product()
{
  for (Csr<double, Ex> *block : {&B_.diag, &B_.offd}) {
    block->ptr.release();
    block->col.release();
    block->val.release();
  }
}

template <class Ex>
PetscErrorCode Interpolation<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule, CoarseBlocks<Ex> &P)
{

  PetscFunctionBegin;
  kind_ = rule.kind;
  first_row_ = A.range.first();
  ghosts_ = static_cast<int>(A.ghosts.size());
  ghosts_before_ = ghosts_before(A.ghosts, first_row_);
  PetscCall(attempt(A.comm, [&] { return choose(ex, A, S, points, rule); }));
  if (paths()) PetscCall(gathered_.create(ex, A.comm, A.halo, B_.rows(), ghosts_before_));
  if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.create(ex, A.comm, A.halo, couplings(A)));
  PetscCall(exchange_means(ex, A));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    if (!rule.keep) forget_own_rows();
    PetscCall(make_rows(ex, A, rule, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Interpolation<Ex>::update(Ex &ex, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P)
{
  const MarkedRows rows = rows_of(A);

  PetscFunctionBegin;
  PetscCheck(steps_, A.comm, PETSC_ERR_ARG_WRONGSTATE, "The interpolation was made to be used once");
  Steps &of = *steps_;
  PetscCall(take_values(ex, A));
  if (!paths()) {
    PetscCall(stack_values(ex, B_.rows().blocks(), of.W));
    PetscCall(weigh_direct(ex, points_of(rows), of.W));
  } else {
    PetscCall(gathered_.update(ex, B_.rows()));
    if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.update(ex, couplings(A)));
    PetscCall(exchange_means(ex, A));
    PetscCall(row_sums(ex, product_factor(), beta_.data()));
    PetscCall(stack_values(ex, of.path.of(rows, ghosts_before_), of.w));
    PetscCall(weigh_paths(ex, rows, rows, of.w));
    PetscCall(spgemm_numeric(ex, of.plan, of.w.view(), product_factor(), of.W));
  }
  PetscCall(of.truncated.values(ex, of.W.view(), P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Interpolation<Ex>::bytes() const
{
  return kept_number_.bytes() + kinds_.bytes() + to_coarse_.bytes() + to_fine_.bytes() + B_.bytes() + F_offd_.bytes() + gathered_.bytes() +
         ghost_F_.bytes() + beta_.bytes() + mean_.bytes() + own_mean_.bytes() + (steps_ ? steps_->bytes() : 0);
}

AMGKIT_INSTANTIATE_TYPE(class, Interpolation)
} // namespace amgkit
