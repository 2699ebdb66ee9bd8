// The gate's selections of combinations leave no pair of choices out.
#include "support/combinations.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace amgkit::test
{
namespace
{
const std::vector<std::vector<int>> shapes = {{5}, {2, 3}, {1, 4, 1}, {3, 3, 3}, {2, 22, 4, 5}, {2, 11, 4, 2}, {4, 4, 4, 4, 4}, {1, 1}};

std::size_t product(const std::vector<int> &sizes)
{
  std::size_t all = 1;
  for (const int size : sizes) all *= static_cast<std::size_t>(size);
  return all;
}

bool stand_together(const std::vector<Combination> &selection, std::size_t i, int a, std::size_t j, int b)
{
  return std::any_of(selection.begin(), selection.end(), [&](const Combination &c) { return c[i] == a && c[j] == b; });
}
} // namespace

TEST(Combinations, AllAreDistinctAndComplete)
{
  for (const auto &sizes : shapes) {
    const auto all = all_combinations(sizes);
    EXPECT_EQ(all.size(), product(sizes));
    EXPECT_EQ(std::set<Combination>(all.begin(), all.end()).size(), all.size());
  }
}

TEST(Combinations, EveryPairOfChoicesMeets)
{
  for (const auto &sizes : shapes) {
    const auto selection = pairwise_combinations(sizes);
    const auto all = all_combinations(sizes);
    for (const Combination &chosen : selection) EXPECT_NE(std::find(all.begin(), all.end(), chosen), all.end());
    for (std::size_t i = 0; i < sizes.size(); i++) {
      for (std::size_t j = i + 1; j < sizes.size(); j++) {
        for (int a = 0; a < sizes[i]; a++) {
          for (int b = 0; b < sizes[j]; b++) EXPECT_TRUE(stand_together(selection, i, a, j, b)) << i << a << j << b;
        }
      }
    }
  }
}

// 110 is the product of the two largest sizes, 880 that of all.
TEST(Combinations, AreFew) { EXPECT_LE(pairwise_combinations({2, 22, 4, 5}).size(), 125U); }
} // namespace amgkit::test
