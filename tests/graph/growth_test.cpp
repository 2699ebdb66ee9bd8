#include "graph/growth.hpp"

#include "support/distributed_graph.hpp"
#include "support/failing_graph.hpp"
#include "support/unstructured.hpp"

namespace amgkit::test
{
template <class Ex> using Growth = SpaceTest<Ex>;
TYPED_TEST_SUITE(Growth, Spaces, SpaceName);

namespace
{
template <class Ex> void growth_into(Ex &ex, const HostCsr &A, PetscInt local_rows, double *growth, RankRanges *range)
{
  DistributedGraph<Ex> problem;
  OK(problem.create(ex, A, local_rows));
  OK(problem.mark_couplings(ex));
  OK(ball_growth(ex, problem.G, growth));
  *range = *problem.G.range;
}
template <class Ex> double growth_of(Ex &ex, const HostCsr &A, PetscInt local_rows = -1)
{
  double growth = -1;
  RankRanges range;
  growth_into(ex, A, local_rows, &growth, &range);
  return growth;
}

// By the balls of all vertices whose neighbours are their rank's
double by_all_balls(const Neighbours &S, const RankRanges &range)
{
  double first = 0, second = 0;
  for (std::size_t r = 0; r + 1 < range.size(); r++) {
    const auto begin = static_cast<int>(range[r]), end = static_cast<int>(range[r + 1]);
    for (int i = begin; i < end; i++) {
      const auto is_own = [=](int j) { return begin <= j && j < end; };
      if (S[i].empty() || !std::all_of(S[i].begin(), S[i].end(), is_own)) continue;
      first += static_cast<double>(reach_of(S, i, 1).size());
      second += static_cast<double>(reach_of(S, i, 2).size());
    }
  }
  return first > 0 ? second / first : 0;
}
} // namespace

// Up to 512 vertices a rank all count. The size of their second balls is estimated, so 2 % are allowed.
TYPED_TEST(Growth, IsTheFormula)
{
  for (const HostCsr &A : {grid7(500, 1, 1), grid7(22, 21, 1), grid7(8, 8, 7), grid27(8), random_graph(500, 1500, 3),
                           random_graph(500, 300, 4), random_graph(450, 1300, 5, false)}) {
    const Neighbours S = neighbours_of(A);
    for (const PetscInt local_rows : layouts(A.rows)) {
      RankRanges range;
      double growth = -1;
      growth_into(this->ex, A, local_rows, &growth, &range);
      const double expected = by_all_balls(S, range);
      EXPECT_NEAR(growth, expected, 2e-2 * expected) << A.rows;
    }
  }
}

// A sample knows 2D from 3D, with one coupling to a neighbour as with many, in any order of the rows.
TYPED_TEST(Growth, Is3In2DAtMost)
{
  for (const HostCsr &A : {grid7(20000, 1, 1), grid7(200, 150, 1), delaunay_laplacian(20000)}) {
    EXPECT_LT(growth_of(this->ex, A), 3);
    EXPECT_GT(growth_of(this->ex, A), 1.6);
  }
  for (const HostCsr &A : {grid7(12, 12, 12), grid7(32, 32, 32), grid27(20), tetrahedra_laplacian(16, 0.1)}) {
    EXPECT_GT(growth_of(this->ex, A), 3.1);
    EXPECT_LT(growth_of(this->ex, A), 5.0);
  }
}

TYPED_TEST(Growth, IsTheSameInEverySpace)
{
  Host host;
  for (const HostCsr &A : {grid7(70, 60, 1), grid7(20, 19, 18), random_graph(5000, 20000, 7)}) {
    EXPECT_EQ(growth_of(this->ex, A), growth_of(host, A));
  }
}

// Cliques do not grow. The balls of a star's 5000 leaves have it whole, of which 2048 are seen. Its centre has too many neighbours to
// count. Where nothing counts, it is 0.
TYPED_TEST(Growth, OfExtremes)
{
  Neighbours clique(40), star(5001);
  for (int i = 0; i < 40; i++) {
    for (int j = 0; j < 40; j++) {
      if (i != j) clique[i].push_back(j);
    }
  }
  for (int i = 1; i <= 5000; i++) {
    star[0].push_back(i);
    star[i].push_back(0);
  }
  const int last = rank_of_world() == size_of_world() - 1;
  EXPECT_NEAR(growth_of(this->ex, matrix_of(clique), last ? 40 : 0), 1, 2e-2);
  const double of_star = growth_of(this->ex, matrix_of(star), last ? 5001 : 0);
  EXPECT_GT(of_star, 500);
  EXPECT_LT(of_star, 5001);
  EXPECT_EQ(growth_of(this->ex, matrix_of(Neighbours(300))), 0);
  Neighbours dense(700);
  for (int i = 0; i < 700; i++) {
    for (int j = 0; j < 700; j++) {
      if (i != j) dense[i].push_back(j);
    }
  }
  EXPECT_EQ(growth_of(this->ex, matrix_of(dense), last ? 700 : 0), 0);
}

using GrowthFailure = FailingGraph;
// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST_F(GrowthFailure, EveryAllocationMayFailOnOneRank)
{
  for (bool more = true; more;) {
    double growth;
    more = failing.run(ex, [&] { return ball_growth(ex, graph(), &growth); });
  }
  EXPECT_EQ(failing.failures(), 1);
}
} // namespace amgkit::test
