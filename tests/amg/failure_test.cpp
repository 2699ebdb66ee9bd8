// No allocation may fail without every rank learning of it, and nothing may leak or hang then: each one fails in turn.
#include "support/failing_allocations.hpp"
#include "support/hierarchy_shape.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
TEST(Failure, EveryAllocationMayFailOnOneRank)
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 10;
  Mat A;
  OK(distribute(grid7(5, 4, 4), false, &A));
  for (const auto &[method, smoother] : {std::pair{Method::matching, SmootherKind::chebyshev},
                                         {Method::classical, SmootherKind::chebyshev},
                                         {Method::smoothed, SmootherKind::chebyshev},
                                         {Method::smoothed, SmootherKind::ilu0}}) {
    FailingAllocations failing;
    parameters.smoother = smoother;
    for (bool more = true; more;) {
      Debug ex;
      SetupStatus status;
      const auto prolongation = make_prolongation<Debug>(method);
      failing.begin(ex);
      {
        Hierarchy<Debug> hierarchy;
        OK(hierarchy.build(ex, A, parameters, *prolongation, &status));
      }
      more = failing.next(ex, status == SetupStatus::out_of_memory);
      EXPECT_EQ(status, more ? SetupStatus::out_of_memory : SetupStatus::ready) << static_cast<int>(method);
    }
    EXPECT_GT(failing.failures(), 50);
  }
  OK(MatDestroy(&A));
}
} // namespace amgkit::test
