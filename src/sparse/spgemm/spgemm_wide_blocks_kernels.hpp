// Sums of wide blocks: kernels as large as all others together, which only programs with such blocks load.
#include "sparse/spgemm/spgemm_blocks.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode native_wide_block_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  using namespace spgemm;
  return numeric_by_shape<first_wide_shape, count_block_shapes>(ex, BlockFactors{A, B, plan.runs.view()}, plan, C);
}

AMGKIT_INSTANTIATE(native_wide_block_numeric)
} // namespace amgkit
