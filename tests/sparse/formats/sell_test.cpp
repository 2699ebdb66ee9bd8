#include "sparse/formats/sell.hpp"

#include "sparse/formats/stored_matrix.hpp"
#include "support/sell_checks.hpp"

#include <numeric>

namespace amgkit::test
{
template <class Ex> using SlicedEll = SpaceTest<Ex>;
TYPED_TEST_SUITE(SlicedEll, Spaces, SpaceName);

TYPED_TEST(SlicedEll, EqualsCompressedRows)
{
  int in_double = 0, in_single = 0, all_single = 0;
  for (const auto &[name, A] : gallery()) {
    check_products<Sell, double, double>(this->ex, A, 1, 1e-13, name, &in_double);
    check_products<Sell, float, double>(this->ex, A, 1, 1e-6 * 27, name, &in_single);
    check_products<Sell, float, float>(this->ex, A, 1, 1e-6 * 27, name, &all_single);
  }
  EXPECT_GE(in_double, 8);
  EXPECT_EQ(in_double, in_single);
  EXPECT_EQ(in_double, all_single);
}

TYPED_TEST(SlicedEll, AddsInAscendingOrder)
{
  Positions count;
  auto check = [&](const HostCsr &A, const std::string &name) {
    count = {};
    check_bits_and_bytes<Sell, double>(this->ex, A, 1, name, &count);
    check_bits_and_bytes<Sell, float>(this->ex, A, 1, name, &count);
  };
  for (const auto &[name, A] : gallery()) {
    check(A, name);
    EXPECT_EQ(count.wide, 0) << name;
  }
  for (int n : {1, 31, 32, 33, 63, 64, 65, 96, 97, 128, 200}) {
    for (int width = 1; width < 10; width++) { // the last few positions of a row are read in another way than the others
      check(from_columns(n,
                         [&](int i) {
                           std::vector<int> columns(static_cast<std::size_t>(width - (width > 2 && i % 5 == 0)));
                           std::iota(columns.begin(), columns.end(), i - 1);
                           return columns;
                         }),
            std::to_string(width) + " a row, " + std::to_string(n));
      EXPECT_EQ(count.slices, (n + 63) / 64);
    }
  }
}

TYPED_TEST(SlicedEll, ColumnsMayBeFarApart)
{
  constexpr int n = 200000;
  Positions some, all;
  const auto irregular = [](int i) { return 2 + i * 7 % 61; }; // so that rows share no offsets
  const HostCsr few_far = from_columns(n, [&](int i) {
    return i % 1000 == 7 ? std::vector{i - irregular(i), i, i + n / 2} : std::vector{i - irregular(i), i, i + irregular(i + 3)};
  });
  const HostCsr all_far = from_columns(n, [](int i) { return std::vector{i, 77 * i, 7777 * (i % 1000), i + 80000, i - 3}; });
  check_bits_and_bytes<Sell, float>(this->ex, few_far, 1, "some slices", &some);
  check_bits_and_bytes<Sell, double>(this->ex, few_far, 1, "some slices", &some);
  check_bits_and_bytes<Sell, float>(this->ex, all_far, 1, "all slices", &all);
  check_bits_and_bytes<Sell, double>(this->ex, all_far, 1, "all slices", &all);
  EXPECT_GT(some.wide, 3 * n / 1000 / 2);
  EXPECT_LT(some.wide, some.all() / 10);
  EXPECT_GT(all.wide, all.all() / 2);
  int stored = 0;
  check_products<Sell, float, float>(this->ex, few_far, 1, 1e-6 * 3, "some slices", &stored);
  check_products<Sell, double, double>(this->ex, all_far, 1, 1e-13, "all slices", &stored);
  EXPECT_EQ(stored, 2);
}

TYPED_TEST(SlicedEll, SixteenBitsReachTo65535)
{
  for (int far : {65535, 65536, 131071, 131072, 199999}) {
    Positions count;
    HostCsr A = make_csr(3, 200000, {{{0, 0}, 2}, {{1, far}, 3}, {{2, far / 2}, 5}});
    check_bits_and_bytes<Sell, float>(this->ex, A, 1, std::to_string(far), &count);
    EXPECT_EQ(count.all(), 1);
    EXPECT_EQ(count.wide, far > 65535 ? 1 : 0);
  }
}

TYPED_TEST(SlicedEll, TakesNewValues)
{
  HostCsr A = grid7(6, 5, 4);
  Csr<double, TypeParam> M;
  Sell<double, TypeParam> S;
  bool fits = false, kept = false;
  OK(upload(this->ex, A, M));
  OK(sell_create(this->ex, M.view(), S, &fits, &kept));
  ASSERT_TRUE(fits);
  for (double &v : A.val) v *= 3;
  OK(upload(this->ex, A, M));
  OK(store_values(this->ex, M.view(), S, &kept));
  auto x = this->to_space(wave(A.rows, 0.7)), y = this->to_space(wave(A.rows, 0)), z = this->to_space(wave(A.rows, 0));
  OK(spmv(this->ex, S.view(), x.data(), y.data()));
  OK(spmv(this->ex, M.view(), x.data(), z.data()));
  expect_close(this->to_host(y), this->to_host(z), 1e-13, "new values");
}

TYPED_TEST(SlicedEll, UnevenRowsDoNotFit)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 200; i++) entries[{i, i}] = 2;
  for (int j = 0; j < 200; j++) entries[{100, j}] = 1; // 200 entries in one row of a slice
  Csr<double, TypeParam> M;
  Sell<float, TypeParam> S;
  bool fits = true, kept = false;
  OK(upload(this->ex, make_csr(200, 200, entries), M));
  OK(sell_create(this->ex, M.view(), S, &fits, &kept));
  EXPECT_FALSE(fits);
}

TYPED_TEST(SlicedEll, SinglePrecisionIsRefusedWhereItLosesEntries)
{
  for (auto [value, expected] :
       {std::pair{1.0, true}, {0.0, true}, {-1e18, true}, {1e19, false}, {1e39, false}, {-1e-39, false}, {1e-300, false}}) {
    Csr<double, TypeParam> M;
    bool representable = !expected;
    OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, value}, {{1, 1}, 1}}), M));
    OK(representable_in_single(this->ex, M.view(), &representable));
    EXPECT_EQ(representable, expected) << value;
    Sell<float, TypeParam> S;
    bool fits = false, kept = !expected;
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    EXPECT_TRUE(fits);
    EXPECT_EQ(kept, expected) << value;
    kept = !expected;
    OK(sell_fill(this->ex, M.view(), SellValues::perhaps_others, S, &kept));
    EXPECT_EQ(kept, expected) << value;
    StoredMatrix<TypeParam> stored;
    OK(stored.create(this->ex, M.view(), Storage::in_single));
    EXPECT_EQ(stored.single(), expected && TypeParam::sliced_rows) << value;
    if constexpr (TypeParam::sliced_rows) {
      EXPECT_STREQ(stored.description(), expected ? "constant SELL, single" : "constant SELL, double");
    }
  }
}

// Compressed rows come back as they went in, values as they are stored.
TYPED_TEST(SlicedEll, GivesItsEntriesBack)
{
  const auto scattered = [](int i) { return std::vector<int>{i, i + 70000 + i * 7 % 61, i + 3 + i % 17, 5 * i}; };
  const auto narrow = [](int i) { return std::vector<int>{i, i + 1 + i * 7 % 61, i + 2, i % 3}; };
  auto matrices = gallery();
  matrices.push_back({"wide", from_columns(150000, scattered)});
  matrices.push_back({"narrow", from_columns(1000, narrow)});
  int sliced = 0;
  for (const auto &[name, A] : matrices) {
    for (const Storage storage : {Storage::in_double, Storage::in_single}) {
      Csr<double, TypeParam> M;
      Array<int, TypeParam> col;
      Array<double, TypeParam> val;
      StoredMatrix<TypeParam> stored;
      OK(upload(this->ex, A, M));
      const CsrView<double> before = M.view();
      OK(stored.create(this->ex, before, storage, 1, &M));
      const bool freed = stored.bytes() > 0;
      EXPECT_EQ(M.col.size(), freed ? 0 : before.nnz) << name;
      EXPECT_EQ(M.val.size(), freed ? 0 : before.nnz) << name;
      if (!freed) continue;
      sliced++;
      OK(col.allocate(this->ex, before.nnz));
      OK(val.allocate(this->ex, before.nnz));
      OK(stored.entries(this->ex, before.ptr, col.data(), val.data()));
      EXPECT_EQ(this->to_host(col), A.col) << name;
      EXPECT_EQ(this->to_host(val), stored.single() ? rounded<double>(rounded<float>(A.val)) : A.val) << name;
    }
  }
  EXPECT_GE(sliced, TypeParam::sliced_rows ? 20 : 0);
}

// New values may change the precision, both ways.
template <class Ex> void check_precisions(Ex &ex, int block, const std::string &format)
{
  StoredMatrix<Ex> stored;
  const auto x = wave(2, 0.7);
  Array<double, Ex> X, Y;
  std::vector<double> got;
  OK(upload(ex, x, X));
  OK(upload(ex, std::vector<double>(2, NAN), Y));
  bool first = true;
  for (double value : {1.0, 1e-39, 1e-300, 2.0, 3.0, 1e39}) {
    Csr<double, Ex> M;
    const HostCsr A = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, value}, {{1, 0}, 0.5}, {{1, 1}, 1}});
    OK(upload(ex, A, M));
    OK(first ? stored.create(ex, M.view(), Storage::in_single, block) : stored.refresh(ex, M.view(), Storage::in_single));
    first = false;
    EXPECT_EQ(stored.single(), Ex::sliced_rows && value >= 1 && value <= 3) << value;
    if constexpr (Ex::sliced_rows) {
      EXPECT_EQ(stored.description(), format + (stored.single() ? ", single" : ", double")) << value;
    }
    OK(stored.multiply(ex, M.view(), X.data(), Y.data()));
    OK(download(ex, Y.data(), 2, got));
    EXPECT_EQ(got, (std::vector<double>{x[0] + value * x[1], 0.5 * x[0] + x[1]})) << value;
  }
}

TYPED_TEST(SlicedEll, APrecisionMayChangeWithTheValues)
{
  check_precisions(this->ex, 1, "constant SELL");
  check_precisions(this->ex, 2, "constant block SELL");
  check_precisions(this->ex, 3, "constant SELL"); // two rows are no nodes of three
}

// Every entry of nodes becomes a block, without the entries whose numbers are multiples of missing.
HostCsr in_blocks(const HostCsr &nodes, int block, int missing = INT_MAX)
{
  HostCsr A;
  A.cols = nodes.cols * block;
  A.rows = nodes.rows * block;
  for (int i = 0, entry = 1; i < A.rows; i++) {
    for (int k = nodes.ptr[i / block]; k < nodes.ptr[i / block + 1]; k++) {
      for (int c = 0; c < block; c++, entry++) {
        if (entry % missing == 0) continue;
        A.col.push_back(nodes.col[k] * block + c);
        A.val.push_back(nodes.val[k] * std::sin(1.0 + entry));
      }
    }
    A.ptr.push_back(static_cast<int>(A.col.size()));
  }
  return A;
}

TYPED_TEST(SlicedEll, BlocksEqualCompressedRows)
{
  int in_double = 0, in_single = 0, all_single = 0;
  for (int block : {2, 3, 6}) {
    for (const auto &[name, nodes] : gallery()) {
      for (int missing : {INT_MAX, 11}) {
        const HostCsr A = in_blocks(nodes, block, missing);
        check_products<BlockSell, double, double>(this->ex, A, block, 1e-12, name, &in_double);
        check_products<BlockSell, float, double>(this->ex, A, block, 1e-6 * 162, name, &in_single);
        check_products<BlockSell, float, float>(this->ex, A, block, 1e-6 * 162, name, &all_single);
      }
    }
  }
  EXPECT_GE(in_double, 3 * 2 * 8);
  EXPECT_EQ(in_double, in_single);
  EXPECT_EQ(in_double, all_single);
}

TYPED_TEST(SlicedEll, BlocksAddInAscendingOrder)
{
  Positions count;
  for (int block : {2, 3, 6}) {
    for (int n : {1, 31, 32, 33, 63, 64, 65, 97, 128, 200}) {
      for (int width = 1; width < 8; width++) { // the last few positions of a row are read in another way than the others
        const HostCsr nodes = from_columns(n, [&](int i) {
          std::vector<int> columns(static_cast<std::size_t>(i % 7 == 3 ? 0 : width - (width > 2 && i % 5 == 0))); // some nodes are empty
          std::iota(columns.begin(), columns.end(), i - 1);
          return columns;
        });
        for (int missing : {INT_MAX, 17, 10}) {
          const std::string name = std::to_string(block) + ": " + std::to_string(width) + " a node, " + std::to_string(n);
          count = {};
          check_bits_and_bytes<BlockSell, double>(this->ex, in_blocks(nodes, block, missing), block, name, &count);
          check_bits_and_bytes<BlockSell, float>(this->ex, in_blocks(nodes, block, missing), block, name, &count);
          EXPECT_EQ(count.slices, (n + 63) / 64) << name;
        }
      }
    }
  }
}

TYPED_TEST(SlicedEll, BlocksMayBeFarApart)
{
  constexpr int n = 100000;
  Positions count;
  const HostCsr nodes = from_columns(n, [](int i) {
    return i % 1000 == 7 ? std::vector{i - 1, i, i + 70000} : std::vector{i - 1, i, i + 1};
  });
  check_bits_and_bytes<BlockSell, float>(this->ex, in_blocks(nodes, 2, 11), 2, "some slices", &count);
  check_bits_and_bytes<BlockSell, double>(this->ex, in_blocks(nodes, 3), 3, "some slices", &count);
  EXPECT_GT(count.wide, n / 1000 / 2);
  EXPECT_LT(count.wide, count.all() / 10);
}

TYPED_TEST(SlicedEll, BlocksAreRefusedWhereTheyDoNotPay)
{
  const HostCsr one = make_csr(1, 1, {{{0, 0}, 1}}), path = grid7(100, 1, 1);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 200; i++) entries[{i, i}] = entries[{100, i}] = 2;
  const HostCsr rectangle = make_csr(2, 5, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 3}, {{1, 1}, 4}});
  struct Case {
    HostCsr A;
    int block;
    bool fits;
  };
  const std::vector<Case> cases = {{in_blocks(one, 3), 3, true},
                                   {in_blocks(one, 3, 9), 3, true},  // eight entries of nine
                                   {in_blocks(one, 3, 4), 3, false}, // seven
                                   {in_blocks(path, 3), 2, false},
                                   {in_blocks(path, 6), 3, true},
                                   {in_blocks(path, 6), 4, false}, // no block of this size
                                   {in_blocks(path, 5), 3, false}, // 500 rows
                                   {rectangle, 2, false},
                                   {make_csr(4, 4, {}), 2, true},
                                   {make_csr(0, 0, {}), 2, true},
                                   {in_blocks(make_csr(200, 200, entries), 2), 2, false}};
  for (std::size_t c = 0; c < cases.size(); c++) {
    Csr<double, TypeParam> M;
    BlockSell<float, TypeParam> S;
    StoredMatrix<TypeParam> stored;
    bool fits = !cases[c].fits, kept = false;
    OK(upload(this->ex, cases[c].A, M));
    OK(block_sell_create(this->ex, M.view(), cases[c].block, S, &fits, &kept));
    EXPECT_EQ(fits, cases[c].fits) << c;
    EXPECT_EQ(kept, cases[c].fits) << c;
    OK(stored.create(this->ex, M.view(), Storage::in_double, cases[c].block));
    if constexpr (TypeParam::sliced_rows) {
      EXPECT_EQ(std::string(stored.description()).find("block") != std::string::npos, fits) << c;
      EXPECT_EQ(std::string(stored.description()) == "CSR, double", c + 1 == cases.size()) << c;
    }
  }
}

TEST(SlicedEllMemory, EveryAllocationMayFail)
{
  Debug ex;
  Csr<double, Debug> M;
  StoredMatrix<Debug> stored;
  OK(upload(ex, in_blocks(grid7(5, 5, 5), 3, 20), M));
  EXPECT_EQ(failing_allocations(ex, [&] { return stored.create(ex, M.view(), Storage::in_single, 3); }),
            13); // ptr, col and numbers of the blocks; table of lists, starts; high_start, base, low; values and flag
  EXPECT_STREQ(stored.description(), "block SELL, single");
}
} // namespace amgkit::test
