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
      Hierarchy<Debug> hierarchy;
      const auto prolongation = make_prolongation<Debug>(method);
      more = failing.run(ex, [&] { return hierarchy.build(ex, A, parameters, *prolongation); });
    }
    EXPECT_GT(failing.failures(), 50);
  }
  OK(MatDestroy(&A));
}
} // namespace amgkit::test
