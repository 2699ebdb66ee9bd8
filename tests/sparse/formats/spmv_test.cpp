#include "sparse/formats/spmv.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> using Spmv = SpaceTest<Ex>;
TYPED_TEST_SUITE(Spmv, Spaces, SpaceName);

// Vectors of V, a diagonal of D.
template <class D, class V, class Ex>
void check_formulas(SpaceTest<Ex> &, Ex &ex, const HostCsr &A, double tolerance, const std::string &name)
{
  const int n = A.rows;
  const auto x = wave(n, 0.7), b = wave(n, 0.3), d = wave(n, 0.1), previous = wave(n, 0.9);
  std::vector<double> Ax(n), r(n), s(n), dx(n), moved(n), from_zero(n), sum(n), raised(n);
  for (int i = 0; i < n; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) Ax[i] += A.val[k] * x[A.col[k]];
    r[i] = b[i] - Ax[i];
    s[i] = x[i] + d[i] * r[i];
    dx[i] = 3 * d[i] * x[i];
    moved[i] = x[i] + 0.25 * (x[i] - previous[i]) + 2 * d[i] * r[i];
    from_zero[i] = 1.25 * x[i] + 2 * d[i] * r[i];
    sum[i] = previous[i] + x[i];
    raised[i] = previous[i] + Ax[i];
  }
  Csr<double, Ex> M;
  Array<V, Ex> X, B, P, Y;
  Array<D, Ex> diagonal;
  OK(upload(ex, A, M));
  OK(upload(ex, rounded<V>(x), X));
  OK(upload(ex, rounded<V>(b), B));
  OK(upload(ex, rounded<D>(d), diagonal));
  OK(upload(ex, rounded<V>(std::vector<double>(n, NAN)), Y));
  auto expect = [&](const Array<V, Ex> &got, const std::vector<double> &expected) {
    std::vector<V> values;
    OK(download(ex, got.data(), n, values));
    expect_close(rounded<double>(values), expected, tolerance, name);
  };
  OK(spmv(ex, M.view(), X.data(), Y.data()));
  expect(Y, Ax);
  OK(residual(ex, M.view(), B.data(), X.data(), Y.data()));
  expect(Y, r);
  OK(relax(ex, M.view(), diagonal.data(), {}, B.data(), X.data(), nullptr, Y.data()));
  expect(Y, s);
  OK(relax(ex, M.view(), diagonal.data(), {0.25, 2}, B.data(), X.data(), nullptr, Y.data()));
  expect(Y, from_zero);
  OK(upload(ex, rounded<V>(previous), P));
  OK(relax(ex, M.view(), diagonal.data(), {0.25, 2}, B.data(), X.data(), P.data(), P.data()));
  expect(P, moved);
  OK(scale(ex, n, 3, diagonal.data(), X.data(), Y.data()));
  expect(Y, dx);
  OK(upload(ex, rounded<V>(previous), P));
  OK(add(ex, n, X.data(), P.data()));
  expect(P, sum);
  OK(upload(ex, rounded<V>(previous), P));
  OK(add_product(ex, M.view(), X.data(), P.data()));
  expect(P, raised);
}

TYPED_TEST(Spmv, ProductsFollowTheirFormulas)
{
  for (const auto &[name, A] : gallery()) {
    check_formulas<double, double>(*this, this->ex, A, 1e-11, name);
    check_formulas<float, double>(*this, this->ex, A, 1e-5, name + ", rounded diagonal");
    check_formulas<float, float>(*this, this->ex, A, 1e-5, name + ", floats");
  }
}

TYPED_TEST(Spmv, SubtractRowsTouchesTheGivenRowsOnly)
{
  const HostCsr A = make_csr(4, 3, {{{1, 0}, 2}, {{1, 2}, -1}, {{3, 1}, 5}});
  Csr<double, TypeParam> M;
  OK(upload(this->ex, A, M));
  auto rows = this->to_space(std::vector<int>{1, 3});
  auto x = this->to_space(std::vector<double>{1, 10, 100}), s = this->to_space(std::vector<double>{9, 2, 9, 3});
  auto y = this->to_space(std::vector<double>{7, 7, 7, 7});
  const double *unscaled = nullptr;
  OK(subtract_rows(this->ex, M.view(), 2, rows.data(), 1, unscaled, x.data(), y.data()));
  EXPECT_EQ(this->to_host(y), (std::vector<double>{7, 7 - (2 - 100), 7, 7 - 50}));
  OK(subtract_rows(this->ex, M.view(), 2, rows.data(), 0.5, s.data(), x.data(), y.data()));
  EXPECT_EQ(this->to_host(y), (std::vector<double>{7, 105 + 98, 7, -43 - 75}));
  OK(subtract_rows(this->ex, M.view(), 0, static_cast<const int *>(nullptr), 1, unscaled, x.data(), y.data()));
}
} // namespace amgkit::test
