#include "sparse/formats/sell.hpp"

#include "sparse/formats/stored_matrix.hpp"
#include "support/sell_checks.hpp"

#include <random>

namespace amgkit::test
{
template <class Ex> using SortedRows = SpaceTest<Ex>;
TYPED_TEST_SUITE(SortedRows, Spaces, SpaceName);

// Row i has length(i) columns around the diagonal, every other one.
HostCsr of_lengths(int n, const std::function<int(int)> &length)
{
  return from_columns(n, [&](int i) {
    std::vector<int> columns(static_cast<std::size_t>(length(i)));
    for (std::size_t j = 0; j < columns.size(); j++) columns[j] = i + 2 * static_cast<int>(j) - static_cast<int>(columns.size());
    return columns;
  });
}

HostCsr random_lengths(int n, unsigned seed)
{
  std::mt19937 random(seed);
  return of_lengths(n, [&](int) { return static_cast<int>(random() % 201); });
}

std::vector<Named> uneven()
{
  const auto sawtooth = [](int i) { return i % 64 == 5 ? 30 : 10; };
  std::vector<Named> matrices = {
      {"sawtooth", of_lengths(2000, sawtooth)},
      {"wide", from_columns(150000,
                            [](int i) {
                              return i % 40 == 3 ? std::vector{i, i + 1, i + 2, i + 70000, i + 3, i + 4, i + 5} : std::vector{i, i + 70000};
                            })},
      {"ascending", of_lengths(1500, [](int i) { return i % 700; })},
      {"descending", of_lengths(1500, [](int i) { return 1499 - i; })},
      {"one long row", of_lengths(3000, [](int i) { return i == 700 ? 900 : 5; })},
      {"as long as is counted", of_lengths(1200, [](int i) { return i % 3 == 0 ? 1023 : i % 5; })},
      {"longer than is counted", of_lengths(1200, [](int i) { return i % 3 == 0 ? 1024 + i % 7 : 900 + i % 5; })},
      {"one dense row", of_lengths(3000, [](int i) { return i == 700 ? 1500 : 20; })}};
  for (int n : {1, 63, 64, 65, 200, 448, 511, 512, 513, 576, 577, 1024, 3333})
    matrices.push_back({"random " + std::to_string(n), random_lengths(n, static_cast<unsigned>(n))});
  return matrices;
}

TYPED_TEST(SortedRows, KeepBits)
{
  Positions count;
  for (const auto &[name, A] : uneven()) {
    check_bits_and_bytes<Sell, double>(this->ex, A, 1, name, &count);
    check_bits_and_bytes<Sell, float>(this->ex, A, 1, name, &count);
  }
}

TYPED_TEST(SortedRows, LieLongestFirstInWindows)
{
  int sorted = 0;
  for (const auto &[name, A] : uneven()) {
    Csr<double, TypeParam> M;
    Sell<double, TypeParam> S;
    bool fits = false, kept = false;
    std::vector<SellPair<std::uint16_t>> order;
    std::vector<int> rows;
    OK(upload(this->ex, A, M));
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    EXPECT_EQ(S.view().order != nullptr, S.sorted()) << name;
    if (!S.sorted()) continue;
    sorted++;
    OK(download(this->ex, S.view().order, S.order.size(), order));
    for (int r = 0; r < A.rows; r++)
      rows.push_back(r / sell_window * sell_window + order[static_cast<std::size_t>(r / 64 * 32 + r % 32)].of[r % 64 / 32]);
    EXPECT_EQ(rows, sorted_rows(A, sell_window)) << name;
  }
  EXPECT_GE(sorted, 10);
}

TYPED_TEST(SortedRows, EqualCompressedRows)
{
  int in_double = 0, in_single = 0, all_single = 0;
  for (const auto &[name, A] : uneven()) {
    check_products<Sell, double, double>(this->ex, A, 1, 1e-12, name, &in_double);
    check_products<Sell, float, double>(this->ex, A, 1, 1e-6 * 200, name, &in_single);
    check_products<Sell, float, float>(this->ex, A, 1, 1e-6 * 200, name, &all_single);
  }
  EXPECT_GE(in_double, 12);
  EXPECT_EQ(in_double, in_single);
  EXPECT_EQ(in_double, all_single);
}

// Compressed rows come back as they went in.
TYPED_TEST(SortedRows, GiveTheirEntriesBack)
{
  int sorted = 0;
  for (const auto &[name, A] : uneven()) {
    Csr<double, TypeParam> M;
    Sell<double, TypeParam> S;
    Array<int, TypeParam> col;
    Array<double, TypeParam> val;
    bool fits = false, kept = false;
    OK(upload(this->ex, A, M));
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    if (!fits) continue;
    sorted += S.sorted();
    OK(col.allocate(this->ex, M.col.size()));
    OK(val.allocate(this->ex, M.col.size()));
    OK(sell_entries(this->ex, S.view(), M.ptr.data(), col.data(), val.data()));
    EXPECT_EQ(this->to_host(col), A.col) << name;
    EXPECT_EQ(this->to_host(val), A.val) << name;
  }
  EXPECT_GE(sorted, 10);
}

// Unsorted, rows of 0 to 200 entries are padded twice over and fit no slices; a row of 30 in every slice of rows of 10 pads them threefold.
TYPED_TEST(SortedRows, TakeFewBytes)
{
  for (const auto &[name, A, most] : {std::tuple{"random", random_lengths(20000, 1), 7.0},
                                      {"sawtooth", of_lengths(20000, [](int i) { return i % 64 == 5 ? 30 : 10; }), 7.9}}) {
    const auto entries = static_cast<double>(A.val.size());
    Csr<double, TypeParam> M;
    Sell<float, TypeParam> S;
    bool fits = false, kept = false;
    OK(upload(this->ex, A, M));
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    ASSERT_TRUE(fits) << name;
    EXPECT_TRUE(S.sorted()) << name;
    EXPECT_LT(static_cast<double>(S.bytes()) / entries, most) << name;
    StoredMatrix<TypeParam> stored;
    for (const auto storage : {Storage::in_single, Storage::in_double}) {
      OK(stored.create(this->ex, M.view(), storage));
      EXPECT_STREQ(stored.description(), !TypeParam::sliced_rows         ? "CSR, double"
                                         : storage == Storage::in_single ? "sorted SELL, single"
                                                                         : "sorted SELL, double");
    }
  }
}

// Single precision, then double as one value asks for it, then single again.
TYPED_TEST(SortedRows, TakeNewValuesAndPrecisions)
{
  HostCsr A = random_lengths(1500, 5);
  const auto x = wave(A.cols, 0.7);
  auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), NAN));
  StoredMatrix<TypeParam> stored;
  for (const double value : {0.5, 1e-300, -2.0}) {
    Csr<double, TypeParam> M;
    A.val[77] = value;
    OK(upload(this->ex, A, M));
    OK(value > 0.1 ? stored.create(this->ex, M.view(), Storage::in_single) : stored.refresh(this->ex, M.view(), Storage::in_single));
    OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
    if constexpr (TypeParam::sliced_rows) {
      EXPECT_STREQ(stored.description(), value == 1e-300 ? "sorted SELL, double" : "sorted SELL, single");
      expect_products(this->to_host(Y), stored.single() ? product<float>(A, x) : product<double>(A, x));
    }
  }
}

TYPED_TEST(SortedRows, AreNoneWhereRowsAreEven)
{
  for (const auto &[name, A] : {Named{"7-point", grid7(20, 21, 22)},
                                {"7-point, lines of 64", grid7(64, 4, 9)},
                                {"27-point", grid27(16)},
                                {"empty", make_csr(0, 0, {})},
                                {"no entries", make_csr(300, 300, {})}}) {
    Csr<double, TypeParam> M;
    Sell<double, TypeParam> S;
    bool fits = false, kept = false;
    OK(upload(this->ex, A, M));
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    EXPECT_TRUE(fits) << name;
    EXPECT_FALSE(S.sorted()) << name;
    EXPECT_EQ(S.view().order, nullptr) << name;
  }
}

TYPED_TEST(SortedRows, AreNoNodesOfBlocks)
{
  const HostCsr A = from_columns(2000, [](int i) {
    std::vector<int> columns;
    for (int j = 0; j < 2 * (i / 2 % 30 == 7 ? 6 : 5); j++) columns.push_back(i / 2 * 2 + j);
    return columns;
  });
  Csr<double, TypeParam> M;
  BlockSell<double, TypeParam> S;
  bool fits = false, kept = false;
  OK(upload(this->ex, A, M));
  OK(block_sell_create(this->ex, M.view(), 2, S, &fits, &kept));
  ASSERT_TRUE(fits);
  EXPECT_FALSE(S.nodes.sorted());
  Positions count;
  int stored = 0;
  check_bits_and_bytes<BlockSell, double>(this->ex, A, 2, "nodes", &count);
  check_products<BlockSell, double, double>(this->ex, A, 2, 1e-12, "nodes", &stored);
  EXPECT_EQ(stored, 1);
}

TEST(SortedRowsMemory, EveryAllocationMayFail)
{
  Debug ex;
  Csr<double, Debug> M;
  StoredMatrix<Debug> stored;
  OK(upload(ex, random_lengths(600, 3), M));
  EXPECT_EQ(failing_allocations(ex, [&] { return stored.create(ex, M.view(), Storage::in_single); }),
            12); // table of lists, starts, order, starts of sorted rows; base, low, high_start; values and flag
  EXPECT_STREQ(stored.description(), "sorted SELL, single");
}
} // namespace amgkit::test
