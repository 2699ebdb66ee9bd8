// Sums of blocks, in four files, as a process waits for a whole file to load. Narrow and wide blocks are apart: few programs have both.
// Sums with noted places are apart: a first setup has none.
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
