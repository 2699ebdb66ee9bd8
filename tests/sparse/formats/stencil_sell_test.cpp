// Slices whose rows have their entries at the same offsets, and perhaps the same values there.
#include "sparse/formats/stored_matrix.hpp"
#include "support/sell_checks.hpp"

#include <array>
#include <random>
#include <set>

namespace amgkit::test
{
template <class Ex> using StencilSlices = SpaceTest<Ex>;
TYPED_TEST_SUITE(StencilSlices, Spaces, SpaceName);

// Row i has an entry at each of the offsets where has(i, offset), if it lies within the matrix; its value is value(i, offset).
HostCsr with_offsets(int n, const std::vector<int> &offsets, const std::function<bool(int, int)> &has,
                     const std::function<double(int, int)> &value)
{
  HostCsr A;
  A.rows = A.cols = n;
  for (int i = 0; i < n; i++) {
    for (int offset : offsets) {
      if (i + offset < 0 || i + offset >= n || !has(i, offset)) continue;
      A.col.push_back(i + offset);
      A.val.push_back(value(i, offset));
    }
    A.ptr.push_back(static_cast<int>(A.col.size()));
  }
  return A;
}
bool everywhere(int, int) { return true; }
double by_offset(int, int offset) { return offset == 0 ? 2 : -1.0 / (3 + offset * offset); }
double by_row(int i, int offset) { return std::sin(1.0 + i) + offset; }

std::vector<int> around(int width)
{
  std::vector<int> offsets(static_cast<std::size_t>(width));
  for (int j = 0; j < width; j++) offsets[static_cast<std::size_t>(j)] = 3 * j - width;
  return offsets;
}

std::vector<Named> alike()
{
  std::vector<Named> matrices;
  const auto random = [](int i, int offset) { return std::mt19937(static_cast<unsigned>(1000 * i + offset + 500))() % 8 != 0; };
  for (int n : {1, 32, 33, 64, 65, 128, 129, 400}) {
    for (int width : {1, 3, 4, 5, 9, 27, 200}) {
      const std::string name = std::to_string(n) + " rows, " + std::to_string(width) + " offsets";
      matrices.push_back({name + ", constant", with_offsets(n, around(width), everywhere, by_offset)});
      matrices.push_back({name + ", constant with gaps", with_offsets(n, around(width), random, by_offset)});
      matrices.push_back({name + ", stencil", with_offsets(n, around(width), everywhere, by_row)});
      matrices.push_back({name + ", stencil with gaps", with_offsets(n, around(width), random, by_row)});
      for (int values : {2, 3, 5}) {
        matrices.push_back(
            {name + ", values of an offset: " + std::to_string(values), with_offsets(n, around(width), everywhere, [=](int i, int offset) {
               return by_offset(i, offset) + (offset * offset % 5 < 2 ? i * i % values : 0);
             })});
      }
      // one value in this third, two in that, many in the last one
      matrices.push_back({name + ", mixed", with_offsets(n, around(width), everywhere, [=](int i, int offset) {
                            if (i < n / 3) return by_offset(i, offset);
                            return i < 2 * n / 3 ? by_offset(i, offset) + i % 2 : by_row(i, offset);
                          })});
    }
  }
  // slices with the entries of others, and such that differ from them in one: it is missing, or has another value
  using Entry = std::array<int, 3>; // slice modulo 8, row of it, offset
  const std::set<Entry> missing = {{1, 9, 1}, {2, 10, 1}, {3, 9, 5}}, other = {{4, 9, 0}, {5, 10, 0}, {6, 9, 1}};
  const auto entry = [](int i, int offset) { return Entry{i / 64 % 8, i % 64, offset}; };
  for (int rows : {64 * 25, 64 * 25 - 24}) {
    const auto has = [=](int i, int offset) { return missing.count(entry(i, offset)) == 0; };
    const auto value = [=](int i, int offset) { return other.count(entry(i, offset)) > 0 ? 7.0 : 1.0 + offset; };
    matrices.push_back({std::to_string(rows) + " rows, slices nearly equal", with_offsets(rows, {-2, 0, 1, 5}, has, value)});
  }
  // the offsets of each half are its own, those of the rows between random
  matrices.push_back({"plain in the middle", from_columns(3000, [](int i) {
                        if (i < 1000) return std::vector{i - 1, i, i + 1};
                        if (i < 2000) return std::vector{i - 2 - i * 7 % 61, i, i + 3 + i * 5 % 43};
                        return std::vector{i - 500, i - 5, i, i + 3};
                      })});
  // long rows, some with offsets of their own: from few to so many that neither a stencil nor a list pays
  for (int own : {1, 2, 3, 5, 20, 40}) {
    for (int step : {1, 4, 8}) {
      const auto columns = [=](int i) {
        std::mt19937 random(static_cast<unsigned>(i));
        std::set<int> offsets;
        for (int j = 0; j < (i % step == 0 ? own : 0); j++) offsets.insert(60 + static_cast<int>(random() % 900));
        for (int j = 0; static_cast<int>(offsets.size()) < 40; j++) offsets.insert(j);
        std::vector<int> columns;
        for (int offset : offsets) columns.push_back((i + offset) % 1000);
        return columns;
      };
      HostCsr A = from_columns(1000, columns);
      matrices.push_back({"own offsets " + std::to_string(own) + ", every " + std::to_string(step), A});
      std::fill(A.val.begin(), A.val.end(), 0.5);
      matrices.push_back({matrices.back().name + ", one value", A});
    }
  }
  return matrices;
}

TYPED_TEST(StencilSlices, KeepBitsAndTakeTheFewestBytes)
{
  Positions count, all;
  for (const auto &[name, A] : alike()) {
    check_bits_and_bytes<Sell, double>(this->ex, A, 1, name, &count);
    check_bits_and_bytes<Sell, float>(this->ex, A, 1, name, &count);
    all.plain += count.plain;
    all.stencil += count.stencil;
    all.constant += count.constant;
  }
  EXPECT_GT(all.plain, 0);
  EXPECT_GT(all.stencil, 0);
  EXPECT_GT(all.constant, 0);
}

TYPED_TEST(StencilSlices, EqualCompressedRows)
{
  int in_double = 0, in_single = 0, all_single = 0, all = 0;
  for (const auto &[name, A] : alike()) {
    check_products<Sell, double, double>(this->ex, A, 1, 1e-12, name, &in_double);
    check_products<Sell, float, double>(this->ex, A, 1, 1e-6 * 200, name, &in_single);
    check_products<Sell, float, float>(this->ex, A, 1, 1e-6 * 400, name, &all_single);
    all++;
  }
  EXPECT_EQ(in_double, all);
  EXPECT_EQ(in_single, all);
  EXPECT_EQ(all_single, all);
}

TYPED_TEST(StencilSlices, GiveTheirEntriesBack)
{
  for (const auto &[name, A] : alike()) {
    Csr<double, TypeParam> M;
    Sell<double, TypeParam> S;
    Array<int, TypeParam> col;
    Array<double, TypeParam> val;
    bool fits = false, kept = false;
    OK(upload(this->ex, A, M));
    OK(sell_create(this->ex, M.view(), S, &fits, &kept));
    ASSERT_TRUE(fits) << name;
    OK(col.allocate(this->ex, M.col.size()));
    OK(val.allocate(this->ex, M.col.size()));
    OK(sell_entries(this->ex, S.view(), M.ptr.data(), col.data(), val.data()));
    EXPECT_EQ(this->to_host(col), A.col) << name;
    EXPECT_EQ(this->to_host(val), A.val) << name;
  }
}

// Grids are constant, with other values at their boundary too; what varies from row to row is a stencil; neither is sorted.
TYPED_TEST(StencilSlices, AreThoseOfGrids)
{
  const auto expect = [&](const std::string &name, const HostCsr &A, const std::string &form) {
    Csr<double, TypeParam> M;
    StoredMatrix<TypeParam> stored;
    OK(upload(this->ex, A, M));
    OK(stored.create(this->ex, M.view(), Storage::in_single));
    EXPECT_EQ(stored.description(), (TypeParam::sliced_rows ? form + ", single" : "CSR, double")) << name;
    EXPECT_EQ(stored.has_own_entries(), TypeParam::sliced_rows && form == "constant SELL") << name;
    EXPECT_EQ(stored.is_constant(), TypeParam::sliced_rows && form == "constant SELL") << name;
    StoredMatrix<TypeParam> looked_at; // the same, and known ahead
    bool constant = false;
    OK(looked_at.look_ahead(this->ex, M.view(), 1, &constant));
    EXPECT_EQ(constant, stored.is_constant()) << name;
    OK(looked_at.create(this->ex, M.view(), Storage::in_single));
    EXPECT_STREQ(looked_at.description(), stored.description()) << name;
    EXPECT_EQ(looked_at.bytes(), stored.bytes()) << name;
  };
  const auto varied = [](HostCsr A) {
    for (std::size_t k = 0; k < A.val.size(); k++) A.val[k] = std::cos(static_cast<double>(k));
    return A;
  };
  HostCsr neumann = grid7(64, 10, 11);
  for (int i = 0; i < neumann.rows; i++) {
    for (int k = neumann.ptr[i]; k < neumann.ptr[i + 1]; k++)
      if (neumann.col[k] == i) neumann.val[k] = neumann.ptr[i + 1] - neumann.ptr[i] - 1;
  }
  for (int n : {5, 20, 32, 64}) {
    const std::string size = ", " + std::to_string(n);
    expect("7-point" + size, grid7(n, n, 7), "constant SELL");
    expect("27-point" + size, grid27(std::min(n, 20)), "constant SELL");
    expect("7-point, varied" + size, varied(grid7(n, n, 7)), "stencil SELL");
  }
  expect("Neumann", neumann, "constant SELL");
  expect("no grid", from_columns(2000, [](int i) { return std::vector{i - 2 - i * 7 % 61, i, i + 3 + i * 5 % 43}; }), "SELL");
}

// In double precision, whatever precision the cycle has.
TYPED_TEST(StencilSlices, HaveTheMatrixsOwnEntries)
{
  if (!TypeParam::sliced_rows) GTEST_SKIP() << "compressed rows";
  for (int n : {1, 64, 500}) {
    const HostCsr A = with_offsets(n, around(9), everywhere, by_offset);
    const auto x = wave(n, 0.7);
    Csr<double, TypeParam> M;
    StoredMatrix<TypeParam> stored;
    auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), NAN));
    OK(upload(this->ex, A, M));
    for (const Storage storage : {Storage::in_single, Storage::in_double}) {
      OK(stored.create(this->ex, M.view(), storage));
      ASSERT_TRUE(stored.has_own_entries());
      OK(stored.multiply_exactly(this->ex, X.data(), Y.data()));
      expect_products(this->to_host(Y), product<double>(A, x));
      OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
      expect_products(this->to_host(Y), storage == Storage::in_single ? product<float>(A, x) : product<double>(A, x));
    }
  }
}

// Constant slices may become uneven, and constant again, and may ask for another precision.
TYPED_TEST(StencilSlices, TakeNewValues)
{
  constexpr int n = 700;
  HostCsr A = with_offsets(n, around(7), everywhere, by_offset);
  std::vector<double> constant = A.val, one = constant, uneven = constant, tiny = constant, nan = constant;
  one[1234] += 1e-9; // not seen in single precision
  for (int i = 0; i < n; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) uneven[k] = by_row(i, A.col[k] - i);
  }
  for (double &v : tiny) v *= 1e-300;
  const auto x = wave(n, 0.7);
  auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), NAN));
  for (const Storage storage : {Storage::in_single, Storage::in_double}) {
    StoredMatrix<TypeParam> stored;
    bool first = true;
    for (const std::vector<double> *values : {&constant, &one, &constant, &uneven, &one, &tiny, &constant, &uneven, &tiny}) {
      A.val = *values;
      Csr<double, TypeParam> M;
      OK(upload(this->ex, A, M));
      OK(first ? stored.create(this->ex, M.view(), storage) : stored.refresh(this->ex, M.view(), storage));
      first = false;
      OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
      const bool single = storage == Storage::in_single && values != &tiny;
      EXPECT_EQ(stored.single(), TypeParam::sliced_rows && single);
      expect_products(this->to_host(Y), stored.single() ? product<float>(A, x) : product<double>(A, x));
      if (!stored.has_own_entries()) continue;
      OK(stored.multiply_exactly(this->ex, X.data(), Y.data()));
      expect_products(this->to_host(Y), product<double>(A, x));
    }
  }
}

// A row does not see what it has no entry for, be it no number.
TYPED_TEST(StencilSlices, DoNotReadBesidesTheirEntries)
{
  constexpr int n = 300;
  const auto gaps = [](int i, int offset) { return offset == 0 || i % 3 > 0; };
  for (const double bad : {double(INFINITY), double(NAN)}) {
    for (const bool in_matrix : {false, true}) {
      HostCsr A =
          with_offsets(n, {-40, -1, 0, 1, 40}, gaps, in_matrix ? [](int, int offset) { return offset == 40 ? INFINITY : 1.0; } : by_offset);
      auto x = wave(n, 0.7);
      if (!in_matrix) x[100] = bad;
      Csr<double, TypeParam> M;
      Sell<double, TypeParam> S;
      bool fits = false, kept = false;
      OK(upload(this->ex, A, M));
      OK(sell_create(this->ex, M.view(), S, &fits, &kept));
      auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), 0.5));
      OK(spmv(this->ex, S.view(), X.data(), Y.data()));
      const auto got = this->to_host(Y), expected = product<double>(A, x);
      for (int i = 0; i < n; i++) EXPECT_EQ(std::isfinite(got[i]), std::isfinite(expected[i])) << i;
    }
  }
}

TEST(StencilSlicesMemory, EveryAllocationMayFail)
{
  Debug ex;
  Csr<double, Debug> M;
  StoredMatrix<Debug> stored;
  OK(upload(ex,
            with_offsets(500, around(7), everywhere, [](int i, int offset) { return i < 200 ? by_offset(i, offset) : by_row(i, offset); }),
            M));
  EXPECT_EQ(failing_allocations(ex, [&] { return stored.create(ex, M.view(), Storage::in_single); }),
            11); // table of lists, starts; offsets, masks, constants and their doubles; values and flag
  EXPECT_STREQ(stored.description(), "stencil SELL, single");
}
} // namespace amgkit::test
