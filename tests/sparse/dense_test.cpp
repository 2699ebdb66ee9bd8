#include "sparse/dense.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using Dense = SpaceTest<Ex>;
TYPED_TEST_SUITE(Dense, Spaces, SpaceName);

TYPED_TEST(Dense, InverseTimesMatrixIsTheIdentity)
{
  HostCsr A = grid7(5, 4, 3);
  for (int k = 0; k < A.ptr.back(); k++) A.val[k] += 0.01 * (k % 7); // not symmetric
  const HostCsr none = make_csr(A.rows, 0, {});
  const int n = A.rows;
  Csr<double, TypeParam> M, O;
  Array<double, TypeParam> inverse;
  bool singular = true;
  double norm = 0;
  OK(upload(this->ex, A, M));
  OK(upload(this->ex, none, O));
  OK(inverse.allocate(this->ex, n * n));
  OK(dense_rows(this->ex, M.view(), O.view(), 0, static_cast<const int *>(nullptr), n, inverse.data()));
  OK(dense_norm(this->ex, n, inverse.data(), &norm));
  EXPECT_GT(norm, 6);
  EXPECT_LT(norm, 12.5);
  DenseInversion<TypeParam> inversion;
  OK(inversion.begin(this->ex, n, inverse.data()));
  std::vector<double> x(n), b(n);
  for (int i = 0; i < n; i++) x[i] = std::sin(i);
  for (int i = 0; i < n; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) b[i] += A.val[k] * x[A.col[k]];
  }
  auto B = this->to_space(b), Y = this->to_space(std::vector<double>(n, NAN));
  OK(inversion.finish(this->ex, &singular)); // after other work of the space
  EXPECT_FALSE(singular);
  OK(dense_apply(this->ex, n, inverse.data(), B.data(), Y.data()));
  const auto y = this->to_host(Y);
  for (int i = 0; i < n; i++) EXPECT_NEAR(y[i], x[i], 1e-12);
}

TYPED_TEST(Dense, SingularIsSaidNotReturned)
{
  DenseInversion<TypeParam> inversion;
  for (double corner : {4.0, 5.0, 4.0}) { // again and again
    bool singular = corner != 4;
    auto A = this->to_space(std::vector<double>{1, 2, 2, corner});
    OK(inversion.begin(this->ex, 2, A.data()));
    OK(inversion.finish(this->ex, &singular));
    EXPECT_EQ(singular, corner == 4);
  }
}

TYPED_TEST(Dense, AnInversionMayBeLeftOrBegunAgain)
{
  const int n = 200;
  std::vector<double> diagonal(n * n);
  for (int i = 0; i < n; i++) diagonal[i * n + i] = 2;
  auto left = this->to_space(diagonal), A = this->to_space(diagonal);
  bool singular = true;
  {
    DenseInversion<TypeParam> inversion;
    OK(inversion.begin(this->ex, n, left.data()));
    OK(inversion.begin(this->ex, n, A.data()));
    OK(inversion.finish(this->ex, &singular));
    EXPECT_FALSE(singular);
    EXPECT_EQ(this->to_host(A)[n + 1], 0.5);
    OK(inversion.begin(this->ex, n, left.data()));
  }
}

TYPED_TEST(Dense, GhostColumnsGoWhereTheyBelong)
{
  const HostCsr A = make_csr(2, 2, {{{0, 0}, 1}, {{1, 1}, 2}}), O = make_csr(2, 2, {{{0, 1}, 7}, {{1, 0}, 5}});
  Csr<double, TypeParam> M, N;
  OK(upload(this->ex, A, M));
  OK(upload(this->ex, O, N));
  auto ghost = this->to_space(std::vector<int>{0, 4});
  auto rows = this->to_space(std::vector<double>(10, NAN));
  OK(dense_rows(this->ex, M.view(), N.view(), 2, ghost.data(), 5, rows.data()));
  EXPECT_EQ(this->to_host(rows), (std::vector<double>{0, 0, 1, 0, 7, 5, 0, 0, 2, 0}));
}
} // namespace amgkit::test
