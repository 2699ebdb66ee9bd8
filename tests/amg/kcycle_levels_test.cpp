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
// By a VisitsOnTrial, or by a cycle that has one.
template <class Observer> void observe(Observer &observer, double factor, int steps)
{
  for (int step = 0; step < steps; step++) observer.observe(factor);
}
template <class Observer> void make_slow(Observer &observer) { observe(observer, 0.9, 9); }
VisitsOnTrial in_a_slow_solve(double relative_cost)
{
  VisitsOnTrial trial(relative_cost);
  make_slow(trial);
  return trial;
}
} // namespace

TEST(VisitsOnTrial, AreComparedInSlowSolves)
{
  VisitsOnTrial trial(1.5);
  observe(trial, 0.9, 5); // first steps do not count
  observe(trial, 0.5, 12);
  observe(trial, 0.9, 12); // nor late ones
  EXPECT_FALSE(trial.comparing());
  trial.begin_solve();
  observe(trial, 0.1, 5);
  observe(trial, 0.5, 8);
  trial.observe(NAN); // says nothing
  trial.observe(0);
  observe(trial, 0.6, 3);
  EXPECT_FALSE(trial.comparing());
  trial.compare(1); // was not asked for
  trial.observe(0.6);
  EXPECT_TRUE(trial.comparing());
  EXPECT_FALSE(trial.rejected());
  EXPECT_EQ(trial.share(), 0);
  trial.compare(1);
  trial.begin_solve(); // that solve had ended too soon
  EXPECT_FALSE(trial.comparing());
  observe(trial, 0.6, 9);
  trial.compare(0.98);
  EXPECT_TRUE(trial.rejected());
  EXPECT_NEAR(trial.share(), std::sqrt(0.98), 1e-12);
}

TEST(VisitsOnTrial, AreKeptWhereAVCycleTakesLess)
{
  struct Case {
    double relative_cost;
    std::vector<double> shares;
    bool rejected;
  };
  for (const Case &c : {Case{1.5, {0.96, 0.95}, true},
                        {1.5, {0.74}, false},
                        {1.5, {0.76, 0.9}, false},
                        {1.5, {0.9, 0.92, 0.88, 0.91}, true},
                        {1.5, {0.9, 0.92, 0.88, 0.89}, false},
                        {1.5, {0.99, 0.88, 0.7}, false},
                        {1.04, {0.95, 0.96}, false},
                        {1.5, {0.2}, false}}) {
    VisitsOnTrial trial = in_a_slow_solve(c.relative_cost);
    double product = 1;
    for (const double share : c.shares) {
      EXPECT_TRUE(trial.comparing());
      trial.compare(share);
      product *= share;
    }
    EXPECT_FALSE(trial.comparing());
    EXPECT_EQ(trial.rejected(), c.rejected) << product;
    EXPECT_NEAR(trial.share(), std::pow(product, 1.0 / static_cast<double>(c.shares.size())), 1e-12);
    trial.begin_solve();
    observe(trial, 0.9, 40); // has been decided
    EXPECT_FALSE(trial.comparing());
    EXPECT_EQ(trial.rejected(), c.rejected);
  }
}

// In the same solve nothing more is compared then.
TEST(VisitsOnTrial, AreNotComparedByWhatIsNoNumber)
{
  for (const double share : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
    VisitsOnTrial trial = in_a_slow_solve(1.5);
    trial.compare(0.97);
    trial.compare(share);
    observe(trial, 0.9, 40);
    EXPECT_FALSE(trial.comparing());
    EXPECT_FALSE(trial.rejected());
    EXPECT_EQ(trial.share(), 0);
    trial.begin_solve();
    make_slow(trial);
    trial.compare(0.97);
    EXPECT_TRUE(trial.rejected());
  }
}

TEST(VisitsOnTrial, AreSteadyAfterAVerySlowSolve)
{
  VisitsOnTrial trial(1.5);
  observe(trial, 0.99, 5); // first steps do not count
  observe(trial, 0.54, 12);
  observe(trial, 0.99, 4); // of steps 6 to 21 some are faster
  EXPECT_FALSE(trial.comparing());
  EXPECT_FALSE(trial.steady());
  observe(trial, 0.93, 15); // 22 to 36
  EXPECT_FALSE(trial.comparing());
  EXPECT_FALSE(trial.steady());
  EXPECT_EQ(trial.version(), 0);
  VisitsOnTrial after_37 = trial;
  after_37.observe(0.93);
  EXPECT_TRUE(after_37.steady());
  trial.begin_solve();
  observe(trial, 0.93, 20);
  EXPECT_TRUE(trial.comparing()); // which comes first
  trial.compare(0.7);
  EXPECT_FALSE(trial.steady());
  trial.observe(0.93);
  EXPECT_TRUE(trial.steady());
  EXPECT_FALSE(trial.rejected());
  EXPECT_EQ(trial.version(), 1);
  trial.begin_solve();
  observe(trial, 0.2, 40); // has been decided
  EXPECT_TRUE(trial.steady());
}

TEST(VisitsOnTrial, AreNotSteadyByStepsAtTheLimitOfPrecision)
{
  VisitsOnTrial trial(1.5);
  observe(trial, 0.4, 17); // 2e-7
  observe(trial, 0.999, 60);
  EXPECT_FALSE(trial.comparing());
  EXPECT_FALSE(trial.steady());
}

// A v-cycle is steady anyway.
TEST(VisitsOnTrial, AreNotSteadyWhereAVCycleIsTaken)
{
  VisitsOnTrial trial(1.5);
  observe(trial, 0.95, 9);
  trial.compare(0.99);
  trial.compare(0.99);
  observe(trial, 0.95, 40);
  EXPECT_TRUE(trial.rejected());
  EXPECT_FALSE(trial.steady());
  EXPECT_EQ(trial.version(), 2);
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

namespace
{
// (x·r)² / (x·A x), for gcr (A x·r)² / (A x·A x)
PetscErrorCode taken(Mat A, const std::vector<double> &x, const std::vector<double> &r, bool gcr, double *square)
{
  OwnedVec X, R, AX;
  PetscScalar along, length;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, X.out(), R.out()));
  PetscCall(VecDuplicate(R, AX.out()));
  PetscCall(set_entries(X, x));
  PetscCall(set_entries(R, r));
  PetscCall(MatMult(A, X, AX));
  const Vec u = gcr ? AX : X;
  PetscCall(VecDot(u, R, &along));
  PetscCall(VecDot(u, AX, &length));
  *square = PetscRealPart(along * along / length);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode create_on_trial(Ex &ex, AmgSolver<Ex> &solver, KCycleForm form)
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 20;
  parameters.cycle_type = CycleKind::automatic;
  parameters.kcycle_form = form;
  parameters.smoother = SmootherKind::jacobi;
  parameters.jacobi_omega = 0.02;
  return solver.create(ex, grid7(20, 19, 18), parameters, *make_matching_prolongation<Ex>({}));
}
} // namespace

// In a slow solve the applications of a k-cycle are compared with those of a v-cycle, for vectors of doubles and of floats, and the
// decision follows from what they make of the same vector: a rough one, which the smoother reduces, or a smooth one.
TYPED_TEST(KCycleLevels, AreComparedWithAVCycleInASlowSolve)
{
  for (const bool single : {false, true}) {
    for (const KCycleForm form : {KCycleForm::fcg, KCycleForm::gcr}) {
      for (const bool rough : {false, true}) {
        AmgSolver<TypeParam> solver;
        OK(create_on_trial(this->ex, solver, form));
        Cycle<TypeParam> &cycle = solver.cycle;
        const PetscInt levels = cycle.kcycle_levels();
        ASSERT_GT(levels, 0);
        if (single && !cycle.single()) continue;
        const std::vector<double> r = solver.wave(rough ? 3 : 0.1);
        std::vector<double> of_k, of_v;
        OK(solver.apply(this->ex, {CycleKind::k, single}, r, of_k));
        OK(solver.apply(this->ex, {CycleKind::v, single}, r, of_v));
        double by_k = 0, by_v = 0;
        OK(taken(solver.A, of_k, r, form == KCycleForm::gcr, &by_k));
        OK(taken(solver.A, of_v, r, form == KCycleForm::gcr, &by_v));
        const double share = by_v / by_k;
        EXPECT_EQ(cycle.trial().share(), 0); // nothing was compared
        make_slow(solver.cycle);
        int applied = 0;
        for (; cycle.trial().comparing() && applied < 4; applied++) {
          std::vector<double> again;
          OK(solver.apply(this->ex, {CycleKind::v, single}, r, again)); // of another kind: not compared
          OK(solver.apply(this->ex, {CycleKind::k, single}, r, again));
          EXPECT_EQ(again, of_k);
        }
        EXPECT_EQ(applied, share < 0.75 ? 1 : share < 0.85 || share >= 0.95 ? 2 : 4);
        EXPECT_NEAR(cycle.trial().share(), share, 1e-3 * share);
        EXPECT_EQ(cycle.trial().rejected(), rough) << share;
        EXPECT_EQ(cycle.kcycle_levels(), rough ? 0 : levels);
        EXPECT_EQ(cycle.choose(true, false).kind, rough ? CycleKind::v : CycleKind::k);
      }
    }
  }
}

TEST(VisitsOnTrial, GoOnWithoutMemoryForComparisons)
{
  Debug ex;
  AmgSolver<Debug> solver;
  OK(create_on_trial(ex, solver, KCycleForm::fcg));
  const CycleChoice choice{CycleKind::k, false};
  const std::vector<double> r = solver.wave(3);
  std::vector<double> x, y;
  OK(solver.apply(ex, choice, r, x));
  const std::int64_t before = ex.allocations;
  OK(solver.apply(ex, choice, r, x));
  const std::int64_t each = ex.allocations - before;
  make_slow(solver.cycle);
  ASSERT_TRUE(solver.cycle.trial().comparing());
  if (rank_of_world() == 0) ex.fail_at = ex.allocations + each; // the first of a comparison, on one rank
  OK(solver.apply(ex, choice, r, y));
  ex.fail_at = -1;
  EXPECT_EQ(x, y);
  EXPECT_FALSE(solver.cycle.trial().comparing());
  EXPECT_FALSE(solver.cycle.trial().rejected());
  solver.cycle.begin_solve();
  make_slow(solver.cycle);
  while (solver.cycle.trial().comparing()) OK(solver.apply(ex, choice, r, y));
  EXPECT_TRUE(solver.cycle.trial().rejected());
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
