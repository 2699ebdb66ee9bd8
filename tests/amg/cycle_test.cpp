#include "amg/cycle.hpp"

#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
template <class Ex> using CycleTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(CycleTest, Spaces, SpaceName);

namespace
{
const char *name_of(CycleKind kind)
{
  switch (kind) {
  case CycleKind::automatic:
    return "auto";
  case CycleKind::v:
    return "v";
  case CycleKind::w:
    return "w";
  case CycleKind::f:
    return "f";
  case CycleKind::k:
    return "k";
  }
  return "";
}

template <class Ex> struct Solver : AmgSolver<Ex> {
  using AmgSolver<Ex>::A, AmgSolver<Ex>::parameters, AmgSolver<Ex>::rows;
  bool single = false; // precision of the vectors

  PetscErrorCode create(Ex &ex, const HostCsr &M, const AmgParameters &p, const MatchingParameters &matching = {})
  {
    return AmgSolver<Ex>::create(ex, M, p, *make_matching_prolongation<Ex>(matching));
  }
  CycleKind kind() const { return this->cycle.choose(false, false).kind; }
  PetscErrorCode apply(Ex &ex, const std::vector<double> &b, std::vector<double> &x)
  {
    return AmgSolver<Ex>::apply(ex, {kind(), single}, b, x);
  }
  PetscErrorCode apply_transposed(Ex &ex, const std::vector<double> &b, std::vector<double> &x)
  {
    return AmgSolver<Ex>::apply_transposed(ex, kind(), b, x);
  }
  // (|r_k| / |r_0|)^(1/k) of the iteration x <- x + B (b - A x)
  PetscErrorCode stationary_rate(Ex &ex, int steps, double *rate)
  {
    Vec b, r, x;
    PetscReal before, after;

    PetscFunctionBegin;
    PetscCall(make_system(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecNorm(b, NORM_2, &before));
    for (int k = 0; k <= steps; k++) {
      std::vector<double> residual, correction;
      const PetscScalar *entries;
      PetscScalar *to;
      PetscCall(MatMult(A, x, r));
      PetscCall(VecAYPX(r, -1, b));
      PetscCall(VecGetArrayRead(r, &entries));
      residual.assign(entries, entries + rows());
      PetscCall(VecRestoreArrayRead(r, &entries));
      if (k == steps) break;
      PetscCall(apply(ex, residual, correction));
      PetscCall(VecGetArray(x, &to));
      for (int i = 0; i < rows(); i++) to[i] += correction[i];
      PetscCall(VecRestoreArray(x, &to));
    }
    PetscCall(VecNorm(r, NORM_2, &after));
    *rate = std::pow(after / before, 1.0 / steps);
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

AmgParameters several_levels(CycleKind cycle, SmootherKind smoother, PetscInt process_eq_limit)
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 20;
  parameters.process_eq_limit = process_eq_limit;
  parameters.cycle_type = cycle;
  parameters.smoother = smoother;
  return parameters;
}

// A x = b, on this rank's rows
template <class Ex> void expect_solution(const Solver<Ex> &solver, const std::vector<double> &b, const std::vector<double> &x)
{
  Vec X, R;
  const PetscScalar *entries;

  OK(MatCreateVecs(solver.A, &X, &R));
  for (int i = 0; i < solver.rows(); i++) OK(VecSetValue(X, solver.first() + i, x[i], INSERT_VALUES));
  OK(VecAssemblyBegin(X));
  OK(VecAssemblyEnd(X));
  OK(MatMult(solver.A, X, R));
  OK(VecGetArrayRead(R, &entries));
  for (int i = 0; i < solver.rows(); i++) EXPECT_NEAR(entries[i], b[i], 1e-12);
  OK(VecRestoreArrayRead(R, &entries));
  OK(VecDestroy(&X));
  OK(VecDestroy(&R));
}
} // namespace

TYPED_TEST(CycleTest, IsASymmetricPositiveOperatorForEverySmoother)
{
  std::vector<SmootherKind> smoothers = {SmootherKind::l1jacobi, SmootherKind::jacobi, SmootherKind::chebyshev, SmootherKind::ilu0};
  if (GaussSeidel<TypeParam>::available) smoothers.push_back(SmootherKind::gauss_seidel);
  for (CycleKind cycle : {CycleKind::v, CycleKind::w}) {
    for (SmootherKind smoother : smoothers) {
      for (PetscInt sweeps : {1, 2}) {
        Solver<TypeParam> solver;
        AmgParameters parameters;
        parameters.coarse_eq_limit = 20;
        parameters.cycle_type = cycle;
        parameters.smoother = smoother;
        parameters.smoother_sweeps = sweeps;
        OK(solver.create(this->ex, grid7(9, 8, 7, 1, 1, 0.1), parameters));
        ASSERT_GT(solver.hierarchy.statistics.size(), 1U);
        const auto u = solver.wave(0.3), v = solver.wave(1.1);
        std::vector<double> Bu, Bv;
        OK(solver.apply(this->ex, u, Bu));
        OK(solver.apply(this->ex, v, Bv));
        EXPECT_NEAR(dot(Bu, v), dot(u, Bv), 1e-12 * std::abs(dot(Bu, u)));
        EXPECT_GT(dot(Bu, u), 0);
        EXPECT_GT(dot(Bv, v), 0);
      }
    }
  }
}

// Steps before and after in every mixture, also none on one side, and every parity of the two arrays' exchange: with a post sweep
// more the error gets smaller, and the result is where it belongs.
TYPED_TEST(CycleTest, ConvergesWithAnySweepsBeforeAndAfter)
{
  for (CycleKind cycle : {CycleKind::v, CycleKind::w, CycleKind::f, CycleKind::k}) {
    for (PetscInt degree : {-1, 0, 1, 2, 3}) { // -1: Gauss-Seidel, 0: incomplete factors
      if (degree < 0 && !GaussSeidel<TypeParam>::available) continue;
      for (auto [before, after] : {std::pair{0, 1}, {1, 0}, {1, 1}, {2, 1}, {0, 3}}) {
        Solver<TypeParam> solver;
        AmgParameters parameters;
        parameters.coarse_eq_limit = 20;
        parameters.cycle_type = cycle;
        parameters.smoother = degree < 0 ? SmootherKind::gauss_seidel : degree == 0 ? SmootherKind::ilu0 : SmootherKind::chebyshev;
        parameters.chebyshev_degree = std::max<PetscInt>(degree, 0);
        parameters.pre_sweeps = before;
        parameters.post_sweeps = after;
        OK(solver.create(this->ex, grid7(7, 7, 7), parameters));
        double rate = 0;
        OK(solver.stationary_rate(this->ex, 5, &rate));
        EXPECT_LT(rate, cycle == CycleKind::v ? 0.9 : 0.85) << name_of(cycle) << " " << degree << " " << before << " " << after;
      }
    }
  }
}

// Blocks of m rows, all of whose entries are 0.9 but for the diagonal's, 1: rho is 1 + 0.9 (m - 1). A chain of weak couplings keeps rows
// from being left out. These rows are tied, which is another test's matter.
HostCsr blocks_of_ones(int m)
{
  std::map<std::pair<int, int>, double> entries;
  const int n = 40 * m;
  for (int i = 0; i < n; i++) {
    for (int j = i - i % m; j < i - i % m + m; j++) entries[{i, j}] = i == j ? 1 : 0.9;
    if (i + m < n) entries[{i, i + m}] = entries[{i + m, i}] = -0.01;
  }
  return make_csr(n, n, entries);
}

TYPED_TEST(CycleTest, ChoosesTheDegreeByTheSpectralRadius)
{
  for (auto [m, degree] : {std::pair{2, 1}, {3, 2}, {5, 2}, {9, 3}, {40, 3}}) {
    for (PetscInt least : {1, 2}) {
      for (PetscInt fixed : {0, 1, 4}) {
        Solver<TypeParam> solver;
        AmgParameters parameters;
        parameters.coarse_eq_limit = 30;
        parameters.least_degree = least;
        parameters.smoother = SmootherKind::chebyshev;
        parameters.chebyshev_degree = fixed;
        parameters.smooth_tied_rows = PETSC_FALSE;
        OK(solver.create(this->ex, blocks_of_ones(m), parameters));
        const Smoother<TypeParam> &smoother = solver.hierarchy.levels.front()->smoother;
        const PetscInt expected = fixed > 0 ? fixed : std::max<PetscInt>(degree, least);
        EXPECT_EQ(smoother.flips(1, Guess::given), expected) << m << ", rho " << smoother.spectral_radius();
        const bool raised = fixed == 0 && expected > least;
        EXPECT_EQ(smoother.remark().find("chebyshev of degree " + std::to_string(expected)) == 0, raised) << smoother.remark();
        EXPECT_EQ(smoother.remark().empty(), !raised);
      }
    }
  }
}

// New values make rho 1.9 in place of 2.8, and then again what it was, with recorded cycles in between.
TYPED_TEST(CycleTest, NewValuesChangeTheDegree)
{
  for (CycleKind cycle : {CycleKind::v, CycleKind::k}) {
    Solver<TypeParam> solver;
    AmgParameters parameters;
    std::vector<double> first, other, again;
    bool fits = false;
    parameters.coarse_eq_limit = 20;
    parameters.cycle_type = cycle;
    parameters.smoother = SmootherKind::chebyshev;
    OK(solver.create(this->ex, blocks_of_ones(3), parameters));
    const Smoother<TypeParam> &smoother = solver.hierarchy.levels.front()->smoother;
    EXPECT_EQ(smoother.flips(1, Guess::given), 2);
    OK(solver.apply(this->ex, solver.wave(0.7), first));
    OK(MatShift(solver.A, 1));
    OK(solver.refresh(this->ex, &fits));
    ASSERT_TRUE(fits);
    EXPECT_EQ(smoother.flips(1, Guess::given), 1);
    double rate = 1;
    OK(solver.stationary_rate(this->ex, 5, &rate));
    EXPECT_LT(rate, 0.6);
    OK(MatShift(solver.A, -1));
    OK(solver.refresh(this->ex, &fits));
    ASSERT_TRUE(fits);
    EXPECT_EQ(smoother.flips(1, Guess::given), 2);
    OK(solver.apply(this->ex, solver.wave(0.7), again));
    for (std::size_t i = 0; i < first.size(); i++) EXPECT_NEAR(again[i], first[i], 1e-9);
  }
}

// <Bu, v> = <u, Bᵀv> where A is not symmetric, nor its pattern, the sweeps differ, and coarse levels are held by fewer ranks.
TYPED_TEST(CycleTest, TransposedIsTheTranspose)
{
  const HostCsr A = one_sided(grid7(11, 10, 9));
  for (CycleKind cycle : {CycleKind::v, CycleKind::w, CycleKind::f}) {
    for (SmootherKind smoother : {SmootherKind::chebyshev, SmootherKind::ilu0, SmootherKind::gauss_seidel}) {
      if (smoother == SmootherKind::gauss_seidel && !GaussSeidel<TypeParam>::available) continue;
      for (PetscInt limit : {1, 60}) {
        Solver<TypeParam> solver;
        AmgParameters parameters = several_levels(cycle, smoother, limit);
        parameters.chebyshev_degree = 2;
        parameters.pre_sweeps = limit == 1 ? 0 : 2;
        parameters.storage = Storage::in_double;
        OK(solver.create(this->ex, A, parameters));
        const auto u = solver.wave(0.3), v = solver.wave(1.1);
        std::vector<double> Bu, Btv;
        OK(solver.apply(this->ex, u, Bu));
        for (int repeat = 0; repeat < 2; repeat++) {
          OK(solver.apply_transposed(this->ex, v, Btv));
          const double one = dot(Bu, v), other = dot(u, Btv), size = std::sqrt(dot(Bu, Bu) * dot(v, v));
          EXPECT_NEAR(one, other, 1e-12 * size);
          bool fits = false;
          OK(solver.refresh(this->ex, &fits)); // transposes are made anew then
          EXPECT_TRUE(fits);
        }
      }
    }
  }
}

// Coarse levels on fewer ranks: other aggregates, the same quality; and the first rank has a share of every level.
TYPED_TEST(CycleTest, ConvergesWithCoarseLevelsOnFewerRanks)
{
  for (PetscInt limit : {1, 200, 100000}) {
    Solver<TypeParam> solver;
    AmgParameters parameters;
    parameters.coarse_eq_limit = 20;
    parameters.process_eq_limit = limit;
    OK(solver.create(this->ex, grid7(14, 13, 12), parameters));
    double rate = 0;
    OK(solver.stationary_rate(this->ex, 5, &rate));
    EXPECT_LT(rate, 0.7) << limit;
    const auto &statistics = solver.hierarchy.statistics;
    ASSERT_GE(statistics.size(), 3U);
    EXPECT_EQ(statistics.back().active_ranks, 1);
    for (std::size_t l = 1; l < statistics.size(); l++) {
      const PetscInt wanted = std::min<PetscInt>((statistics[l].rows - 1) / limit + 1, size_of_world());
      EXPECT_LE(statistics[l].active_ranks, limit == 1 ? size_of_world() : std::max<PetscInt>(2 * wanted, 1)) << l;
    }
    if (rank_of_world() == 0) {
      EXPECT_EQ(solver.hierarchy.levels.size(), statistics.size());
    }
  }
}

TYPED_TEST(CycleTest, OnlyVCyclesBelowManyEntriesAreNotRecorded)
{
  const HostCsr A = grid7(14, 13, 12);
  for (CycleKind cycle : {CycleKind::v, CycleKind::w, CycleKind::k}) {
    for (bool many : {false, true}) {
      Solver<TypeParam> solver;
      AmgParameters parameters;
      std::vector<double> x;
      parameters.coarse_eq_limit = 20;
      parameters.cycle_type = cycle;
      parameters.entries_recorded = many ? A.ptr.back() / (size_of_world() + 1) : A.ptr.back();
      OK(solver.create(this->ex, A, parameters));
      OK(solver.apply(this->ex, solver.wave(0.7), x));
      const bool recorded = cycle != CycleKind::v || !many;
      if (!recorded) {
        EXPECT_FALSE(solver.cycle.recorded());
      }
      if (size_of_world() > 1) continue; // where it depends on the ranks which levels are
      EXPECT_EQ(solver.cycle.first_recorded(), recorded ? 1 : solver.hierarchy.levels.size());
      EXPECT_EQ(solver.cycle.recorded(), recorded && TypeParam::on_device);
    }
  }
}

// The recorded cycle is the cycle, also on a second play with another right-hand side. deep: on several ranks one holds the third coarse
// level alone, beyond the last that w, f and k act on.
TYPED_TEST(CycleTest, RecordingChangesNothing)
{
  for (auto [single, smoother] : {std::pair{false, SmootherKind::chebyshev}, {true, SmootherKind::chebyshev}, {true, SmootherKind::ilu0}}) {
    for (bool deep : {false, true}) {
      for (CycleKind cycle : {CycleKind::v, CycleKind::w, CycleKind::f, CycleKind::k}) {
        Solver<TypeParam> plain, recorded;
        AmgParameters parameters;
        parameters.smoother = smoother;
        parameters.coarse_eq_limit = 10;
        parameters.cycle_type = cycle;
        parameters.kcycle_levels = deep ? 1 : 3;
        parameters.process_eq_limit = deep ? 60 : 0;
        parameters.rows_recorded = deep ? 100 : 300000; // on one rank: below the first or second coarse level
        const HostCsr A = grid7(14, 13, 12);
        MatchingParameters four_rows; // an aggregate: for more levels
        four_rows.matching_steps = 2;
        OK(recorded.create(this->ex, A, parameters, four_rows));
        parameters.cuda_graph = PETSC_FALSE;
        OK(plain.create(this->ex, A, parameters, four_rows));
        ASSERT_EQ(plain.cycle.single(), TypeParam::sliced_rows);
        plain.single = recorded.single = single && TypeParam::sliced_rows;
        for (double step : {0.7, 0.2, 1.9}) {
          std::vector<double> x, y;
          OK(plain.apply(this->ex, plain.wave(step), x));
          OK(recorded.apply(this->ex, plain.wave(step), y));
          EXPECT_EQ(x, y) << deep << " " << name_of(cycle);
        }
        EXPECT_FALSE(plain.cycle.recorded());
        Peers *peers;
        OK(peers_of(this->ex, PETSC_COMM_WORLD, &peers));
        if (peers) continue; // levels that several GPUs share may be recorded, too
        const auto &levels = recorded.hierarchy.levels;
        std::size_t first = 1;
        for (int size = 0; first < levels.size(); first++) {
          MPI_Comm_size(levels[first]->A.comm, &size);
          if (size == 1 && (levels[first]->A.rows <= parameters.rows_recorded || !levels[first]->transfer)) break;
        }
        EXPECT_EQ(recorded.cycle.first_recorded(), first);
        if (rank_of_world() == 0) {
          // others may have the finest level alone; on GPUs all coarse levels of a small problem are on one rank, unless a limit says
          // otherwise
          EXPECT_EQ(first > 1, deep || (size_of_world() > 1 && !TypeParam::on_device));
        }
        EXPECT_EQ(recorded.cycle.recorded(), TypeParam::on_device && rank_of_world() == 0);
        if (deep && size_of_world() > 1 && rank_of_world() == 0) {
          EXPECT_EQ(recorded.cycle.recorded_choice(), (CycleChoice{CycleKind::v, recorded.single}));
        }
      }
    }
  }
}

// With vectors of floats the cycle is the same to their rounding, whatever the right-hand side's size, also with levels on fewer ranks.
TYPED_TEST(CycleTest, InSinglePrecisionIsTheSameToRounding)
{
  if (!TypeParam::sliced_rows) return; // its matrices are not stored in single precision
  for (PetscInt limit : {1, 100000}) {
    for (CycleKind cycle : {CycleKind::v, CycleKind::w, CycleKind::f, CycleKind::k}) {
      for (auto [sweeps, smoother] :
           {std::pair{1, SmootherKind::chebyshev}, {2, SmootherKind::chebyshev}, {1, SmootherKind::ilu0}, {2, SmootherKind::ilu0}}) {
        Solver<TypeParam> solver;
        AmgParameters parameters = several_levels(cycle, smoother, limit);
        parameters.smoother_sweeps = sweeps;
        OK(solver.create(this->ex, grid7(14, 13, 12, 1, 1, 0.1), parameters));
        ASSERT_TRUE(solver.cycle.single());
        std::vector<double> b = solver.wave(0.7), in_double, in_single;
        OK(solver.apply(this->ex, b, in_double));
        solver.single = true;
        OK(solver.apply(this->ex, b, in_single));
        std::vector<double> difference = in_double;
        for (std::size_t i = 0; i < difference.size(); i++) difference[i] -= in_single[i];
        EXPECT_LE(std::sqrt(dot(difference, difference)), 1e-5 * std::sqrt(dot(in_double, in_double))) << name_of(cycle);
        EXPECT_GT(dot(difference, difference), 0);
        for (double factor : {std::ldexp(1.0, -900), 0.5, std::ldexp(1.0, 900)}) {
          std::vector<double> scaled = b, x;
          for (double &entry : scaled) entry *= factor;
          OK(solver.apply(this->ex, scaled, x));
          for (double &entry : x) entry /= factor;
          EXPECT_EQ(x, in_single) << factor;
        }
        std::vector<double> x, zero(b.size(), 0.0);
        OK(solver.apply(this->ex, zero, x));
        EXPECT_EQ(x, zero);
        if (!b.empty()) b[0] = NAN;
        OK(solver.apply(this->ex, b, x));
        EXPECT_TRUE(std::isnan(dot(x, x)));
      }
    }
  }
}

// Double precision where floats would lose something: by the matrix's size, by an entry of one rank, by option, or an exact solution.
TYPED_TEST(CycleTest, SinglePrecisionIsNotForEveryMatrix)
{
  auto allowed = [&](const HostCsr &A, bool in_double, PetscInt limit) {
    Solver<TypeParam> solver;
    AmgParameters parameters;
    parameters.coarse_eq_limit = limit;
    if (in_double) parameters.storage = Storage::in_double;
    EXPECT_EQ(static_cast<int>(solver.create(this->ex, A, parameters)), 0);
    std::vector<double> x;
    EXPECT_EQ(static_cast<int>(solver.apply(this->ex, solver.wave(0.7), x)), 0);
    EXPECT_TRUE(std::isfinite(dot(x, x)));
    return solver.cycle.single();
  };
  const HostCsr A = grid7(9, 8, 7);
  HostCsr tiny = A, huge = A, one_entry = A;
  for (double &entry : tiny.val) entry *= 1e-20;
  for (double &entry : huge.val) entry *= 1e20;
  one_entry.val[0] = 1e19; // the first diagonal entry
  EXPECT_EQ(allowed(A, false, 20), TypeParam::sliced_rows);
  EXPECT_FALSE(allowed(A, true, 20));
  EXPECT_FALSE(allowed(A, false, 1000)); // one level
  EXPECT_FALSE(allowed(tiny, false, 20));
  EXPECT_FALSE(allowed(huge, false, 20));
  EXPECT_FALSE(allowed(one_entry, false, 20));
  HostCsr far_off = one_sided(A); // a coupling that leads to another rank, where there are several
  for (int k = far_off.ptr[0]; k < far_off.ptr[1]; k++)
    if (far_off.col[k] != 0) far_off.val[k] = -1e19;
  EXPECT_FALSE(allowed(far_off, false, 20));
}

// With the exact solver one level below, two K-steps on the coarse problem change nothing: FCG and GCR stop after the first.
TYPED_TEST(CycleTest, KrylovStepsOnAnExactlySolvedProblemAreOne)
{
  for (KCycleForm form : {KCycleForm::fcg, KCycleForm::gcr}) {
    std::vector<double> x[2];
    for (CycleKind cycle : {CycleKind::v, CycleKind::k}) {
      Solver<TypeParam> solver;
      AmgParameters parameters;
      parameters.max_levels = 2;
      parameters.cycle_type = cycle;
      parameters.kcycle_form = form;
      OK(solver.create(this->ex, grid7(11, 11, 11), parameters));
      ASSERT_EQ(solver.hierarchy.statistics.size(), 2U);
      OK(solver.apply(this->ex, solver.wave(0.7), x[cycle == CycleKind::k]));
    }
    for (std::size_t i = 0; i < x[0].size(); i++) ASSERT_NEAR(x[0][i], x[1][i], 1e-13);
  }
}

TYPED_TEST(CycleTest, OneLevelIsExact)
{
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, grid7(6, 5, 4), {}));
  ASSERT_EQ(solver.hierarchy.statistics.size(), 1U);
  std::vector<double> b(solver.rows(), 1.0), x;
  OK(solver.apply(this->ex, b, x));
  expect_solution(solver, b, x);
}

TYPED_TEST(CycleTest, DenseLimitFallsBackToTheSmoother)
{
  Solver<TypeParam> solver;
  AmgParameters parameters;
  parameters.coarse_solver = CoarseKind::smoother;
  OK(solver.create(this->ex, grid7(6, 5, 4), parameters));
  EXPECT_EQ(solver.hierarchy.coarse_solver.description(), "20 sweeps of the smoother");
  std::vector<double> b(solver.rows(), 1.0), x;
  OK(solver.apply(this->ex, b, x));
  EXPECT_GT(dot(b, x), 0);
}

// Pure Neumann: the constant is in the null space. The rest is solved, and nothing becomes NaN.
TYPED_TEST(CycleTest, SolvesWhatASingularMatrixLetsItSolve)
{
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, from_edges(6, {{{0, 1}, 1}, {{1, 2}, 3}, {{2, 3}, 1}, {{3, 4}, 0.5}, {{4, 5}, 1}}, 0), {}));
  EXPECT_NE(solver.hierarchy.coarse_solver.description().find("made nonsingular"), std::string::npos);
  const std::vector<double> all = {1, -2, 3, 0, -1, -1}; // sums to 0
  std::vector<double> b, x;
  for (int i = 0; i < solver.rows(); i++) b.push_back(all[solver.first() + i]);
  OK(solver.apply(this->ex, b, x));
  expect_solution(solver, b, x);
}

// Two Neumann problems that do not touch: the smooth vector does not tell them apart, so the smoother takes over.
TYPED_TEST(CycleTest, SmoothsWhereTheCoarsestMatrixIsSingularInAnotherWay)
{
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, from_edges(6, {{{0, 1}, 1}, {{1, 2}, 3}, {{3, 4}, 0.5}, {{4, 5}, 1}}, 0), {}));
  EXPECT_NE(solver.hierarchy.coarse_solver.description().find("as the matrix is singular"), std::string::npos);
  std::vector<double> x;
  OK(solver.apply(this->ex, solver.wave(0.7), x));
  for (double entry : x) EXPECT_TRUE(std::isfinite(entry));
}
} // namespace amgkit::test
