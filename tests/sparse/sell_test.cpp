#include "sparse/sell.hpp"

#include "sparse/stored_matrix.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> using SlicedEll = SpaceTest<Ex>;
TYPED_TEST_SUITE(SlicedEll, Spaces, SpaceName);

// What fits computes what compressed rows do; what does not fit says so.
template <class T, class Ex>
void check_products(SpaceTest<Ex> &, Ex &ex, const HostCsr &A, double tolerance, const std::string &name, int *stored)
{
  const int n = A.rows;
  Csr<double, Ex> M;
  Sell<T, Ex> S;
  bool fits = false;
  OK(upload(ex, A, M));
  OK(sell_create(ex, M.view(), S, &fits));
  if (!fits) {
    EXPECT_EQ(S.bytes(), 0U);
    return;
  }
  (*stored)++;
  Array<double, Ex> x, b, d, before, y, z;
  OK(upload(ex, wave(n, 0.7), x));
  OK(upload(ex, wave(n, 0.3), b));
  OK(upload(ex, wave(n, 0.1), d));
  OK(upload(ex, wave(n, 0.9), before));
  OK(y.allocate(ex, n));
  OK(z.allocate(ex, n));
  auto expect_same = [&] {
    std::vector<double> got, expected;
    OK(download(ex, y.data(), n, got));
    OK(download(ex, z.data(), n, expected));
    expect_close(got, expected, tolerance, name);
  };
  OK(spmv(ex, S.view(), x.data(), y.data()));
  OK(spmv(ex, M.view(), x.data(), z.data()));
  expect_same();
  OK(residual(ex, S.view(), b.data(), x.data(), y.data()));
  OK(residual(ex, M.view(), b.data(), x.data(), z.data()));
  expect_same();
  OK(relax(ex, S.view(), d.data(), {0.25, 2}, b.data(), x.data(), nullptr, y.data()));
  OK(relax(ex, M.view(), d.data(), {0.25, 2}, b.data(), x.data(), nullptr, z.data()));
  expect_same();
  OK(upload(ex, wave(n, 0.9), z));
  OK(relax(ex, S.view(), d.data(), {0.25, 2}, b.data(), x.data(), before.data(), before.data()));
  OK(relax(ex, M.view(), d.data(), {0.25, 2}, b.data(), x.data(), z.data(), z.data()));
  std::swap(y, before);
  expect_same();
}

TYPED_TEST(SlicedEll, EqualsCompressedRows)
{
  int in_double = 0, in_single = 0;
  for (const auto &[name, A] : gallery()) {
    check_products<double>(*this, this->ex, A, 1e-13, name, &in_double);
    check_products<float>(*this, this->ex, A, 1e-6 * 27, name, &in_single);
  }
  EXPECT_GE(in_double, 8);
  EXPECT_EQ(in_double, in_single);
}

TYPED_TEST(SlicedEll, TakesNewValues)
{
  HostCsr A = grid7(6, 5, 4);
  Csr<double, TypeParam> M;
  Sell<double, TypeParam> S;
  bool fits = false;
  OK(upload(this->ex, A, M));
  OK(sell_create(this->ex, M.view(), S, &fits));
  ASSERT_TRUE(fits);
  for (double &v : A.val) v *= 3;
  OK(upload(this->ex, A, M));
  OK(sell_fill(this->ex, M.view(), S));
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
  bool fits = true;
  OK(upload(this->ex, make_csr(200, 200, entries), M));
  OK(sell_create(this->ex, M.view(), S, &fits));
  EXPECT_FALSE(fits);
}

TYPED_TEST(SlicedEll, SinglePrecisionIsRefusedWhereItLosesEntries)
{
  for (auto [value, expected] : {std::pair{1.0, true}, {0.0, true}, {-1e38, true}, {1e39, false}, {-1e-39, false}, {1e-300, false}}) {
    Csr<double, TypeParam> M;
    bool representable = !expected;
    OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, value}, {{1, 1}, 1}}), M));
    OK(representable_in_single(this->ex, M.view(), &representable));
    EXPECT_EQ(representable, expected) << value;
    StoredMatrix<TypeParam> stored;
    OK(stored.create(this->ex, M.view(), Storage::in_single));
    if constexpr (TypeParam::on_device) {
      EXPECT_STREQ(stored.description(), expected ? "SELL, single" : "SELL, double");
    }
  }
}
} // namespace amgkit::test
