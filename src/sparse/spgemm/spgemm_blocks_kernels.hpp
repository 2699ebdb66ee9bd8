// Sums of blocks, in four files, as a process waits for all kernels of a file before the first one runs: those of narrow and of wide
// blocks, of which few programs have both, and each with places that are noted, of which a first setup has none.
#include "sparse/spgemm/spgemm_blocks.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode native_block_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  const bool wide = plan.run > spgemm::most_narrow;
  if (plan.noted()) return wide ? native_noted_wide_block_numeric(ex, plan, A, B, C) : native_noted_block_numeric(ex, plan, A, B, C);
  return wide ? native_wide_block_numeric(ex, plan, A, B, C) : spgemm::sum_narrow<false>(ex, plan, A, B, C);
}

AMGKIT_INSTANTIATE(native_block_numeric)
} // namespace amgkit
