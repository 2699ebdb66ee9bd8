#include "sparse/rows/rearrange.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace amgkit::test
{
template <class Ex> using Rearrange = SpaceTest<Ex>;
TYPED_TEST_SUITE(Rearrange, Spaces, SpaceName);

// Where they are marked, the largest possible key among them, and where they are sorted
TYPED_TEST(Rearrange, NumbersDistinctKeys)
{
  std::mt19937_64 random(7);
  for (const int shift : {0, 3, static_cast<int>(8 * sizeof(PetscInt)) - 8}) {
    const std::uint64_t end = (std::uint64_t{96} << shift) + 1;
    for (const int n : {0, 1, 100, 5000}) {
      std::vector<std::uint64_t> given(static_cast<std::size_t>(n)), distinct;
      for (auto &key : given) key = n == 1 || random() % 5 == 0 ? no_key : (random() % 97) << shift; // one alone is no_key
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
      OK(number_distinct(this->ex, key, end, position.data(), distinct));
      OK(download(this->ex, position.data(), n, got));
      ASSERT_EQ(distinct.size(), expected.size());
      for (const auto &entry : expected) EXPECT_EQ(distinct[static_cast<std::size_t>(entry.second)], entry.first);
      for (std::size_t k = 0; k < given.size(); k++) EXPECT_EQ(got[k], given[k] == no_key ? -1 : expected[given[k]]) << k;
    }
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

// Rows 2, 0 and 2 of three go to two ranks, in pieces that begin at places 0 and 8.
TYPED_TEST(Rearrange, ChosenRowsTravelInPieces)
{
  const HostCsr diag = make_csr(3, 3, {{{0, 1}, 1}, {{1, 0}, 2}, {{2, 0}, 3}, {{2, 2}, 4}});
  const HostCsr offd = make_csr(3, 3, {{{0, 2}, 5}, {{2, 0}, 6}, {{2, 1}, 7}, {{2, 2}, 8}});
  Csr<double, TypeParam> D, O;
  OK(upload(this->ex, diag, D));
  OK(upload(this->ex, offd, O));
  const auto ghost = this->to_space(std::vector<PetscInt>{1, 7, 30});
  const auto row = this->to_space(std::vector<int>{2, 0, 2}), piece = this->to_space(std::vector<int>{0, 1, 3});
  const auto shift = this->to_space(std::vector<std::int64_t>{0, 8 - 5});
  const SplitRows from = {D.view(), O.view(), 10, ghost.data(), 2};
  Array<int, TypeParam> length, ptr;
  std::int64_t entries = 0;
  OK(length.allocate(this->ex, 3));
  OK(ptr.allocate(this->ex, 4));
  OK(row_lengths(this->ex, from, length.data()));
  EXPECT_EQ(this->to_host(length), (std::vector<int>{2, 1, 5}));
  OK(offsets_of_rows(this->ex, 3, row.data(), length.data(), ptr.data(), &entries));
  EXPECT_EQ(this->to_host(ptr), (std::vector<int>{0, 5, 7, 12}));
  EXPECT_EQ(entries, 12);

  const RowMessage message = {3, 2, entries, row.data(), ptr.data(), piece.data(), shift.data()};
  auto columns = this->to_space(std::vector<std::uint64_t>(15, 99)), arrived = this->to_space(std::vector<std::uint64_t>(12, 99));
  auto values = this->to_space(std::vector<double>(15, -1)), val = this->to_space(std::vector<double>(12, -1));
  OK(pack_columns(this->ex, message, from, columns.data()));
  OK(pack_values(this->ex, message, from, values.data()));
  EXPECT_EQ(this->to_host(columns), (std::vector<std::uint64_t>{1, 7, 10, 12, 30, 99, 99, 99, 11, 30, 1, 7, 10, 12, 30}));
  EXPECT_EQ(this->to_host(values), (std::vector<double>{6, 7, 3, 4, 8, -1, -1, -1, 1, 5, 6, 7, 3, 4, 8}));
  OK(unpack(this->ex, message, static_cast<const std::uint64_t *>(columns.data()), arrived.data()));
  OK(unpack(this->ex, message, static_cast<const double *>(values.data()), val.data()));
  EXPECT_EQ(this->to_host(arrived), (std::vector<std::uint64_t>{1, 7, 10, 12, 30, 11, 30, 1, 7, 10, 12, 30}));
  EXPECT_EQ(this->to_host(val), (std::vector<double>{6, 7, 3, 4, 8, 1, 5, 6, 7, 3, 4, 8}));
}

// Own columns 10, 11, 12 between the ghosts 1, 7 and 30: numbers 2, 3, 4 between 0, 1 and 5.
TYPED_TEST(Rearrange, MergedColumnsAscendWithTheGlobalOnes)
{
  const auto global = this->to_space(std::vector<std::uint64_t>{30, 12, 7, 1, 10, 11, 30});
  const GhostedColumns columns = {10, 3, 2};
  Array<std::uint64_t, TypeParam> key;
  std::vector<std::uint64_t> distinct;
  auto position = this->to_space(std::vector<int>(7, -1)), col = this->to_space(std::vector<int>(7, -1));
  OK(key.allocate(this->ex, 7));
  OK(keys_of_ghosts(this->ex, 7, global.data(), columns, key.data()));
  EXPECT_EQ(this->to_host(key), (std::vector<std::uint64_t>{30, no_key, 7, 1, no_key, no_key, 30}));
  OK(number_distinct(this->ex, key, 31, position.data(), distinct));
  EXPECT_EQ(distinct, (std::vector<std::uint64_t>{1, 7, 30}));
  OK(merged_numbers(this->ex, 7, global.data(), position.data(), columns, col.data()));
  EXPECT_EQ(this->to_host(col), (std::vector<int>{5, 4, 1, 0, 2, 3, 5}));
}
} // namespace amgkit::test
