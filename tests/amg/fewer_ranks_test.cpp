// How many ranks a coarse level goes to.
#include "amg/fewer_ranks.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
// 900 rows are worth two CPUs, if these are half of them at most; a dense solver wants them on one.
TEST(FewerRanks, ALevelThatIsSolvedDirectlyGoesToOne)
{
  constexpr int rows = 900, last = 1000;
  const int size = size_of_world(), fewer = size >= 4 ? 2 : 0;
  struct Case {
    const char *name;
    int last;
    CoarseKind solver;
    int expected;
  };
  DistMatrix<Host> A;
  OK(A.set_rows(PETSC_COMM_WORLD, rows / size + (rank_of_world() < rows % size ? 1 : 0)));
  for (const Case &c :
       {Case{"direct", last, CoarseKind::dense, size > 1 ? 1 : 0}, Case{"coarsened further", rows - 1, CoarseKind::dense, fewer},
        Case{"smoothed", last, CoarseKind::smoother, fewer}}) {
    AmgParameters parameters;
    int ranks = -1;
    parameters.coarse_solver = c.solver;
    OK(count_fewer_ranks(parameters, A, c.last, &ranks));
    EXPECT_EQ(ranks, c.expected) << c.name;
  }
}
} // namespace amgkit::test
