// No allocation may fail without every rank learning of it, and nothing may leak or hang then: each one fails in turn.
#include "amg/hierarchy.hpp"
#include "amg/prolongation_matching.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
TEST(Failure, EveryAllocationMayFailOnOneRank)
{
  const int culprit = size_of_world() - 1;
  AmgParameters parameters;
  parameters.coarse_eq_limit = 10;
  Mat A;
  OK(distribute(grid7(5, 4, 4), false, &A));
  std::int64_t last = 1000000, failures = 0;
  for (std::int64_t k = 0; k <= last; k++) {
    Debug ex;
    SetupStatus status;
    if (rank_of_world() == culprit) ex.fail_at = k;
    {
      Hierarchy<Debug> hierarchy;
      OK(hierarchy.build(ex, A, parameters, *make_matching_prolongation<Debug>({}), &status));
    }
    failures += status == SetupStatus::out_of_memory;
    std::int64_t more = rank_of_world() == culprit && ex.allocations <= k ? 0 : 1; // all allocations have had their turn
    MPI_Bcast(&more, 1, MPI_INT64_T, culprit, PETSC_COMM_WORLD);
    EXPECT_EQ(status, more ? SetupStatus::out_of_memory : SetupStatus::ready) << "allocation " << k;
    if (!more) last = k;
  }
  EXPECT_GT(failures, 50);
  OK(MatDestroy(&A));
}
} // namespace amgkit::test
