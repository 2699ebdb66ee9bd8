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

// Processes that have their part in the space, and others that have it on the host, in any order.
TYPED_TEST(StagedCopiesTest, PartsInTheSpaceDoNotSeeTheHost)
{
  const auto rank = static_cast<std::size_t>(rank_of_world()), size = static_cast<std::size_t>(size_of_world());
  const std::vector<std::int64_t> sizes = {70001, 0, 1, 30000};
  std::vector<std::int64_t> mine(size), before(size + 1, 0);
  for (std::size_t r = 0; r < size; r++) mine[r] = sizes[r % sizes.size()];
  std::partial_sum(mine.begin(), mine.end(), before.begin() + 1);
  const std::int64_t first = before[rank], count = mine[rank], all = before.back();
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double), at = static_cast<std::size_t>(first) * sizeof(double);
  Array<double, TypeParam> own, values;
  StagedCopies copies;
  std::string why_not;
  const bool is_head = rank == size - 1;
  OK(copies.create(PETSC_COMM_WORLD, static_cast<int>(size) - 1, TypeParam::on_device));
  OK(copies.in_space().reserve(2 * bytes, true, &why_not));
  if (TypeParam::on_device && !why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_EQ(why_not, "");
  OK(values.allocate(this->ex, is_head ? 2 * all : 0));
  for (std::size_t round = 0; round < 6; round++) {
    const bool in_space = (round + rank) % 3 != 0;
    std::vector<double> given(static_cast<std::size_t>(count)), back(given.size(), NAN);
    for (std::int64_t k = 0; k < count; k++) given[k] = 0.5 * static_cast<double>(first + k) + static_cast<double>(round);
    OK(upload(this->ex, given, own));
    OK(copies.to_head(is_head ? &this->ex : nullptr, {values.data(), values.data() + all}, [&](StagedCopies::Giver &giver) {
      for (std::size_t array : {0, 1}) {
        giver.begin<double>(array, first);
        if (in_space)
          giver.put_in_space(this->ex, array * bytes, own.data(), count);
        else
          giver.put<double>(count, [&](std::int64_t k) { return given[k]; });
      }
    }));
    if (is_head) {
      const std::vector<double> got = this->to_host(values);
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < 2 * all; k++) wrong += got[k] != 0.5 * static_cast<double>(k % all) + static_cast<double>(round);
      EXPECT_EQ(wrong, 0) << round;
    }
    OK(memory_zero(this->ex, own.data(), bytes));
    if (in_space) {
      OK(copies.from_head_in_space(is_head ? &this->ex : nullptr, this->ex, values.data() + all, own.data(), at, bytes));
      back = this->to_host(own);
    } else {
      OK(copies.from_head(is_head ? &this->ex : nullptr, values.data() + all, back.data(), at, bytes));
    }
    EXPECT_EQ(back, given) << round;
  }
}

// Where one process has nothing there, or may not, none has a part, and all know why; a part grows, and what was reserved stays.
TYPED_TEST(StagedCopiesTest, AllHaveAPartInTheSpaceOrNone)
{
  const auto rank = static_cast<std::size_t>(rank_of_world()), size = static_cast<std::size_t>(size_of_world());
  GroupBuffer buffer;
  std::string why_not;
  buffer.create(PETSC_COMM_WORLD, 0, TypeParam::on_device);
  for (std::size_t one = 0; one < size; one++) {
    OK(buffer.reserve(100, rank != one, &why_not));
    EXPECT_NE(why_not, "");
    EXPECT_FALSE(static_cast<bool>(buffer));
    if (rank == one) {
      OK(PetscOptionsSetValue(nullptr, "-amgkit_cuda_ipc", "no"));
    }
    OK(buffer.reserve(100, true, &why_not));
    EXPECT_EQ(why_not, "-amgkit_cuda_ipc no");
    EXPECT_FALSE(static_cast<bool>(buffer));
    if (rank == one) {
      OK(PetscOptionsClearValue(nullptr, "-amgkit_cuda_ipc"));
    }
  }
  OK(buffer.reserve(rank == 0 ? 1000 : 10, true, &why_not));
  if (TypeParam::on_device && !why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_EQ(why_not, "");
  OK(buffer.reserve(rank == 0 ? 10 : 1000, true, &why_not));
  EXPECT_EQ(why_not, "");
  for (std::size_t r = 0; r + 1 < size; r++) EXPECT_GE(buffer.part(static_cast<int>(r) + 1) - buffer.part(static_cast<int>(r)), 1000);
  if (TypeParam::on_device) return;
  // more than there is: all do without from here on
  OK(buffer.reserve(rank == size - 1 ? std::size_t{1} << 45 : 10, true, &why_not));
  EXPECT_NE(why_not.find("/dev/shm"), std::string::npos) << why_not;
  EXPECT_FALSE(static_cast<bool>(buffer));
  OK(buffer.reserve(10, true, &why_not));
  EXPECT_NE(why_not, "");
}
} // namespace amgkit::test
