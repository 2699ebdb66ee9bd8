#include "graph/aggregate.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using Aggregate = SpaceTest<Ex>;
TYPED_TEST_SUITE(Aggregate, Spaces, SpaceName);

TYPED_TEST(Aggregate, PairsAreNumberedByTheirSmallerVertex)
{
  auto mate = this->to_space(std::vector<int>{3, -1, 4, 0, 2});
  Aggregation<TypeParam> pairs;
  OK(aggregate_pairs(this->ex, 5, mate.data(), pairs));
  EXPECT_EQ(pairs.coarse, 3);
  EXPECT_EQ(this->to_host(pairs.id), (std::vector<int>{0, 1, 2, 0, 2}));
  EXPECT_EQ(this->to_host(pairs.ptr), (std::vector<int>{0, 2, 3, 5}));
  EXPECT_EQ(this->to_host(pairs.member), (std::vector<int>{0, 3, 1, 2, 4}));
}

// One each joins 0, 3 and 4
TYPED_TEST(Aggregate, VerticesThatJoinComeAfterTheirPair)
{
  auto mate = this->to_space(std::vector<int>{3, -1, 4, 0, 2, join(3), join(0), join(4), left_out});
  auto W = this->to_space(std::vector<double>{1, -5, 2, 3, 2, 3, 9, 1, 7});
  auto p = this->to_space(std::vector<double>(9, NAN)), coarse = this->to_space(std::vector<double>(3, NAN));
  Aggregation<TypeParam> pairs;
  OK(aggregate_pairs(this->ex, 9, mate.data(), pairs));
  EXPECT_EQ(pairs.coarse, 3);
  EXPECT_EQ(this->to_host(pairs.id), (std::vector<int>{0, 1, 2, 0, 2, 0, 0, 2, -1}));
  EXPECT_EQ(this->to_host(pairs.ptr), (std::vector<int>{0, 4, 5, 8}));
  EXPECT_EQ(this->to_host(pairs.member), (std::vector<int>{0, 3, 6, 5, 1, 2, 4, 7}));
  OK(pair_weights(this->ex, pairs, W.data(), p.data(), coarse.data()));
  EXPECT_EQ(this->to_host(p), (std::vector<double>{0.1, -1, 2 / 3., 0.3, 2 / 3., 0.3, 0.9, 1 / 3., 0}));
  const auto w = this->to_host(coarse);
  EXPECT_DOUBLE_EQ(w[0], 10);
  EXPECT_DOUBLE_EQ(w[1], 5);
  EXPECT_DOUBLE_EQ(w[2], 3);
}

TYPED_TEST(Aggregate, WeightsHaveUnitColumnsAndReproduceTheSmoothVector)
{
  const std::vector<double> w = {3, -2, 0, 4, 0};
  auto mate = this->to_space(std::vector<int>{3, -1, 4, 0, 2});
  auto W = this->to_space(w), p = this->to_space(std::vector<double>(5, NAN)), coarse = this->to_space(std::vector<double>(3, NAN));
  Aggregation<TypeParam> pairs;
  OK(aggregate_pairs(this->ex, 5, mate.data(), pairs));
  OK(pair_weights(this->ex, pairs, W.data(), p.data(), coarse.data()));
  EXPECT_EQ(this->to_host(p), (std::vector<double>{0.6, -1, 0, 0.8, 0})); // 3/5, sign, 0/0, 4/5, 0/0
  EXPECT_EQ(this->to_host(coarse), (std::vector<double>{3 * 0.6 + 4 * 0.8, 2, 0}));
}

TYPED_TEST(Aggregate, UncoupledRowsAreLeftOut)
{
  // 0 - 2 coupled, 3 only to another rank, 4 to nothing; row 1 is an identity row of stored zeros that row 0 refers to
  const HostCsr diag = make_csr(
      5, 5, {{{0, 0}, 2}, {{0, 1}, -1}, {{0, 2}, -1}, {{1, 0}, 0}, {{1, 1}, 1}, {{2, 0}, -1}, {{2, 2}, 2}, {{3, 3}, 1}, {{4, 4}, 1}});
  const HostCsr offd = make_csr(5, 2, {{{3, 1}, -1}, {{4, 0}, 0}});
  Csr<double, TypeParam> D, O;
  OK(upload(this->ex, diag, D));
  OK(upload(this->ex, offd, O));
  auto mate = this->to_space(std::vector<int>{2, -1, 0, -1, -1});
  OK(leave_out_uncoupled(this->ex, D.view(), O.view(), 1, mate.data()));
  EXPECT_EQ(this->to_host(mate), (std::vector<int>{2, left_out, 0, -1, left_out}));
  Aggregation<TypeParam> total, step;
  OK(aggregate_pairs(this->ex, 5, mate.data(), total));
  EXPECT_EQ(total.coarse, 2);
  EXPECT_EQ(this->to_host(total.id), (std::vector<int>{0, -1, 0, 1, -1}));
  EXPECT_EQ(this->to_host(total.member), (std::vector<int>{0, 2, 3}));
  auto W = this->to_space(std::vector<double>{3, 1, 4, 1, 1}), p = this->to_space(std::vector<double>(5, NAN)),
       coarse = this->to_space(std::vector<double>(2, NAN));
  OK(pair_weights(this->ex, total, W.data(), p.data(), coarse.data()));
  EXPECT_EQ(this->to_host(p), (std::vector<double>{0.6, 0, 0.8, 1, 0}));
  auto second = this->to_space(std::vector<int>{1, 0});
  auto step_p = this->to_space(std::vector<double>{2, 3});
  OK(aggregate_pairs(this->ex, 2, second.data(), step));
  OK(compose(this->ex, step, step_p.data(), total, p.data()));
  EXPECT_EQ(this->to_host(total.id), (std::vector<int>{0, -1, 0, 0, -1}));
  EXPECT_EQ(this->to_host(total.member), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(this->to_host(p)[4], 0);
}

TYPED_TEST(Aggregate, StepsCompose)
{
  // (0 3) (1) (2 4), then (0 2) (1): aggregates {0 3 2 4} and {1}
  auto first_mate = this->to_space(std::vector<int>{3, -1, 4, 0, 2}), second_mate = this->to_space(std::vector<int>{2, -1, 0});
  auto p = this->to_space(std::vector<double>{1, 2, 3, 4, 5}), step_p = this->to_space(std::vector<double>{10, 100, 1000});
  Aggregation<TypeParam> total, step;
  OK(aggregate_pairs(this->ex, 5, first_mate.data(), total));
  OK(aggregate_pairs(this->ex, 3, second_mate.data(), step));
  OK(compose(this->ex, step, step_p.data(), total, p.data()));
  EXPECT_EQ(total.fine, 5);
  EXPECT_EQ(total.coarse, 2);
  EXPECT_EQ(this->to_host(total.id), (std::vector<int>{0, 1, 0, 0, 0}));
  EXPECT_EQ(this->to_host(total.ptr), (std::vector<int>{0, 4, 5}));
  EXPECT_EQ(this->to_host(total.member), (std::vector<int>{0, 3, 2, 4, 1}));
  EXPECT_EQ(this->to_host(p), (std::vector<double>{10, 200, 3000, 40, 5000}));
}

TYPED_TEST(Aggregate, NothingToAggregate)
{
  Aggregation<TypeParam> none;
  OK(aggregate_pairs(this->ex, 0, static_cast<const int *>(nullptr), none));
  EXPECT_EQ(none.coarse, 0);
  EXPECT_EQ(this->to_host(none.ptr), std::vector<int>{0});
}
} // namespace amgkit::test
