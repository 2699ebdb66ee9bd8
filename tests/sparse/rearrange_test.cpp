#include "sparse/rearrange.hpp"

#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace amgkit::test
{
template <class Ex> using Rearrange = SpaceTest<Ex>;
TYPED_TEST_SUITE(Rearrange, Spaces, SpaceName);

TYPED_TEST(Rearrange, NumbersDistinctKeys)
{
  std::mt19937_64 random(7);
  for (const int n : {0, 1, 100, 5000}) {
    std::vector<std::uint64_t> given(static_cast<std::size_t>(n)), distinct;
    for (auto &key : given) key = random() % 5 == 0 ? no_key : (random() % 97) << 40;
    std::map<std::uint64_t, int> expected;
    for (const auto key : given) {
      if (key != no_key) expected[key] = 0;
    }
    int count = 0;
    for (auto &entry : expected) entry.second = count++;

    Array<std::uint64_t, TypeParam> key;
    Array<int, TypeParam> position;
    std::vector<int> got;
    OK(upload(this->ex, given, key));
    OK(position.allocate(this->ex, n));
    OK(number_distinct(this->ex, key, position.data(), distinct));
    OK(download(this->ex, position.data(), n, got));
    ASSERT_EQ(distinct.size(), expected.size());
    for (const auto &entry : expected) EXPECT_EQ(distinct[static_cast<std::size_t>(entry.second)], entry.first);
    for (std::size_t k = 0; k < given.size(); k++) EXPECT_EQ(got[k], given[k] == no_key ? -1 : expected[given[k]]) << k;
  }
}

// Pieces of 3, 0, 5, 0, 2: the first, the last and those in between may be empty.
TYPED_TEST(Rearrange, FindsThePieceOfAPlace)
{
  const std::vector<int> begin = {0, 0, 3, 3, 8, 10, 10};
  const int pieces = static_cast<int>(begin.size()) - 1, rows = begin.back(), most = 5;
  Array<int, TypeParam> begins, slot, row, id;
  Array<std::uint64_t, TypeParam> bases, key;
  std::vector<int> slots, places, ids(static_cast<std::size_t>(rows), 4);
  std::vector<std::uint64_t> keys;
  ids[5] = -1;
  OK(upload(this->ex, begin, begins));
  OK(upload(this->ex, {100, 200, 300, 400, std::uint64_t{5} << 33, 600}, bases));
  OK(upload(this->ex, ids, id));
  OK(slot.allocate(this->ex, rows));
  OK(row.allocate(this->ex, std::int64_t{pieces} * most));
  OK(key.allocate(this->ex, rows));
  OK(places_in_pieces(this->ex, pieces, most, begins.data(), slot, row));
  OK(keys_of_pieces(this->ex, pieces, begins.data(), bases.data(), id.data(), key));
  OK(download(this->ex, slot.data(), slot.size(), slots));
  OK(download(this->ex, row.data(), row.size(), places));
  OK(download(this->ex, key.data(), key.size(), keys));
  EXPECT_EQ(slots, (std::vector<int>{5, 6, 7, 15, 16, 17, 18, 19, 20, 21}));
  const std::uint64_t b = 204, d = 404, e = (std::uint64_t{5} << 33) + 4;
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{b, b, b, d, d, no_key, d, d, e, e}));
  std::vector<int> expected(static_cast<std::size_t>(pieces * most), 0);
  for (int i = 0; i < rows; i++) expected[static_cast<std::size_t>(slots[static_cast<std::size_t>(i)])] = i;
  EXPECT_EQ(places, expected);
}
} // namespace amgkit::test
