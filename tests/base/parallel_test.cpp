#include "base/parallel_checks.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <type_traits>

namespace amgkit::test
{
template <class Ex> using Parallel = SpaceTest<Ex>;
TYPED_TEST_SUITE(Parallel, Spaces, SpaceName);

constexpr std::int64_t sizes[] = {0, 1, 31, 32, 33, 1000, 4096, 4097, 8191, 8192, 100003}; // a block of a GPU selects 4096, scans 8191

// f(an integral constant) for 4 lanes or 32
template <class F> PetscErrorCode with_lanes(int lanes, F f)
{
  return lanes == 4 ? f(std::integral_constant<int, 4>{}) : f(std::integral_constant<int, 32>{});
}

TYPED_TEST(Parallel, ForEachVisitsEveryIndexOnce)
{
  for (auto n : sizes) {
    auto out = this->to_space(std::vector<int>(n, -1));
    OK(check_for_each(this->ex, n, out.data()));
    const auto got = this->to_host(out);
    for (std::int64_t i = 0; i < n; i++) ASSERT_EQ(got[i], 3 * i);
  }
}

TYPED_TEST(Parallel, TeamsCombineOverTheirLanes)
{
  constexpr int n = 200;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(5 * n, 0));
    OK(with_lanes(lanes, [&](auto count) { return check_team<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    for (int i = 0; i < n; i++) {
      ASSERT_EQ(got[5 * i], i * (i - 1) / 2);
      ASSERT_EQ(got[5 * i + 1], i - 1);
      ASSERT_EQ(got[5 * i + 2], i > 7);
      ASSERT_EQ(got[5 * i + 3], i > 0 ? 0 : 1000000);
      ASSERT_EQ(got[5 * i + 4], 1);
    }
  }
}

TYPED_TEST(Parallel, SumInOrderSumsInOrder)
{
  constexpr int n = 150;
  for (int positions : {2, 12, 40}) {
    for (int lanes : {8, 32}) {
      auto out = this->to_space(std::vector<double>(sums_in_order * n, -1));
      if (lanes == 8)
        OK(check_sum_in_order<8>(this->ex, n, positions, out.data()));
      else
        OK(check_sum_in_order<32>(this->ex, n, positions, out.data()));
      const auto got = this->to_host(out);
      for (int i = 0; i < n; i++) {
        double expected[sums_in_order] = {};
        for (int k = 0; k < i; k++) {
          if (k % 7 != 5) expected[k % 80 < 60 ? k % positions : 1] += 1.0 / (1 + k * k % 97);
        }
        for (int t = 0; t < positions; t++)
          ASSERT_EQ(got[sums_in_order * i + t], expected[t]) << positions << " positions, " << lanes << " lanes, " << i << " terms";
      }
    }
  }
}

TYPED_TEST(Parallel, OrderedSumAddsInOrder)
{
  constexpr int n = 150;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<double>(n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_ordered_sum<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    double expected = 0;
    for (int i = 0; i < n; i++) {
      ASSERT_EQ(got[i], expected) << lanes << " lanes, " << i << " terms";
      const int k = 3 + i;
      expected += 1.0 / (1 + k * k % 97);
    }
  }
}

TYPED_TEST(Parallel, EntriesInOrderSeeTheRowsBefore)
{
  constexpr int n = 150, places = entries_in_order;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(places * n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_entries_in_order<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    std::vector<int> x(places, 0);
    for (int i = 0; i < n; i++) {
      for (int q = 0; q < 13 * i % places; q++) {
        int &at = x[(q + i) % places];
        at = (3 * at + i) % 1000003;
      }
      for (int p = 0; p < places; p++) ASSERT_EQ(got[places * i + p], x[p]) << lanes << " lanes, " << i << " rows";
    }
  }
}

TYPED_TEST(Parallel, EntriesAreUsedOnce)
{
  constexpr int n = 20;
  for (int lanes : {4, 32}) {
    std::vector<EntriesBy> all = {{}, {.few = true}};
    for (int by = 1; by <= lanes; by *= 2) all.push_back({.lanes = by});
    for (const EntriesBy &by : all) {
      auto out = this->to_space(std::vector<int>(entries_in_rows * n, 0));
      OK(with_lanes(lanes, [&](auto count) { return check_entries<decltype(count)::value>(this->ex, n, by, out.data()); }));
      const auto got = this->to_host(out);
      for (int i = 0; i < n; i++) {
        std::vector<int> expected(entries_in_rows, 0);
        for (int r = 0; r < i; r++) {
          for (int q = 0; q < 13 * r % 7 * 11; q++) expected[100 * r + q] = 100 * r + q + r + 1;
        }
        for (int k = 0; k < entries_in_rows; k++)
          ASSERT_EQ(got[entries_in_rows * i + k], expected[k])
              << lanes << " lanes, " << i << " rows, few " << by.few << ", by " << by.lanes;
      }
    }
  }
}

TYPED_TEST(Parallel, EntriesAreNumberedOverAllRows)
{
  constexpr int n = 20;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(numbered_entries * n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_numbered_entries<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    for (int i = 0; i < n; i++) {
      std::vector<int> expected;
      for (int r = 1; r <= i; r++) {
        for (int q = 0; q < 13 * r % entries_in_order; q++) expected.push_back(100 * r + q);
      }
      expected.resize(numbered_entries, -1);
      for (int t = 0; t < numbered_entries; t++)
        ASSERT_EQ(got[numbered_entries * i + t], expected[t]) << lanes << " lanes, " << i << " rows";
    }
  }
}

TYPED_TEST(Parallel, LanesWorkAlone)
{
  constexpr int n = 30;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(2 * single_lanes * n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_single_lanes<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    for (int q = 0; q < single_lanes; q++) {
      for (int i = 0, x = q, sum = 0; i < n; i++) {
        const int *mine = &got[2 * (single_lanes * i + q)];
        ASSERT_EQ(mine[0], x) << lanes << " lanes, " << i << " rows, " << q;
        ASSERT_EQ(mine[1], sum) << lanes << " lanes, " << i << " rows, " << q;
        for (int k = q; k < q + (i + 1 + q) % 4; k++) {
          x = (3 * x + i + 1) % 1000003;
          sum += k;
        }
      }
    }
  }
}

TYPED_TEST(Parallel, ChosenAreNumberedInOrder)
{
  constexpr int n = 300;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(n * n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_chosen<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    std::vector<int> chosen;
    for (int i = 0; i < n; i++) {
      const int count = static_cast<int>(chosen.size());
      for (int t = 0; t < n; t++) ASSERT_EQ(got[n * i + t], t < count ? chosen[t] : t == count ? -2 : -1) << lanes << " lanes, " << i;
      if ((3 + i) % 5 == 1 || (3 + i) % 5 == 3) chosen.push_back(3 + i);
    }
  }
}

TYPED_TEST(Parallel, ForSortedNumbersInOrder)
{
  constexpr int n = 200;
  for (int lanes : {4, 32}) {
    auto out = this->to_space(std::vector<int>(n * n, -1));
    OK(with_lanes(lanes, [&](auto count) { return check_sorted<decltype(count)::value>(this->ex, n, out.data()); }));
    const auto got = this->to_host(out);
    std::vector<int> sorted;
    for (int i = 0; i < n; i++) {
      for (int t = 0; t < i; t++) ASSERT_EQ(got[n * i + t], sorted[t]) << lanes << " lanes, " << i << " numbers";
      sorted.push_back(7 * i % n - 3);
      std::sort(sorted.begin(), sorted.end());
    }
  }
}

TYPED_TEST(Parallel, ForSortedByKeepsTheOrderOfEqualOnes)
{
  constexpr int n = 200;
  for (int lanes : {4, 32}) {
    for (int keys : {1, 2, 31, 33, 200}) {
      auto out = this->to_space(std::vector<int>(n * n, -1));
      OK(with_lanes(lanes, [&](auto count) { return check_sorted_by<decltype(count)::value>(this->ex, n, keys, out.data()); }));
      const auto got = this->to_host(out);
      std::vector<int> sorted; // by key, then by place
      for (int i = 0; i < n; i++) {
        for (int t = 0; t < i; t++) ASSERT_EQ(got[n * i + t], sorted[t]) << lanes << " lanes, " << i << " of " << keys << " keys";
        sorted.push_back(n * (7 * i * i % keys) + i);
        std::sort(sorted.begin(), sorted.end());
      }
    }
  }
}

// Also in fewer rows than there are at once, and in more parts than there may be for small ones
TYPED_TEST(Parallel, ManyRowsAreEachTakenOnce)
{
  for (const std::int64_t n : {0, 1, 7, 8, 127, 129, 2047, 2048, 5003, 1000003}) {
    std::vector<double> x(n), expected(n);
    for (std::int64_t i = 0; i < n; i++) {
      x[i] = static_cast<double>(i % 1000);
      expected[i] = 2 * x[i] + static_cast<double>(i);
    }
    auto in = this->to_space(x), out = this->to_space(std::vector<double>(n, -1)), sums = this->to_space(std::vector<double>(2, -1)),
         work = this->to_space(std::vector<double>(2 * sum_parts_of(n), -1));
    OK(check_many(this->ex, n, in.data(), out.data(), work.data(), sums.data()));
    ASSERT_EQ(this->to_host(out), expected) << n;
    ASSERT_EQ(this->to_host(sums), (std::vector<double>{std::accumulate(x.begin(), x.end(), 0.0), static_cast<double>(n)})) << n;
  }
}

TYPED_TEST(Parallel, ForEachReadUsesWhatItReads)
{
  for (std::int64_t n : {0, 1, 31, 255, 256, 257, 1023, 1024, 1025, 5000, 400000}) {
    std::vector<double> before(static_cast<std::size_t>(n)), expected = before;
    double sum = 0;
    for (std::size_t i = 0; i < before.size(); i++) {
      before[i] = static_cast<double>(i % 97);
      const double then = 2 * before[i] + 5 + static_cast<double>(i);
      expected[i] = then + 5;
      sum += then;
    }
    auto x = this->to_space(before), given = this->to_space(std::vector<double>{5}), sums = this->to_space(std::vector<double>(2, NAN)),
         work = this->to_space(std::vector<double>(static_cast<std::size_t>(2 * sum_parts_of(n)), NAN));
    OK(check_reads(this->ex, n, given.data(), x.data(), work.data(), sums.data()));
    ASSERT_EQ(this->to_host(x), expected) << n;
    ASSERT_EQ(this->to_host(sums), (std::vector<double>{sum, static_cast<double>(n)})) << n;
  }
}

TYPED_TEST(Parallel, SumRowsIntoSumsOnceATeam)
{
  for (std::int64_t n : {0, 1, 31, 32, 33, 1000, 4096, 100000}) {
    for (int lanes = 1; lanes <= 32; lanes *= 2) {
      auto out = this->to_space(std::vector<double>(static_cast<std::size_t>(n), NAN)), sums = this->to_space(std::vector<double>(2, NAN)),
           work = this->to_space(std::vector<double>(static_cast<std::size_t>(2 * sum_parts_of(32 * n)), NAN));
      OK(check_sums_of_rows(this->ex, n, lanes, out.data(), work.data(), sums.data()));
      double expected = 0;
      const std::vector<double> got = this->to_host(out);
      for (std::int64_t i = 0; i < n; i++) {
        expected += static_cast<double>(i % 7);
        ASSERT_EQ(got[static_cast<std::size_t>(i)], 3 * static_cast<double>(i)) << n << ' ' << lanes;
      }
      ASSERT_EQ(this->to_host(sums), (std::vector<double>{expected, static_cast<double>(n)})) << n << ' ' << lanes;
    }
  }
}

TYPED_TEST(Parallel, SumsManyTogether)
{
  const auto expect_sums = [&]<int N>(std::integral_constant<int, N>, std::int64_t n) {
    auto work = this->to_space(std::vector<double>(static_cast<std::size_t>(N * sum_parts_of(n)), NAN));
    auto sums = this->to_space(std::vector<double>(N, NAN));
    for (int round = 1; round <= 3; round++) OK(check_sums<N>(this->ex, n, round, work.data(), sums.data()));
    std::vector<double> expected(N);
    for (std::int64_t i = 0; i < n; i++) {
      for (int k = 0; k < N; k++) expected[static_cast<std::size_t>(k)] += static_cast<double>(i % (k + 2) + 3);
    }
    ASSERT_EQ(this->to_host(sums), expected) << n; // whole numbers, whose sums are exact
  };
  std::vector<std::int64_t> all(std::begin(sizes), std::end(sizes));
  all.insert(all.end(), {0, 63, 64, 65, 511, 512, 513, 262144, 1000003});
  for (const std::int64_t n : all) {
    expect_sums(std::integral_constant<int, 1>{}, n);
    expect_sums(std::integral_constant<int, 5>{}, n);
    expect_sums(std::integral_constant<int, 17>{}, n);
  }
}

TYPED_TEST(Parallel, AtomicOrLosesNoBit)
{
  auto bits = this->to_space(std::vector<unsigned>{0});
  OK(check_or(this->ex, 31, bits.data()));
  EXPECT_EQ(this->to_host(bits)[0], 0x49249249U);
}

TYPED_TEST(Parallel, ReduceScanCompact)
{
  for (auto n : sizes) {
    std::int64_t sum = -1, expected_sum = 0, total = -1, count = -1;
    int maximum = -7, expected_maximum = -1;
    OK(check_reduce(this->ex, n, &sum, &maximum));
    for (std::int64_t i = 0; i < n; i++) {
      expected_sum += i * i;
      expected_maximum = std::max(expected_maximum, static_cast<int>(7 * i % n));
    }
    EXPECT_EQ(sum, expected_sum);
    EXPECT_EQ(maximum, expected_maximum);

    std::vector<int> x(n + 1, 99), scanned;
    for (std::int64_t i = 0; i < n; i++) x[i] = static_cast<int>(i % 5);
    auto device = this->to_space(x);
    OK(check_scan(this->ex, n, device.data(), &total));
    scanned = this->to_host(device);
    EXPECT_EQ(scanned[0], 0);
    for (std::int64_t i = 0; i < n; i++) ASSERT_EQ(scanned[i + 1], scanned[i] + x[i]);
    EXPECT_EQ(total, scanned[n]);

    unsigned value = 0; // another number comes along; and without the total
    auto again = this->to_space(x), once_more = this->to_space(x);
    const auto also = this->to_space(std::vector<unsigned>{7, 42});
    OK(check_scan(this->ex, n, again.data(), &total, also.data() + 1, &value));
    OK(check_scan(this->ex, n, once_more.data(), nullptr));
    EXPECT_EQ(value, 42U);
    EXPECT_EQ(total, scanned[n]);
    EXPECT_EQ(this->to_host(again), scanned);
    EXPECT_EQ(this->to_host(once_more), scanned);

    auto out = this->to_space(std::vector<int>(n, -1));
    OK(check_compact(this->ex, n, out.data(), &count));
    const auto selected = this->to_host(out.data(), count);
    ASSERT_EQ(count, n > 1 ? (n + 1) / 3 : 0);
    for (std::int64_t k = 0; k < count; k++) ASSERT_EQ(selected[k], 3 * k + 1);
  }
}

// Of one block of a GPU, of a tile for each of several blocks, and of several tiles for each. With base 1 all are in one part.
TYPED_TEST(Parallel, PartsAscendOneAfterTheOther)
{
  for (const std::int64_t n : {0, 1, 31, 33, 4096, 4097, 100003, 1048576, 1048577, 2097153}) {
    for (const int base : {7, 1}) {
      SCOPED_TRACE(std::to_string(n) + ", base " + std::to_string(base));
      std::vector<int> expected;
      std::int64_t of[parts_checked], numbers[2] = {};
      for (int p = 0; p < parts_checked; p++) {
        const std::size_t begin = expected.size();
        for (std::int64_t i = 0; i < n; i++) {
          if (i * i % base == p) expected.push_back(static_cast<int>(i));
        }
        of[p] = static_cast<std::int64_t>(expected.size() - begin);
      }
      for (std::int64_t i = 0; i < n; i++) {
        numbers[0] += i % 5;
        numbers[1] += i;
      }
      auto out = this->to_space(std::vector<int>(n, -1));
      PartSizes<parts_checked, 2> sizes{};
      sizes.of[0] = 99;
      OK(check_partition(this->ex, n, base, out.data(), &sizes));
      for (int p = 0; p < parts_checked; p++) EXPECT_EQ(sizes.of[p], of[p]);
      for (int k = 0; k < 2; k++) EXPECT_EQ(sizes.numbers[k], numbers[k]);
      expected.resize(n, -1); // nothing is written behind
      EXPECT_TRUE(this->to_host(out) == expected);
    }
  }
}

TYPED_TEST(Parallel, ScanRefusesToWrap)
{
  std::int64_t total = 0;
  auto x = this->to_space(std::vector<int>{INT32_MAX, 1, 0, 0});
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  const auto code = check_scan(this->ex, 3, x.data(), &total);
  PetscPopErrorHandler();
  EXPECT_EQ(static_cast<int>(code), PETSC_ERR_ARG_OUTOFRANGE);
}

TYPED_TEST(Parallel, SortIsStable)
{
  for (auto n : sizes) {
    std::mt19937 random(5);
    std::vector<std::uint64_t> key(n);
    std::vector<int> value(n);
    for (auto &k : key) k = std::uint64_t{random() % 50} << 33;
    std::iota(value.begin(), value.end(), 0);
    auto keys = this->to_space(key);
    auto values = this->to_space(value);
    OK(check_sort(this->ex, n, keys.data(), values.data(), 40));
    std::stable_sort(value.begin(), value.end(), [&](int a, int b) { return key[a] < key[b]; });
    EXPECT_EQ(this->to_host(values), value);
    std::vector<std::uint32_t> low(n), sorted(n);
    for (const int bits : {3, 11, 32}) { // CUB takes an odd and an even number of passes
      for (std::int64_t k = 0; k < n; k++) low[k] = random();
      std::iota(value.begin(), value.end(), 0);
      auto lows = this->to_space(low);
      values = this->to_space(value);
      OK(check_sort(this->ex, n, lows.data(), values.data(), bits));
      const std::uint32_t mask = bits == 32 ? UINT32_MAX : (std::uint32_t{1} << bits) - 1;
      std::stable_sort(value.begin(), value.end(), [&](int a, int b) { return (low[a] & mask) < (low[b] & mask); });
      EXPECT_EQ(this->to_host(values), value) << bits;
      for (std::int64_t k = 0; k < n; k++) sorted[k] = low[value[k]];
      EXPECT_EQ(this->to_host(lows), sorted) << bits;
    }
  }
}

TYPED_TEST(Parallel, AtomicSumsLoseNothing)
{
  constexpr int n = 10000;
  for (int bins : {1, 7, 1000}) {
    auto out = this->to_space(std::vector<int>(bins, 0));
    OK(check_atomic_add(this->ex, n, bins, out.data()));
    std::vector<int> expected(bins, 0);
    for (int i = 0; i < n; i++) expected[i % bins] += i;
    EXPECT_EQ(this->to_host(out), expected);
  }
}

TYPED_TEST(Parallel, RowsInOrderSeeWhatTheyNeed)
{
  for (std::int64_t n : {0, 1, 33, 5000}) {
    std::vector<double> expected(n), trail(3 * n);
    for (std::int64_t i = 0; i < n; i++) {
      expected[i] = 1.0 / static_cast<double>(1 + i);
      for (std::int64_t k = 0; k < i % 43; k++) {
        const std::int64_t j = std::max<std::int64_t>(i - 1 - k * k % 60, 0);
        expected[i] += expected[j] / 8;
        trail[3 * i + 1] = std::max(trail[3 * i + 1], trail[3 * j + 2]);
      }
      trail[3 * i] = expected[i];
      trail[3 * i + 2] = trail[3 * i + 1] + 1;
    }
    auto tickets = this->to_space(std::vector<unsigned>(2, 0)); // are as they were after each
    for (std::int64_t at_once : {0, 1, 700}) {
      for (int lanes : {1, 4, 32}) {
        auto x = this->to_space(std::vector<double>(n)), got = this->to_space(std::vector<double>(3 * n));
        if (lanes == 1)
          OK(check_rows_in_order<1>(this->ex, n, at_once, tickets.data(), x.data(), got.data()));
        else if (lanes == 4)
          OK(check_rows_in_order<4>(this->ex, n, at_once, tickets.data(), x.data(), got.data()));
        else
          OK(check_rows_in_order<32>(this->ex, n, at_once, tickets.data(), x.data(), got.data()));
        ASSERT_EQ(this->to_host(x), expected) << n << " rows, " << at_once << " at once, " << lanes << " lanes";
        ASSERT_EQ(this->to_host(got), trail) << n << " rows, " << at_once << " at once, " << lanes << " lanes";
        ASSERT_EQ(this->to_host(tickets), std::vector<unsigned>(2, 0));
      }
    }
  }
}
} // namespace amgkit::test
