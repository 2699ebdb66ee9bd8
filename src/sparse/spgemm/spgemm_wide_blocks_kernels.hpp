// Sums of wide blocks: see spgemm_blocks_kernels.hpp.
#include "sparse/spgemm/spgemm_blocks.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode native_wide_block_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  return spgemm::sum_wide<false>(ex, plan, A, B, C);
}

AMGKIT_INSTANTIATE(native_wide_block_numeric)
} // namespace amgkit
