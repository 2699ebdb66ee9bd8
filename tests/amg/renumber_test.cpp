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
// M ⊗ B, B = I but for 0.05 off the diagonal
HostCsr with_blocks(const HostCsr &M, int bs)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
      for (int c = 0; c < bs; c++) {
        for (int d = 0; d < bs; d++) entries[{bs * i + c, bs * M.col[k] + d}] = c == d ? M.val[k] : 0.05 * M.val[k];
      }
    }
  }
  return make_csr(bs * M.rows, bs * M.cols, entries);
}

// One matrix a rank, all of them coupled
HostCsr joined(const std::vector<HostCsr> &parts)
{
  std::map<std::pair<int, int>, double> entries;
  int rows = 0;
  for (const HostCsr &part : parts) {
    for (int i = 0; i < part.rows; i++) {
      for (int k = part.ptr[i]; k < part.ptr[i + 1]; k++) entries[{rows + i, rows + part.col[k]}] = part.val[k];
    }
    for (int i = 0; rows > 0 && i < std::min(part.rows, 100); i++) entries[{rows + i, 3 * i}] = entries[{3 * i, rows + i}] = -0.01;
    rows += part.rows;
  }
  return make_csr(rows, rows, entries);
}
} // namespace

// Not on a plain host: where the given numbering of a rank's rows is bad, and the other one better. With blocks where it is asked for, as
// nodes.
TYPED_TEST(RenumberedRows, AreThoseThatNobodyOrdered)
{
  const int possible = TypeParam::sliced_rows ? size_of_world() : 0;
  for (const auto &[M, bad, taken] :
       {std::tuple{grid7(14, 14, 14), false, false}, {shuffled_grid(14), true, true}, {random_graph(2500), true, false}}) {
    for (const int bs : {1, 3}) {
      AmgSolver<TypeParam> solver;
      AmgParameters parameters;
      parameters.rows_worth_renumbering = 0;
      parameters.coarse_eq_limit = 50;
      const bool asked_for = bs > 1;
      if (asked_for) parameters.renumber = Renumber::yes;
      const HostCsr parts = joined(std::vector<HostCsr>(static_cast<std::size_t>(size_of_world()), M));
      OK(solver.create(this->ex, bs > 1 ? with_blocks(parts, bs) : parts, parameters, *make_matching_prolongation<TypeParam>({}), bs,
                       bs * M.rows));
      const Numbering &numbering = solver.hierarchy.numbering;
      EXPECT_EQ(numbering.measured, possible);
      EXPECT_EQ(numbering.given > 0.75, possible > 0 && bad) << numbering.given;
      EXPECT_EQ(numbering.taken, taken || asked_for ? possible : 0) << numbering.given << " " << numbering.own;
      EXPECT_EQ(solver.hierarchy.finest.order() != nullptr, possible > 0 && (taken || asked_for));
      EXPECT_EQ(solver.hierarchy.finest.reordered(), possible > 0 && (taken || asked_for));
      std::vector<double> x;
      OK(solver.apply(this->ex, solver.cycle.choose(true, false), solver.wave(0.1), x));
      for (const double x_i : x) ASSERT_TRUE(std::isfinite(x_i));
    }
  }
}

TYPED_TEST(RenumberedRows, AreNotThoseOfBlocksUnlessAskedFor)
{
  AmgSolver<TypeParam> solver;
  AmgParameters parameters;
  parameters.rows_worth_renumbering = 0;
  parameters.coarse_eq_limit = 50;
  OK(solver.create(this->ex, with_blocks(shuffled_grid(12), 2), parameters, *make_matching_prolongation<TypeParam>({}), 2));
  EXPECT_EQ(solver.hierarchy.numbering.measured, 0);
  EXPECT_FALSE(solver.hierarchy.finest.reordered());
}

// Each rank for itself: those with few rows, those without, and those that somebody ordered keep the user's order.
TYPED_TEST(RenumberedRows, AreChosenRankByRank)
{
  const bool possible = TypeParam::sliced_rows;
  const int size = size_of_world(), rank = rank_of_world();
  std::vector<HostCsr> parts;
  for (int r = 0; r + 1 < size; r++) parts.push_back(r == 0 ? random_graph(400) : r == 1 ? HostCsr{} : grid7(12, 12, 12));
  parts.push_back(shuffled_grid(12));
  AmgSolver<TypeParam> solver;
  AmgParameters parameters;
  parameters.rows_worth_renumbering = 1000;
  parameters.coarse_eq_limit = 50;
  OK(solver.create(this->ex, joined(parts), parameters, *make_matching_prolongation<TypeParam>({}), 1, parts[rank].rows));
  EXPECT_EQ(solver.hierarchy.numbering.taken, possible ? 1 : 0);
  EXPECT_EQ(solver.hierarchy.numbering.measured, possible ? std::max(size - 2, 1) : 0);
  EXPECT_EQ(solver.hierarchy.finest.order() != nullptr, possible && rank == size - 1);
  EXPECT_EQ(solver.hierarchy.finest.reordered(), possible);
  std::vector<double> x;
  OK(solver.apply(this->ex, solver.cycle.choose(true, false), solver.wave(0.1), x));
  for (const double x_i : x) ASSERT_TRUE(std::isfinite(x_i));
}
} // namespace amgkit::test
