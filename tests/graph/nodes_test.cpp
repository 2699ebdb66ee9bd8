#include "graph/nodes.hpp"

#include "graph/aggregate.hpp"
#include "support/gallery.hpp"
#include "support/prolongator_entries.hpp"
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

// By complete blocks, and by entries where one is missing.
TYPED_TEST(Nodes, AreThoseOfTheLargestAndTheSmallestNumbers)
{
  const double large = 1.7e308, small = 5e-324;
  const auto block = [](Entries &all, int I, int J, const std::vector<double> &of) {
    for (int c = 0; c < 4; c++) all[{2 * I + c / 2, 2 * J + c % 2}] = of[static_cast<std::size_t>(c)];
  };
  Entries entries;
  block(entries, 0, 0, {large, 0, small, 1});
  block(entries, 0, 1, {small, small, small, small});
  block(entries, 1, 0, {0, small, 0, 0});
  block(entries, 1, 1, {3e-310, 0, 0, 4e-310});
  block(entries, 2, 2, {0, 0, 0, 0});
  for (const bool complete : {true, false}) {
    Csr<double, TypeParam> M, N;
    HostCsr got;
    if (!complete) entries.erase({4, 4});
    OK(upload(this->ex, make_csr(6, 6, entries), M));
    OK(condense_to_nodes(this->ex, M.view(), 2, N));
    OK(download(this->ex, N, got));
    EXPECT_EQ(got.col, (std::vector<int>{0, 1, 0, 1, 2}));
    EXPECT_EQ(got.val[0], large);
    EXPECT_EQ(got.val[1], -2 * small);
    EXPECT_EQ(got.val[2], -small);
    EXPECT_NEAR(got.val[3] / 5e-310, 1, 1e-12);
    EXPECT_EQ(got.val[4], 0);
  }
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
