#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"

namespace amgkit::test
{
template <class Ex> using KCycleLevels = SpaceTest<Ex>;
TYPED_TEST_SUITE(KCycleLevels, Spaces, SpaceName);

// Two levels on a grid, where the smoother is good, else three; and as many as the user says.
TYPED_TEST(KCycleLevels, AreChosenByTheVCycleBelow)
{
  const HostCsr A = grid7(20, 19, 18);
  for (bool good : {true, false}) {
    for (auto [cycle, fixed] :
         {std::pair{CycleKind::automatic, 0}, {CycleKind::k, 0}, {CycleKind::w, 0}, {CycleKind::v, 0}, {CycleKind::k, 1}}) {
      AmgSolver<TypeParam> solver;
      AmgParameters parameters;
      parameters.coarse_eq_limit = 20;
      parameters.cycle_type = cycle;
      parameters.kcycle_levels = fixed;
      if (!good) {
        parameters.smoother = SmootherKind::jacobi;
        parameters.jacobi_omega = 0.02;
      }
      OK(solver.create(this->ex, A, parameters, *make_matching_prolongation<TypeParam>({})));
      const bool tested = cycle != CycleKind::v && fixed == 0;
      if (rank_of_world() == 0) {
        ASSERT_GE(solver.hierarchy.levels.size(), 5U);
      }
      if (solver.hierarchy.levels.size() >= 5) { // else a rank is without level 3, or has it as the coarsest
        EXPECT_EQ(solver.cycle.kcycle_test() > 0, tested);
        EXPECT_EQ(solver.cycle.kcycle_levels(), fixed > 0 ? fixed : tested && good ? 2 : 3) << solver.cycle.kcycle_test();
      }
      const double before = solver.cycle.kcycle_test();
      bool fits = false;
      OK(MatScale(solver.A, 3));
      OK(solver.refresh(this->ex, &fits)); // no test for new values
      ASSERT_TRUE(fits);
      EXPECT_EQ(solver.cycle.kcycle_test(), before);
    }
  }
}
} // namespace amgkit::test
