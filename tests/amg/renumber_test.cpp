#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"

#include <numeric>
#include <random>

namespace amgkit::test
{
template <class Ex> using RenumberedRows = SpaceTest<Ex>;
TYPED_TEST_SUITE(RenumberedRows, Spaces, SpaceName);

namespace
{
// A grid in random order; each row coupled to others anywhere, which no order brings together
HostCsr shuffled_grid(int n)
{
  const HostCsr M = grid7(n, n, n);
  std::vector<int> place(M.rows);
  std::mt19937 random(3);
  std::iota(place.begin(), place.end(), 0);
  std::shuffle(place.begin(), place.end(), random);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) entries[{place[i], place[M.col[k]]}] = M.val[k];
  }
  return make_csr(M.rows, M.cols, entries);
}
HostCsr random_graph(int n)
{
  std::map<std::pair<int, int>, double> edges;
  std::mt19937 random(5);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 8; k++) {
      const int j = static_cast<int>(random() % static_cast<unsigned>(n));
      if (i != j) edges[{std::min(i, j), std::max(i, j)}] = 1;
    }
  }
  return from_edges(n, edges, 1);
}
} // namespace

// On one rank and not on a plain host: where the given numbering is bad, and the other one better.
TYPED_TEST(RenumberedRows, AreThoseThatNobodyOrdered)
{
  const bool possible = size_of_world() == 1 && TypeParam::sliced_rows;
  for (const auto &[M, tried, taken] :
       {std::tuple{grid7(14, 14, 14), false, false}, {shuffled_grid(14), true, true}, {random_graph(2500), true, false}}) {
    AmgSolver<TypeParam> solver;
    AmgParameters parameters;
    parameters.rows_worth_renumbering = 0;
    parameters.coarse_eq_limit = 50;
    OK(solver.create(this->ex, M, parameters, *make_matching_prolongation<TypeParam>({})));
    const Numbering &numbering = solver.hierarchy.numbering;
    EXPECT_EQ(numbering.measured, possible);
    EXPECT_EQ(numbering.own > 0, possible && tried);
    EXPECT_EQ(solver.hierarchy.finest.order() != nullptr, possible && taken) << numbering.given << " " << numbering.own;
    std::vector<double> x;
    OK(solver.apply(this->ex, solver.cycle.choose(true, false), solver.wave(0.1), x));
    for (const double x_i : x) ASSERT_TRUE(std::isfinite(x_i));
  }
}
} // namespace amgkit::test
