#include "dist/staged_copies.hpp"

#include "support/petsc_problems.hpp"

#include <numeric>

namespace amgkit::test
{
template <class Ex> using StagedCopiesTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(StagedCopiesTest, Spaces, SpaceName);

// Parts of no, of one and of many pieces, one copy after the other.
TYPED_TEST(StagedCopiesTest, EveryProcessGivesAndTakesItsPart)
{
  const auto rank = static_cast<std::size_t>(rank_of_world()), size = static_cast<std::size_t>(size_of_world());
  const std::vector<std::int64_t> sizes = {700001, 0, 1, 300000};
  std::vector<std::int64_t> mine(size), before(size + 1, 0);
  for (std::size_t r = 0; r < size; r++) mine[r] = sizes[r % sizes.size()];
  std::partial_sum(mine.begin(), mine.end(), before.begin() + 1);
  const std::int64_t first = before[rank], count = mine[rank], all = before.back();
  for (std::size_t head = 0; head < size; head++) {
    const bool is_head = head == rank;
    Array<int, TypeParam> numbers;
    Array<double, TypeParam> values;
    StagedCopies copies;
    OK(copies.create(PETSC_COMM_WORLD, static_cast<int>(head), TypeParam::on_device));
    OK(numbers.allocate(this->ex, is_head ? all : 0));
    OK(values.allocate(this->ex, is_head ? all : 0));
    for (int round = 1; round <= 3; round++) {
      OK(copies.to_head(is_head ? &this->ex : nullptr, {numbers.data(), values.data()}, [&](StagedCopies::Giver &giver) {
        giver.begin<int>(0, first);
        giver.put<int>(count / 2, [&](std::int64_t k) { return round * static_cast<int>(first + k); });
        giver.put<int>(count - count / 2, [&](std::int64_t k) { return round * static_cast<int>(first + count / 2 + k); });
        giver.begin<double>(1, first);
        giver.put<double>(count, [&](std::int64_t k) { return 0.5 * static_cast<double>(round * (first + k)); });
      }));
      if (is_head) {
        const std::vector<int> got_numbers = this->to_host(numbers);
        const std::vector<double> got_values = this->to_host(values);
        std::int64_t wrong = 0;
        for (std::int64_t k = 0; k < all; k++)
          wrong += got_numbers[k] != round * k || got_values[k] != 0.5 * static_cast<double>(round * k);
        EXPECT_EQ(wrong, 0);
      }
      std::vector<double> back(static_cast<std::size_t>(count), NAN);
      OK(copies.from_head(is_head ? &this->ex : nullptr, values.data(), back.data(), static_cast<std::size_t>(first) * sizeof(double),
                          back.size() * sizeof(double)));
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < count; k++) wrong += back[k] != 0.5 * static_cast<double>(round * (first + k));
      EXPECT_EQ(wrong, 0);
    }
  }
}
} // namespace amgkit::test
