// Sums of narrow blocks, and which blocks those are.
#include "sparse/spgemm/spgemm_blocks.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode native_block_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  if (plan.run > spgemm::most_narrow) return native_wide_block_numeric(ex, plan, A, B, C);
  return spgemm::numeric_by_shape<0, spgemm::first_wide_shape>(ex, spgemm::BlockFactors{A, B, plan.runs.view()}, plan, C);
}

AMGKIT_INSTANTIATE(native_block_numeric)
} // namespace amgkit
