#include "sparse/spmv.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> using Spmv = SpaceTest<Ex>;
TYPED_TEST_SUITE(Spmv, Spaces, SpaceName);

TYPED_TEST(Spmv, ProductsFollowTheirFormulas)
{
  for (const auto &[name, A] : gallery()) {
    const int n = A.rows;
    const auto x = wave(n, 0.7), b = wave(n, 0.3), d = wave(n, 0.1);
    const auto previous = wave(n, 0.9);
    std::vector<double> Ax(n), r(n), s(n), dx(n), moved(n), from_zero(n), sum(n);
    for (int i = 0; i < n; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) Ax[i] += A.val[k] * x[A.col[k]];
      r[i] = b[i] - Ax[i];
      s[i] = x[i] + d[i] * r[i];
      dx[i] = 3 * d[i] * x[i];
      moved[i] = x[i] + 0.25 * (x[i] - previous[i]) + 2 * d[i] * r[i];
      from_zero[i] = 1.25 * x[i] + 2 * d[i] * r[i];
      sum[i] = previous[i] + x[i];
    }
    Csr<double, TypeParam> M;
    OK(upload(this->ex, A, M));
    auto X = this->to_space(x), B = this->to_space(b), D = this->to_space(d), Y = this->to_space(std::vector<double>(n, NAN));
    OK(spmv(this->ex, M.view(), X.data(), Y.data()));
    expect_close(this->to_host(Y), Ax, 1e-11, name);
    OK(residual(this->ex, M.view(), B.data(), X.data(), Y.data()));
    expect_close(this->to_host(Y), r, 1e-11, name);
    OK(relax(this->ex, M.view(), D.data(), {}, B.data(), X.data(), nullptr, Y.data()));
    expect_close(this->to_host(Y), s, 1e-11, name);
    OK(relax(this->ex, M.view(), D.data(), {0.25, 2}, B.data(), X.data(), nullptr, Y.data()));
    expect_close(this->to_host(Y), from_zero, 1e-11, name);
    auto P = this->to_space(previous);
    OK(relax(this->ex, M.view(), D.data(), {0.25, 2}, B.data(), X.data(), P.data(), P.data()));
    expect_close(this->to_host(P), moved, 1e-11, name);
    OK(scale(this->ex, n, 3, D.data(), X.data(), Y.data()));
    expect_close(this->to_host(Y), dx, 1e-11, name);
    P = this->to_space(previous);
    OK(add(this->ex, n, X.data(), P.data()));
    expect_close(this->to_host(P), sum, 1e-11, name);
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
  OK(subtract_rows(this->ex, M.view(), 2, rows.data(), 1, nullptr, x.data(), y.data()));
  EXPECT_EQ(this->to_host(y), (std::vector<double>{7, 7 - (2 - 100), 7, 7 - 50}));
  OK(subtract_rows(this->ex, M.view(), 2, rows.data(), 0.5, s.data(), x.data(), y.data()));
  EXPECT_EQ(this->to_host(y), (std::vector<double>{7, 105 + 98, 7, -43 - 75}));
  OK(subtract_rows(this->ex, M.view(), 0, static_cast<const int *>(nullptr), 1, nullptr, x.data(), y.data()));
}
} // namespace amgkit::test
