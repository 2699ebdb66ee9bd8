// No allocation may fail without every rank learning of it, and nothing may leak or hang then: each one fails in turn.
#include "support/failing_allocations.hpp"
#include "support/hierarchy_shape.hpp"
#include "support/petsc_problems.hpp"

#include <set>

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
    FailingAllocations failing(method != Method::matching); // columns that are kept, see spgemm_columns.hpp
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

// A rank without the memory for an order of its own keeps the user's; without that for the others' orders, all do.
TEST(Failure, AnOrderOfTheRowsIsGoneWithout)
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 10;
  parameters.renumber = Renumber::yes;
  for (const int bs : {1, 2}) {
    const int size = size_of_world(), rank = rank_of_world();
    FailingAllocations failing(true);
    OwnedMat A;
    std::set<int> taken;
    OK(distribute(grid7(5, 4, 4), false, A.out(), 2 * (40 * (rank + 1) / size - 40 * rank / size)));
    OK(MatSetBlockSize(A, bs));
    for (bool more = true; more;) {
      Debug ex;
      Hierarchy<Debug> hierarchy;
      const auto prolongation = make_prolongation<Debug>(Method::smoothed);
      more = failing.run(ex, [&] { return hierarchy.build(ex, A, parameters, *prolongation); });
      taken.insert(hierarchy.numbering.taken);
    }
    EXPECT_GT(failing.failures(), 50);
    EXPECT_GT(failing.gone_without(), 15);
    EXPECT_EQ(taken, size > 1 ? (std::set<int>{0, size - 1, size}) : (std::set<int>{0, 1}));
  }
}
} // namespace amgkit::test
