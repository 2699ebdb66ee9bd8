#include "graph/two_stage.hpp"

#include "dist/attempt.hpp"

namespace amgkit
{
// Local, once P2's rows of other ranks are here: some rows of P, before its ghosts are known.
template <class Ex>
PetscErrorCode TwoStageInterpolation<Ex>::multiply_rows(Ex &ex, const MarkedRows &rows, const InterpolationRule &rule, Steps &of,
                                                        CoarseBlocks<Ex> &part)
{
  const CsrView<double> right = gathered_.rows(P2_.rows());

  PetscFunctionBegin;
  PetscCall(stack_rows(ex, {{rows.diag}, {rows.offd}, ghosts_before(P1_.ghosts, P1_.first)}, of.left));
  PetscCall(spgemm_product(ex, rule.spgemm, of.left.view(), right, of.W, of.plan));
  if (!rule.keep) of.left = {};
  PetscCall(of.truncated.create(ex, of.W.view(), columns(), rule.truncation, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local, once P2's rows of other ranks are here.
template <class Ex> PetscErrorCode TwoStageInterpolation<Ex>::multiply(Ex &ex, const InterpolationRule &rule, CoarseBlocks<Ex> &P)
{
  const MarkedRows all = {P1_.diag.view(), P1_.offd.view()};
  const ProductColumns all_columns = columns();
  std::vector<CoarseBlocks<Ex>> parts;
  int slices = 1;

  PetscFunctionBegin;
  if (rule.keep) {
    parts.emplace_back();
    PetscCall(multiply_rows(ex, all, rule, steps_.emplace(), parts[0]));
  } else {
    const int before = ghosts_before(P1_.ghosts, P1_.first);
    PetscCall(count_slices(ex, all, 0, gathered_.rows(P2_.rows()), before, rule.slice_bytes, &slices));
    const auto make = [&](const MarkedRows &slice, CoarseBlocks<Ex> &part) {
      Steps steps;
      return multiply_rows(ex, slice, rule, steps, part);
    };
    PetscCall(make_parts<Ex>(ex, all, slices, make, parts));
    P1_ = {};
    P2_ = {};
  }
  PetscCall(join_parts(ex, parts, all_columns, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: P1 and P2, the latter with the rows of all points.
template <class Ex>
PetscErrorCode TwoStageInterpolation<Ex>::make_factors(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &first,
                                                       const CoarsePoints<Ex> &second, const TwoStageRule &rule)
{
  InterpolationRule of_factor = rule.interpolation;

  PetscFunctionBegin;
  of_factor.truncation = rule.of_factors;
  PetscCall(first_.emplace().create(ex, A, S, first, of_factor, P1_));
  if (!of_factor.keep) first_.reset();
  of_factor.wanted = first.number.data();
  if (of_factor.kind == InterpolationKind::ext_i) of_factor.kind = InterpolationKind::ext;
  PetscCall(second_.emplace().create(ex, A, S, second, of_factor, P2_));
  if (!of_factor.keep) second_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode TwoStageInterpolation<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &first,
                                                 const CoarsePoints<Ex> &second, const TwoStageRule &rule, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCheck(rule.interpolation.kind != InterpolationKind::direct, A.comm, PETSC_ERR_SUP, "Direct interpolation has no second stage");
  PetscCall(make_factors(ex, A, S, first, second, rule));
  PetscCall(halo_.create(A.comm, first.range, P1_.ghosts));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(leave_out_rows(ex, A.rows, first.number.data(), first.count, P2_.diag));
    PetscCall(leave_out_rows(ex, A.rows, first.number.data(), first.count, P2_.offd));
    PetscCall(halo_.allocate(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(gathered_.create(ex, A.comm, halo_, P2_.rows(), ghosts_before(P1_.ghosts, P1_.first),
                             [&] { return multiply(ex, rule.interpolation, P); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoStageInterpolation<Ex>::update(Ex &ex, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCheck(steps_, A.comm, PETSC_ERR_ARG_WRONGSTATE, "The interpolation was made to be used once");
  Steps &of = *steps_;
  PetscCall(first_->update(ex, A, P1_));
  PetscCall(second_->update(ex, A, P2_));
  PetscCall(gathered_.update(ex, P2_.rows()));
  PetscCall(stack_values(ex, P1_.rows().blocks(), of.left));
  PetscCall(spgemm_numeric(ex, of.plan, of.left.view(), gathered_.rows(P2_.rows()), of.W));
  PetscCall(of.truncated.values(ex, of.W.view(), P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t TwoStageInterpolation<Ex>::bytes() const
{
  return (first_ ? first_->bytes() : 0) + (second_ ? second_->bytes() : 0) + (steps_ ? steps_->bytes() : 0) + P1_.bytes() + P2_.bytes() +
         halo_.bytes() + gathered_.bytes();
}

AMGKIT_INSTANTIATE_TYPE(class, TwoStageInterpolation)
} // namespace amgkit
