#include "graph/nodes.hpp"

#include "graph/aggregate.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using Nodes = SpaceTest<Ex>;
TYPED_TEST_SUITE(Nodes, Spaces, SpaceName);

TYPED_TEST(Nodes, AreTheNormsOfTheBlocks)
{
  const HostCsr A =
      make_csr(4, 4, {{{0, 0}, 3}, {{0, 1}, 4}, {{0, 3}, -5}, {{1, 1}, 0}, {{2, 2}, 1}, {{2, 0}, 2}, {{3, 1}, -2}, {{3, 3}, 1}});
  Csr<double, TypeParam> M, N;
  HostCsr got;
  OK(upload(this->ex, A, M));
  OK(condense_to_nodes(this->ex, M.view(), 2, N));
  OK(download(this->ex, N, got));
  EXPECT_EQ(got.ptr, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(got.col, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(got.val, (std::vector<double>{5, -5, -std::sqrt(8.0), std::sqrt(2.0)}));
  OK(upload(this->ex, make_csr(0, 0, {}), M));
  OK(condense_to_nodes(this->ex, M.view(), 3, N));
  EXPECT_EQ(N.rows, 0);
}

TYPED_TEST(Nodes, UnknownsFollowTheirNode)
{
  // nodes {0, 3, 4}, {1}, 2 in none; two unknowns each
  auto mate = this->to_space(std::vector<int>{3, -1, left_out, 0, join(3)});
  Aggregation<TypeParam> nodes, unknowns;
  OK(aggregate_pairs(this->ex, 5, mate.data(), nodes));
  OK(expand_to_unknowns(this->ex, nodes, 2, unknowns));
  EXPECT_EQ(unknowns.fine, 10);
  EXPECT_EQ(unknowns.coarse, 4);
  EXPECT_EQ(this->to_host(unknowns.id), (std::vector<int>{0, 1, 2, 3, -1, -1, 0, 1, 0, 1}));
  EXPECT_EQ(this->to_host(unknowns.ptr), (std::vector<int>{0, 3, 6, 7, 8}));
  EXPECT_EQ(this->to_host(unknowns.member), (std::vector<int>{0, 6, 8, 1, 7, 9, 2, 3}));
  OK(aggregate_pairs(this->ex, 0, mate.data(), nodes));
  OK(expand_to_unknowns(this->ex, nodes, 2, unknowns));
  EXPECT_EQ(this->to_host(unknowns.ptr), std::vector<int>{0});
}
} // namespace amgkit::test
