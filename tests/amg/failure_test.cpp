// No allocation may fail without every rank learning of it, and nothing may leak or hang then: each one fails in turn.
#include "amg/hierarchy.hpp"
#include "amg/prolongation_classical.hpp"
#include "amg/prolongation_matching.hpp"
#include "support/failing_allocations.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
TEST(Failure, EveryAllocationMayFailOnOneRank)
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 10;
  Mat A;
  OK(distribute(grid7(5, 4, 4), false, &A));
  for (const bool classical : {false, true}) {
    FailingAllocations failing;
    for (bool more = true; more;) {
      Debug ex;
      SetupStatus status;
      const auto prolongation = classical ? make_classical_prolongation<Debug>({}) : make_matching_prolongation<Debug>({});
      failing.begin(ex);
      {
        Hierarchy<Debug> hierarchy;
        OK(hierarchy.build(ex, A, parameters, *prolongation, &status));
      }
      more = failing.next(ex, status == SetupStatus::out_of_memory);
      EXPECT_EQ(status, more ? SetupStatus::out_of_memory : SetupStatus::ready) << classical;
    }
    EXPECT_GT(failing.failures(), 50);
  }
  OK(MatDestroy(&A));
}
} // namespace amgkit::test
