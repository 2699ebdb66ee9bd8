#include "graph/two_stage.hpp"

#include "dist/agree.hpp"

namespace amgkit
{
// Local, once P2's rows of other ranks are here.
template <class Ex> PetscErrorCode TwoStageInterpolation<Ex>::multiply(Ex &ex, const TwoStageRule &rule, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(stack_rows(ex, P1_.rows().blocks(), left_));
  PetscCall(spgemm_symbolic(ex, rule.interpolation.spgemm, left_.view(), gathered_.rows(P2_.rows()), W_, plan_));
  PetscCall(spgemm_numeric(ex, plan_, left_.view(), gathered_.rows(P2_.rows()), W_));
  PetscCall(truncated_.create(ex, W_.view(), {gathered_.before(), P2_.diag.cols, P2_.first, &gathered_.ghosts()},
                              rule.interpolation.truncation, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode TwoStageInterpolation<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &first,
                                                 const CoarsePoints<Ex> &second, const TwoStageRule &rule, CoarseBlocks<Ex> &P,
                                                 bool *out_of_memory)
{
  InterpolationRule of_factor = rule.interpolation;

  PetscFunctionBegin;
  PetscCheck(of_factor.kind != InterpolationKind::direct, A.comm, PETSC_ERR_SUP, "Direct interpolation has no second stage");
  of_factor.truncation = rule.of_factors;
  PetscCall(first_.create(ex, A, S, first, of_factor, P1_, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  of_factor.wanted = first.number.data();
  if (of_factor.kind == InterpolationKind::ext_i) of_factor.kind = InterpolationKind::ext;
  PetscCall(second_.create(ex, A, S, second, of_factor, P2_, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(halo_.create(A.comm, first.range, P1_.ghosts));
  PetscCall(attempt(
      A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(leave_out_rows(ex, A.rows, first.number.data(), first.count, P2_.diag));
        PetscCall(leave_out_rows(ex, A.rows, first.number.data(), first.count, P2_.offd));
        PetscCall(halo_.allocate(ex));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(gathered_.create(ex, A.comm, halo_, P2_.rows(), ghosts_before(P1_.ghosts, P1_.first), out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(
      A.comm, [&] { return multiply(ex, rule, P); }, out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoStageInterpolation<Ex>::update(Ex &ex, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(first_.update(ex, A, P1_));
  PetscCall(second_.update(ex, A, P2_));
  PetscCall(gathered_.update(ex, P2_.rows()));
  PetscCall(stack_values(ex, P1_.rows().blocks(), left_));
  PetscCall(spgemm_numeric(ex, plan_, left_.view(), gathered_.rows(P2_.rows()), W_));
  PetscCall(truncated_.values(ex, W_.view(), P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t TwoStageInterpolation<Ex>::bytes() const
{
  return first_.bytes() + second_.bytes() + P1_.bytes() + P2_.bytes() + halo_.bytes() + gathered_.bytes() + left_.bytes() + W_.bytes() +
         plan_.row.bytes() + plan_.window.bytes() + truncated_.bytes();
}

#define INSTANTIATE(Ex) template class TwoStageInterpolation<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
