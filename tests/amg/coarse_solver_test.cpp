// What solves a coarsest level that has too many rows for the dense solver.
#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"

#include <array>
#include <cmath>

namespace amgkit::test
{
template <class Ex> using CoarseSolverTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(CoarseSolverTest, Spaces, SpaceName);

namespace
{
template <class Ex> struct Solver : AmgSolver<Ex> {
  PetscErrorCode create(Ex &ex, const HostCsr &M, const AmgParameters &p)
  {
    return AmgSolver<Ex>::create(ex, M, p, *make_matching_prolongation<Ex>({}));
  }
  PetscErrorCode apply(Ex &ex, const std::vector<double> &b, std::vector<double> &x)
  {
    return AmgSolver<Ex>::apply(ex, {CycleKind::v, false}, b, x);
  }
  std::string description() const { return this->hierarchy.coarse_solver.description(); }
};

AmgParameters one_level()
{
  AmgParameters parameters;
  parameters.max_levels = parameters.coarse_eq_limit = 1;
  parameters.rows_worth_single = PETSC_MAX_INT;
  return parameters;
}

bool is_polynomial(const std::string &description) { return description.find("a polynomial of degree") == 0; }

// The part of e that B leaves, in the norm of A: |e - B A e|_A / |e|_A
template <class Ex> void measure_left(Ex &ex, Solver<Ex> &solver, const std::vector<double> &e, double *left)
{
  Vec E, AE, X, AX;
  std::vector<double> b, x;
  const PetscScalar *entries;
  PetscScalar before, after;

  OK(MatCreateVecs(solver.A, &E, &AE));
  OK(MatCreateVecs(solver.A, &X, &AX));
  for (int i = 0; i < solver.rows(); i++) OK(VecSetValue(E, solver.first() + i, e[i], INSERT_VALUES));
  OK(VecAssemblyBegin(E));
  OK(VecAssemblyEnd(E));
  OK(MatMult(solver.A, E, AE));
  OK(VecGetArrayRead(AE, &entries));
  b.assign(entries, entries + solver.rows());
  OK(VecRestoreArrayRead(AE, &entries));
  OK(solver.apply(ex, b, x));
  for (int i = 0; i < solver.rows(); i++) OK(VecSetValue(X, solver.first() + i, e[i] - x[i], INSERT_VALUES));
  OK(VecAssemblyBegin(X));
  OK(VecAssemblyEnd(X));
  OK(MatMult(solver.A, X, AX));
  OK(VecDot(E, AE, &before));
  OK(VecDot(X, AX, &after));
  for (Vec *v : {&E, &AE, &X, &AX}) OK(VecDestroy(v));
  *left = std::sqrt(after / before);
}
template <class Ex> double left_of(Ex &ex, Solver<Ex> &solver, const std::vector<double> &e)
{
  double left = HUGE_VAL;
  measure_left(ex, solver, e, &left);
  return left;
}
} // namespace

// The sine is the smoothest vector, the other one is rough.
TYPED_TEST(CoarseSolverTest, LeavesAFifthOfEveryError)
{
  for (SmootherKind smoother : {SmootherKind::chebyshev, SmootherKind::jacobi, SmootherKind::l1jacobi, SmootherKind::ilu0}) {
    Solver<TypeParam> solver;
    AmgParameters parameters = one_level();
    parameters.smoother = smoother;
    const int n = 9;
    OK(solver.create(this->ex, grid7(n, n, n), parameters));
    EXPECT_TRUE(is_polynomial(solver.description())) << solver.description();
    EXPECT_NE(solver.description().find("729 rows are too many"), std::string::npos);
    std::vector<double> smooth;
    for (PetscInt i = solver.first(); i < solver.first() + solver.rows(); i++) {
      const double h = std::acos(-1.0) / (n + 1);
      smooth.push_back(std::sin(h * (1 + i % n)) * std::sin(h * (1 + i / n % n)) * std::sin(h * (1 + i / (n * n))));
    }
    EXPECT_LE(left_of(this->ex, solver, smooth), 0.21);
    EXPECT_LE(left_of(this->ex, solver, solver.wave(0.7)), 0.21);
  }
}

TYPED_TEST(CoarseSolverTest, SweepsWereTheUsersChoice)
{
  Solver<TypeParam> solver;
  AmgParameters parameters = one_level();
  parameters.coarse_solver = CoarseKind::smoother;
  parameters.coarse_sweeps = 7;
  OK(solver.create(this->ex, grid7(6, 5, 4), parameters));
  EXPECT_EQ(solver.description(), "7 sweeps of the smoother");
}

// Rows without couplings are solved as exactly as their entries are stored, also by D of sums.
TYPED_TEST(CoarseSolverTest, SolvesRowsWithoutCouplings)
{
  std::map<std::pair<int, int>, double> path;
  for (int i = 0; i + 1 < 30; i++) path[{i, i + 1}] = 1;
  HostCsr A = from_edges(40, path); // 30, ..., 39 are alone
  for (SmootherKind smoother : {SmootherKind::chebyshev, SmootherKind::l1jacobi}) {
    Solver<TypeParam> solver;
    AmgParameters parameters = one_level();
    parameters.smoother = smoother;
    std::vector<double> x;
    OK(solver.create(this->ex, A, parameters));
    EXPECT_TRUE(is_polynomial(solver.description())) << solver.description();
    OK(solver.apply(this->ex, std::vector<double>(solver.rows(), 1.0), x));
    for (int i = 0; i < solver.rows(); i++) {
      if (solver.first() + i >= 30) {
        EXPECT_NEAR(x[i] * A.at(39, 39), 1, 1e-6);
      }
    }
  }
}

// One path, whose constants are known, and two, of which no vector tells.
TYPED_TEST(CoarseSolverTest, SolvesWhatSingularMatricesLetItSolve)
{
  for (int parts : {1, 2}) {
    std::map<std::pair<int, int>, double> edges;
    for (int part = 0; part < parts; part++) {
      for (int i = 0; i + 1 < 20; i++) edges[{20 * part + i, 20 * part + i + 1}] = 1;
    }
    Solver<TypeParam> solver;
    OK(solver.create(this->ex, from_edges(20 * parts, edges, 0), one_level()));
    EXPECT_TRUE(is_polynomial(solver.description())) << solver.description();
    std::vector<double> smooth;
    for (PetscInt i = solver.first(); i < solver.first() + solver.rows(); i++)
      smooth.push_back(std::cos(std::acos(-1.0) * (static_cast<double>(i % 20) + 0.5) / 20));
    EXPECT_LE(left_of(this->ex, solver, smooth), 0.25);
  }
}

TYPED_TEST(CoarseSolverTest, SweepsWhereThereIsNoPolynomial)
{
  const HostCsr indefinite = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 3}, {{1, 0}, 3}, {{1, 1}, 1}});
  for (const HostCsr &A : {random_graph(50, 120, 3, false), indefinite}) {
    Solver<TypeParam> solver;
    OK(solver.create(this->ex, A, one_level()));
    EXPECT_EQ(solver.description().find("20 sweeps of the smoother, as the"), 0U) << solver.description();
  }
}

TYPED_TEST(CoarseSolverTest, IsSymmetricAndItsOwnTranspose)
{
  Solver<TypeParam> solver;
  AmgParameters parameters;
  parameters.coarse_eq_limit = 4;
  parameters.max_levels = 2;
  OK(solver.create(this->ex, grid7(9, 8, 7, 1, 10, 0.1), parameters));
  if (rank_of_world() == 0) { // it may hold the level alone
    EXPECT_TRUE(is_polynomial(solver.description())) << solver.description();
    EXPECT_NE(solver.description().find("max_levels allows no more levels"), std::string::npos);
  }
  const auto u = solver.wave(0.7), v = solver.wave(1.3);
  std::vector<double> Bu, Bv, transposed;
  OK(solver.apply(this->ex, u, Bu));
  OK(solver.apply(this->ex, v, Bv));
  OK(solver.apply_transposed(this->ex, CycleKind::v, u, transposed));
  std::array<double, 2> sums = {0, 0};
  for (std::size_t i = 0; i < u.size(); i++) {
    sums[0] += v[i] * Bu[i];
    sums[1] += u[i] * Bv[i];
    EXPECT_NEAR(transposed[i], Bu[i], 1e-7);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  EXPECT_NEAR(sums[0], sums[1], 1e-7 * std::abs(sums[0]));
}

// The degree follows new values: a shift of the diagonal makes the condition number small.
TYPED_TEST(CoarseSolverTest, FollowsNewValues)
{
  Solver<TypeParam> solver;
  bool fits = false;
  OK(solver.create(this->ex, grid7(12, 12, 12), one_level()));
  const std::string before = solver.description();
  OK(MatShift(solver.A, 6));
  OK(solver.refresh(this->ex, &fits));
  EXPECT_TRUE(fits);
  EXPECT_NE(solver.description(), before);
  EXPECT_LE(left_of(this->ex, solver, solver.wave(0.01)), 0.21);
}

TYPED_TEST(CoarseSolverTest, SaysWhyCoarseningEnded)
{
  std::map<std::pair<int, int>, double> above; // no entry below the diagonal: nothing matches
  for (int i = 0; i < 50; i++) above[{i, i}] = 4;
  for (int i = 0; i < 49; i++) above[{i, i + 1}] = -1;
  AmgParameters parameters;
  parameters.coarse_eq_limit = 4;
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, make_csr(50, 50, above), parameters));
  EXPECT_NE(solver.description().find("the next level would keep more than 80 % of them"), std::string::npos) << solver.description();
  EXPECT_FALSE(solver.hierarchy.ended_early().empty());

  Solver<TypeParam> diagonal;
  OK(diagonal.create(this->ex, make_csr(6, 6, {{{0, 0}, 1}, {{1, 1}, 2}, {{2, 2}, 3}, {{3, 3}, 4}, {{4, 4}, 5}, {{5, 5}, 6}}), parameters));
  EXPECT_NE(diagonal.description().find("degree 1, "), std::string::npos) << diagonal.description();
  EXPECT_NE(diagonal.description().find("no row is strongly coupled to others"), std::string::npos) << diagonal.description();
}

// By choice a dense solver takes more rows than coarsening ends with on a CPU, and on a GPU more than the user's matrix may have
// uncoarsened. Of 10600 rows 600 have no entry below the diagonal, and of 1200 none: nothing matches these.
TYPED_TEST(CoarseSolverTest, ALevelAtWhichCoarseningEndsEarlyIsSolvedDirectly)
{
  constexpr int n = 100, grid = n * n, apart = 600;
  HostCsr of_grid = grid7(n, n, 1);
  std::map<std::pair<int, int>, double> entries, ring;
  for (int i = 0; i < grid; i++) {
    for (int k = of_grid.ptr[i]; k < of_grid.ptr[i + 1]; k++) entries[{i, of_grid.col[k]}] = of_grid.val[k];
  }
  for (int i = grid; i < grid + apart; i++) {
    entries[{i, i}] = 4;
    if (i + 1 < grid + apart) entries[{i, i + 1}] = -1;
  }
  Solver<TypeParam> solver;
  OK(solver.create(this->ex, make_csr(grid + apart, grid + apart, entries), {}));
  if (solver.hierarchy.levels.size() == solver.hierarchy.statistics.size()) { // this rank has a share in the coarsest one
    EXPECT_EQ(solver.description(), DenseSolver<TypeParam>::name);
  }
  const auto &levels = solver.hierarchy.statistics;
  ASSERT_GE(levels.size(), 2);
  EXPECT_GE(levels.back().rows, apart);
  EXPECT_LE(levels.back().rows, 1000);
  std::vector<double> x;
  OK(solver.apply(this->ex, std::vector<double>(solver.rows(), 1), x));
  for (double entry : x) EXPECT_TRUE(std::isfinite(entry));

  for (int i = 0; i < 1200; i++) { // A 1 = 0
    ring[{i, i}] = 1;
    ring[{i, (i + 1) % 1200}] = -1;
  }
  Solver<TypeParam> singular;
  OK(singular.create(this->ex, make_csr(1200, 1200, ring), {}));
  EXPECT_EQ(singular.hierarchy.statistics.size(), 1);
  constexpr bool dense = !TypeParam::one_by_one; // 1200 rows
  EXPECT_EQ(singular.description().find("was made nonsingular") != std::string::npos, dense) << singular.description();
}
} // namespace amgkit::test
