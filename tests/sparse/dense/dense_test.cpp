#include "sparse/dense/dense.hpp"
#if defined(AMGKIT_HAVE_CUDA)
  #include "sparse/dense/gauss_jordan_cuda.hpp"
#endif

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
  DenseNorms norms;
  OK(upload(this->ex, A, M));
  OK(upload(this->ex, none, O));
  OK(inverse.allocate(this->ex, n * n));
  OK(dense_rows(this->ex, M.view(), O.view(), 0, static_cast<const int *>(nullptr), n, inverse.data()));
  std::vector<double> x(n), b(n);
  for (int i = 0; i < n; i++) x[i] = std::sin(i);
  double largest_x = 0, largest_b = 0, largest_sum = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      b[i] += A.val[k] * x[A.col[k]];
      sum += std::abs(A.val[k]);
    }
    largest_x = std::max(largest_x, std::abs(x[i]));
    largest_b = std::max(largest_b, std::abs(b[i]));
    largest_sum = std::max(largest_sum, sum);
  }
  auto X = this->to_space(x), B = this->to_space(b), Y = this->to_space(std::vector<double>(n, NAN));
  OK(dense_norms(this->ex, n, inverse.data(), X.data(), &norms));
  EXPECT_NEAR(norms.matrix, largest_sum, 1e-12);
  EXPECT_EQ(norms.vector, largest_x);
  EXPECT_NEAR(norms.image, largest_b, 1e-12);
  EXPECT_GT(norms.asymmetry, 0.001);
  EXPECT_LT(norms.asymmetry, 0.1);
  OK(dense_invert(this->ex, n, false, inverse.data(), &singular));
  EXPECT_FALSE(singular);
  OK(dense_apply(this->ex, n, inverse.data(), B.data(), Y.data()));
  const auto y = this->to_host(Y);
  for (int i = 0; i < n; i++) EXPECT_NEAR(y[i], x[i], 1e-12);
}

TYPED_TEST(Dense, SingularIsSaidNotReturned)
{
  for (double corner : {4.0, 5.0, 4.0}) { // again and again
    bool singular = corner != 4;
    auto A = this->to_space(std::vector<double>{1, 2, 2, corner});
    OK(dense_invert(this->ex, 2, corner == 5, A.data(), &singular));
    EXPECT_EQ(singular, corner == 4);
  }
}

TYPED_TEST(Dense, ALargeRowHidesNoAsymmetry)
{
  DenseNorms norms;
  auto A = this->to_space(std::vector<double>{1e20, 0, 0, 0, 3, 1, 0, 0, 2}), x = this->to_space(std::vector<double>(3, 1));
  OK(dense_norms(this->ex, 3, A.data(), x.data(), &norms));
  EXPECT_EQ(norms.asymmetry, 0.5); // of the last row
}

// M inverse is I, both by rows.
static void expect_inverse(int n, const std::vector<double> &M, const std::vector<double> &inverse, double tolerance)
{
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += M[i * n + k] * inverse[k * n + j];
      ASSERT_NEAR(s, i == j, tolerance) << i << ", " << j;
    }
  }
}

// Positive definite, negative definite and indefinite
TYPED_TEST(Dense, SymmetricMatricesOfAnySignAreInverted)
{
  constexpr int n = 90;
  for (double shift : {2.5, -2.5, 0.3}) {
    std::vector<double> M(n * n);
    for (int i = 0; i < n; i++) {
      M[i * n + i] = shift;
      if (i > 0) M[i * n + i - 1] = M[(i - 1) * n + i] = -1;
    }
    auto A = this->to_space(M), x = this->to_space(std::vector<double>(n, 1));
    bool singular = true;
    DenseNorms norms;
    OK(dense_norms(this->ex, n, A.data(), x.data(), &norms));
    EXPECT_EQ(norms.asymmetry, 0);
    OK(dense_invert(this->ex, n, true, A.data(), &singular));
    EXPECT_FALSE(singular);
    SCOPED_TRACE(shift);
    expect_inverse(n, M, this->to_host(A), 1e-11);
  }
}

// Around the sizes of blocks and tiles; symmetric or not; rows in an order that needs pivots, where LU takes over.
TYPED_TEST(Dense, InversesOfAllSizes)
{
  for (int n : {1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 257, 512}) {
    for (const bool symmetric : {true, false}) {
      for (const bool shifted : {false, true}) {
        if (symmetric && shifted) continue;
        SCOPED_TRACE(std::to_string(n) + (symmetric ? ", symmetric" : shifted ? ", shifted" : ""));
        std::vector<double> M(n * n);
        const auto at = [&](int i, int j) -> double & { return M[(shifted ? (i + 1) % n : i) * n + j]; };
        for (int i = 0; i < n; i++) {
          for (int j = 0; j < n; j++) at(i, j) = i == j ? 3 : (symmetric || i < j ? 1 : 0.5) / (1.5 + std::abs(i - j) * std::abs(i - j));
        }
        auto A = this->to_space(M);
        bool singular = true;
        OK(dense_invert(this->ex, n, symmetric, A.data(), &singular));
        EXPECT_FALSE(singular);
        expect_inverse(n, M, this->to_host(A), shifted ? 1e-8 : 1e-12);
      }
    }
  }
}

#if defined(AMGKIT_HAVE_CUDA)
// Who tries it first: both kinds, and one where it must not succeed; and one of too many rows.
TYPED_TEST(Dense, GaussJordanDoesWhatItCan)
{
  if constexpr (TypeParam::on_device) {
    constexpr int n = 100, many = 2049;
    for (const bool symmetric : {true, false}) {
      for (const bool shifted : {false, true}) {
        std::vector<double> M(n * n);
        for (int i = 0; i < n; i++) {
          const int step = shifted ? 2 : 1; // pivots are taken by twos
          M[i * n + (shifted ? (i + step) % n : i)] = 4;
          if (i >= step) M[i * n + i - step] += -1;
          if (i + step < n) M[i * n + i + step] += symmetric ? -1 : -0.5;
        }
        auto A = this->to_space(M);
        bool done = shifted;
        OK(gauss_jordan(this->ex, n, symmetric && !shifted, A.data(), &done));
        EXPECT_EQ(done, !shifted);
        if (!done) {
          EXPECT_EQ(this->to_host(A), M);
        }
      }
    }
    std::vector<double> M(std::size_t{many} * many, 1);
    for (std::size_t i = 0; i < many; i++) M[i * many + i] = 3;
    auto A = this->to_space(M);
    bool singular = true;
    OK(dense_invert(this->ex, many, true, A.data(), &singular));
    EXPECT_FALSE(singular);
    const auto inverse = this->to_host(A); // of 2 I + 1 1ᵀ
    for (std::size_t i = 0; i < many; i += 97)
      for (std::size_t j = 0; j < many; j++) ASSERT_NEAR(inverse[i * many + j], (i == j ? 0.5 : 0) - 0.25 / (1 + 0.5 * many), 1e-12);
  }
}
#endif

// Without pivoting the first pivot, 1e-20, makes numbers that leave nothing of A.
TYPED_TEST(Dense, SmallPivotsAreNotTaken)
{
  constexpr int n = 40;
  std::vector<double> M(n * n);
  for (int i = 0; i < n; i++) M[i * n + i] = 2;
  M[0] = 1e-20;
  M[2] = M[2 * n] = 1; // not in the first two rows, which a GPU takes together
  for (const bool symmetric : {true, false}) {
    auto A = this->to_space(M);
    bool singular = true;
    OK(dense_invert(this->ex, n, symmetric, A.data(), &singular));
    EXPECT_FALSE(singular);
    const auto inverse = this->to_host(A); // of rows 0 and 2: (2, -1; -1, 0) / -1
    EXPECT_NEAR(inverse[0], -2, 1e-12);
    EXPECT_NEAR(inverse[2], 1, 1e-12);
    EXPECT_NEAR(inverse[2 * n], 1, 1e-12);
    EXPECT_NEAR(inverse[2 * n + 2], 0, 1e-12);
  }
}

// The product of two pivots is no number, or none with all digits.
TYPED_TEST(Dense, PivotsMayBeOfAnySize)
{
  constexpr int n = 70;
  for (const double s : {1e-160, 1e-158, 1e-150, 1e150, 1e160}) {
    std::vector<double> M(n * n);
    for (int i = 0; i < n; i++) {
      M[i * n + i] = 2.5 * s;
      if (i > 0) M[i * n + i - 1] = M[(i - 1) * n + i] = -s;
    }
    for (const bool symmetric : {true, false}) {
      auto A = this->to_space(M);
      bool singular = true;
      OK(dense_invert(this->ex, n, symmetric, A.data(), &singular));
      EXPECT_FALSE(singular);
      const auto inverse = this->to_host(A);
      for (int i = 0; i < n; i++) { // M inverse e_0 = e_0
        double sum = 0;
        for (int j = 0; j < n; j++) sum += M[i * n + j] * inverse[j * n];
        ASSERT_NEAR(sum, i == 0, 1e-12) << s << ", row " << i;
      }
    }
  }
}

// 600 rows, as many as the coarsest matrices of elasticity have: s (D + 1 1ᵀ), s = 1, -1. Its inverse is s (D⁻¹ - D⁻¹ 1 1ᵀ D⁻¹ / (1 + sum_i
// 1/d_i)). On a GPU it is symmetric to the last bit where A is known to be.
TYPED_TEST(Dense, DefiniteMatricesHaveSymmetricInverses)
{
  constexpr int n = 600;
  const auto d = [](int i) { return 2 + i % 7 / 3.; };
  double sum = 1;
  for (int i = 0; i < n; i++) sum += 1 / d(i);
  for (const double s : {1.0, -1.0}) {
    for (const bool symmetric : {true, false}) {
      SCOPED_TRACE(std::to_string(s) + (symmetric ? ", symmetric" : ", as if it were not"));
      std::vector<double> M(n * n, s);
      for (int i = 0; i < n; i++) M[i * n + i] += s * d(i);
      auto A = this->to_space(M);
      bool singular = true;
      OK(dense_invert(this->ex, n, symmetric, A.data(), &singular));
      EXPECT_FALSE(singular);
      const auto inverse = this->to_host(A);
      int uneven = 0;
      for (int k = 0; k < n * n; k++) {
        const int i = k / n, j = k % n;
        uneven += inverse[k] != inverse[j * n + i];
        ASSERT_NEAR(inverse[k], s * ((i == j) / d(i) - 1 / (d(i) * d(j) * sum)), 1e-13);
      }
      EXPECT_EQ(uneven == 0, TypeParam::on_device && symmetric);
    }
  }
}

TYPED_TEST(Dense, NormsOfWhatIsNoNumberAreInfinite)
{
  DenseNorms norms;
  auto A = this->to_space(std::vector<double>{1, 2, NAN, 4}), x = this->to_space(std::vector<double>{-3, 1});
  OK(dense_norms(this->ex, 2, A.data(), x.data(), &norms));
  EXPECT_EQ(norms.matrix, HUGE_VAL);
  EXPECT_EQ(norms.vector, 3);
  EXPECT_EQ(norms.image, HUGE_VAL);
  norms = {1, 1, 1};
  OK(dense_norms(this->ex, 0, A.data(), x.data(), &norms));
  EXPECT_EQ(norms.matrix + norms.vector + norms.image, 0);
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

TYPED_TEST(Dense, RowsAndColumnsAreScaledByPowersOfTwo)
{
  constexpr int n = 5;
  const double largest = std::ldexp(1.75, 1023), smallest = std::ldexp(1, -1070);
  const std::vector<double> M = {3,  -5,       0,   1,        2,        // 4
                                 0,  0,        0,   0,        0,        // none
                                 1,  -largest, 0,   1,        1,        //
                                 0,  0,        0,   smallest, smallest, // whose inverse is infinite
                                 -1, 0.5,      NAN, 1,        0};
  const std::vector<double> expected = {0.25, 1, std::ldexp(1, -1023), std::ldexp(1, 1022), 1};
  auto A = this->to_space(M), scale = this->to_space(std::vector<double>(n, 7));
  OK(dense_scale_rows(this->ex, n, A.data(), scale.data()));
  EXPECT_EQ(this->to_host(scale), expected);
  const auto scaled = this->to_host(A);
  for (int i = 0; i + 1 < n; i++) {
    for (int j = 0; j < n; j++) EXPECT_EQ(scaled[i * n + j], M[i * n + j] * expected[i]) << i << ", " << j;
  }
  auto B = this->to_space(std::vector<double>(n * n, 3));
  OK(dense_scale_columns(this->ex, n, scale.data(), B.data()));
  const auto columns = this->to_host(B);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) EXPECT_EQ(columns[i * n + j], 3 * expected[j]) << i << ", " << j;
  }
}
} // namespace amgkit::test
