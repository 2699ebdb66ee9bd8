#include "amg/kcycle_levels.hpp"

#include "amg/prolongation_matching.hpp"
#include "amg/visit_cost.hpp"
#include "support/amg_solver.hpp"

#include <array>
#include <cmath>

namespace amgkit::test
{
template <class Ex> using KCycleLevels = SpaceTest<Ex>;
TYPED_TEST_SUITE(KCycleLevels, Spaces, SpaceName);

namespace
{
// Levels of so many seconds each, that is, launches on a GPU; or each a quarter of the one above
std::vector<VisitCost> costs(std::size_t levels, double each, double of_finest)
{
  std::vector<VisitCost> cost(levels);
  for (std::size_t l = 0; l < levels; l++) cost[l] = {each + of_finest * std::exp2(-2.0 * static_cast<double>(l)), 0};
  return cost;
}

bool same_on_all_ranks(PetscInt x)
{
  std::array<PetscInt, 2> range = {-x, x};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD);
  return -range[0] == range[1];
}
} // namespace

TEST(WorthwhileKCycleLevels, FollowFromTheTestsAndTheCost)
{
  const auto by_bytes = costs(6, 0, 1), by_launches = costs(6, 1, 0);
  EXPECT_EQ(worthwhile_kcycle_levels(by_bytes, {0, 0, 0, 0}), 0);
  EXPECT_EQ(worthwhile_kcycle_levels(by_bytes, {0, 0.9, 0.9, 0.9}), 3);
  EXPECT_EQ(worthwhile_kcycle_levels(by_bytes, {0, 0.6, 0.5, 0.4}), 2);       // gains 1.6, 1.125, 1.01 for 1.25, 1.1, 1.05 times the cost
  EXPECT_EQ(worthwhile_kcycle_levels(by_launches, {0, 0.8, 0.7, 0.6}), 0);    // 1.8 for 1.83
  EXPECT_EQ(worthwhile_kcycle_levels(by_launches, {0, 0.88, 0.88, 0.88}), 1); // then 1.68 for 1.73
  EXPECT_EQ(worthwhile_kcycle_levels(by_bytes, {0, NAN, INFINITY, 0.9}), 3);
  // none between the finest and the coarsest level, or fewer than have a factor
  EXPECT_EQ(worthwhile_kcycle_levels(costs(2, 0, 1), {0, 0.9}), 0);
  EXPECT_EQ(worthwhile_kcycle_levels(costs(1, 0, 1), {0}), 0);
  EXPECT_EQ(worthwhile_kcycle_levels(costs(4, 0, 1), {0, 0.9, 0.9, 0.9}), 2);
  // what the Krylov method takes
  auto dear = by_bytes;
  dear[1].beside = 1;
  EXPECT_EQ(worthwhile_kcycle_levels(dear, {0, 0.9, 0.9, 0.9}), 0);
}

TEST(WorthwhileKCycleLevels, IterationCostCountsVisits)
{
  const std::vector<VisitCost> cost = {{10, 1000}, {5, 0.5}, {3, 0.25}, {2, 0.125}, {1, 100}};
  EXPECT_EQ(iteration_cost(cost, 0), 21);
  EXPECT_EQ(iteration_cost(cost, 1), 10 + 0.5 + 2 * (5 + 3 + 2 + 1));
  EXPECT_EQ(iteration_cost(cost, 3), 10 + 0.5 + 2 * (5 + 0.25 + 2 * (3 + 0.125 + 2 * (2 + 1))));
}

namespace
{
constexpr int with_visits = 16, with_v_cycle = 8; // steps of a trial

void observe(VisitsOnTrial &trial, double factor, int steps)
{
  for (int step = 0; step < steps; step++) trial.observe(factor);
}
} // namespace

TEST(VisitsOnTrial, AreKeptWhereTheyMakeProgress)
{
  VisitsOnTrial fast(1.5);
  observe(fast, 0.9, 8); // first steps do not count
  observe(fast, 0.5, 40);
  EXPECT_FALSE(fast.with_v_cycle());
  EXPECT_EQ(fast.left_with_v_cycle(), 1);
  observe(fast, 0.9, 40); // has been decided
  EXPECT_FALSE(fast.with_v_cycle());

  VisitsOnTrial slow(1.5);
  observe(slow, 0.6, with_visits - 1);
  EXPECT_FALSE(slow.with_v_cycle());
  observe(slow, 0.6, 1);
  EXPECT_TRUE(slow.with_v_cycle());
  observe(slow, 0.72, with_v_cycle); // 0.61 for the same cost
  EXPECT_FALSE(slow.with_v_cycle());
  EXPECT_NEAR(slow.left_with_visits(), 0.6, 1e-12);
  EXPECT_NEAR(slow.left_with_v_cycle(), 0.72, 1e-12);
}

TEST(VisitsOnTrial, GiveWayToAVCycleThatMakesMoreForItsCost)
{
  VisitsOnTrial trial(1.5);
  observe(trial, 0.6, with_visits);
  trial.observe(NAN); // says nothing
  trial.observe(0);
  observe(trial, 0.7, with_v_cycle - 1); // 0.59
  EXPECT_TRUE(trial.with_v_cycle());
  trial.begin_solve(); // the one before had ended too soon
  EXPECT_TRUE(trial.with_v_cycle());
  observe(trial, 0.1, 8); // first steps do not count
  observe(trial, 0.7, 5);
  EXPECT_FALSE(trial.rejected());
  observe(trial, 0.7, 1);
  EXPECT_TRUE(trial.rejected());
  trial.begin_solve();
  EXPECT_TRUE(trial.with_v_cycle());
}

TEST(WorthwhileKCycleLevels, FactorsAreContinuedUpwards)
{
  EXPECT_NEAR(factor_above(0.5, 0.5), 0.5, 1e-14);
  EXPECT_NEAR(factor_above(0.5, 0), 2.0 / 3, 1e-14); // condition numbers 1, 3, 5
  EXPECT_NEAR(factor_above(0.5, 0.8), 0.5, 1e-14);   // never less than the next
  EXPECT_LT(factor_above(1, 0.5), 1);
  EXPECT_LT(factor_above(NAN, INFINITY), 1);
}

// The choice on each rank, by what rank 0 knows, with a good smoother and a bad one; and as many as the user says.
TYPED_TEST(KCycleLevels, AreChosenByTheVCycleBelow)
{
  const HostCsr A = grid7(20, 19, 18);
  for (auto [cycle, fixed] :
       {std::pair{CycleKind::automatic, 0}, {CycleKind::k, 0}, {CycleKind::w, 0}, {CycleKind::v, 0}, {CycleKind::k, 1}}) {
    PetscInt of_good = 0;
    for (bool good : {true, false}) {
      AmgSolver<TypeParam> solver;
      AmgParameters parameters;
      parameters.coarse_eq_limit = 20;
      parameters.cycle_type = cycle;
      parameters.kcycle_levels = fixed;
      if (!good) {
        parameters.smoother = SmootherKind::jacobi;
        parameters.jacobi_omega = 0.02;
      }
      MatchingParameters matching;
      matching.matching_steps = 2;
      OK(solver.create(this->ex, A, parameters, *make_matching_prolongation<TypeParam>(matching)));
      const PetscInt levels = solver.cycle.kcycle_levels();
      const auto tests = solver.cycle.kcycle_tests();
      const auto least = cycle == CycleKind::automatic ? 0 : 1;
      const bool tested = cycle != CycleKind::v && fixed == 0;
      EXPECT_TRUE(same_on_all_ranks(levels));
      EXPECT_EQ(!tests.empty(), tested);
      if (fixed > 0) {
        EXPECT_EQ(levels, fixed);
      }
      if (tested && rank_of_world() == 0) {
        std::vector<VisitCost> cost(solver.hierarchy.levels.size());
        ASSERT_GE(cost.size(), 5U);
        for (std::size_t l = 0; l < cost.size(); l++)
          OK(visit_cost<TypeParam>(*solver.hierarchy.levels[l], solver.parameters, {solver.cycle.single(), 0}, &cost[l]));
        for (int m = 1; m <= 3; m++) EXPECT_GT(tests[static_cast<std::size_t>(m)], 0);
        EXPECT_EQ(levels, std::max(worthwhile_kcycle_levels(cost, tests), least));
      }
      if (tested && !good) {
        const CycleKind kind = solver.cycle.choose(true, false).kind;
        for (int step = 0; step < with_visits; step++) solver.cycle.observe(0.9);
        EXPECT_EQ(solver.cycle.choose(true, false).kind, cycle == CycleKind::automatic ? CycleKind::v : kind);
        for (int step = 0; step < with_v_cycle; step++) solver.cycle.observe(0.99);
        EXPECT_EQ(solver.cycle.choose(true, false).kind, kind);
        EXPECT_EQ(solver.cycle.kcycle_levels(), levels);
      }
      if (good) of_good = levels;
      if (!good && tested) {
        EXPECT_GT(levels, of_good);
      }
      bool fits = false;
      OK(MatScale(solver.A, 3));
      OK(solver.refresh(this->ex, &fits)); // no test for new values
      ASSERT_TRUE(fits);
      EXPECT_EQ(solver.cycle.kcycle_tests(), tests);
      EXPECT_EQ(solver.cycle.kcycle_levels(), levels);
    }
  }
}

// Few levels: none to test, the first alone, or one that is tested and one that is solved.
TYPED_TEST(KCycleLevels, MayBeFew)
{
  const HostCsr A = grid7(12, 11, 10);
  for (const PetscInt levels : {1, 2, 3, 4, 5}) {
    AmgSolver<TypeParam> solver;
    AmgParameters parameters;
    parameters.max_levels = levels;
    OK(solver.create(this->ex, A, parameters, *make_matching_prolongation<TypeParam>({})));
    EXPECT_LE(solver.cycle.kcycle_levels(), std::max(PetscInt{0}, static_cast<PetscInt>(solver.hierarchy.statistics.size()) - 2));
    std::vector<double> x;
    OK(solver.apply(this->ex, solver.cycle.choose(true, false), solver.wave(0.1), x));
    for (const double x_i : x) EXPECT_TRUE(std::isfinite(x_i));
  }
}
} // namespace amgkit::test
