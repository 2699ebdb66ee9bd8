#include "amg/kcycle.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <cmath>
#include <limits>

namespace amgkit::test
{
template <class Ex> using KCycleSteps = SpaceTest<Ex>;
TYPED_TEST_SUITE(KCycleSteps, Spaces, SpaceName);

namespace
{
using Vector = std::vector<double>;
double dot_product(const Vector &x, const Vector &y)
{
  double s = 0;
  for (std::size_t i = 0; i < x.size(); i++) s += x[i] * y[i];
  return s;
}
Vector times(const HostCsr &A, const Vector &x)
{
  Vector y(A.rows);
  for (int i = 0; i < A.rows; i++)
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) y[i] += A.val[k] * x[A.col[k]];
  return y;
}

// x and r_2 for corrections c_1 and c_2 of A x = r, as the cycle calls the steps
template <class Ex>
PetscErrorCode two_steps(Ex &ex, const HostCsr &A, bool gcr, const Vector &r, const Vector &c1, const Vector &c2, Vector *x)
{
  const int n = A.rows;
  KCycle<Ex> k;
  Array<double, Ex> R, X, V1, C2, V2, D, first;
  Vector stepped, after;

  PetscFunctionBegin;
  PetscCall(k.allocate(ex, n));
  PetscCall(upload(ex, wave(n, 0.2), D));
  PetscCall(first.allocate(ex, n));
  PetscCall(upload(ex, r, R));
  PetscCall(upload(ex, c1, X));
  PetscCall(upload(ex, times(A, c1), V1));
  PetscCall(upload(ex, c2, C2));
  PetscCall(upload(ex, times(A, c2), V2));
  double *sums = k.sums.data(), *work = k.work.data();
  PetscCall(sum_products(ex, n, X.data(), V1.data(), ProductSums<5, double>{gcr, R.data(), nullptr, work, sums}));
  PetscCall(kcycle_residual(ex, n, V1.data(), sums, R.data(), {n, 0.75, D.data(), nullptr, first.data()}));
  PetscCall(download(ex, first.data(), n, stepped));
  PetscCall(download(ex, R.data(), n, after));
  for (int i = 0; i < n; i++) EXPECT_EQ(stepped[i], 0.75 * wave(n, 0.2)[i] * after[i]) << i;
  PetscCall(sum_products(ex, n, C2.data(), V2.data(), ProductSums<3, double>{gcr, R.data(), V1.data(), work, sums + kcycle_first_sums}));
  PetscCall(kcycle_combine(ex, n, sums, C2.data(), X.data()));
  PetscCall(download(ex, X.data(), n, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Vector residual_of(const HostCsr &A, const Vector &r, const Vector &x)
{
  Vector Ax = times(A, x);
  for (std::size_t i = 0; i < Ax.size(); i++) Ax[i] = r[i] - Ax[i];
  return Ax;
}
} // namespace

// FCG: the error is least in the norm of A, so the residual is orthogonal to both corrections. GCR: the residual is least.
TYPED_TEST(KCycleSteps, AreOptimalOverBothCorrections)
{
  const HostCsr A = grid7(7, 6, 5, 1, 2, 0.5);
  const Vector r = wave(A.rows, 0.3), c1 = wave(A.rows, 0.9), c2 = wave(A.rows, 1.7);
  const Vector v1 = times(A, c1), v2 = times(A, c2);
  Vector x;
  OK(two_steps(this->ex, A, false, r, c1, c2, &x));
  Vector left = residual_of(A, r, x);
  EXPECT_NEAR(dot_product(left, c1), 0, 1e-12 * A.rows);
  EXPECT_NEAR(dot_product(left, c2), 0, 1e-12 * A.rows);
  OK(two_steps(this->ex, A, true, r, c1, c2, &x));
  left = residual_of(A, r, x);
  EXPECT_NEAR(dot_product(left, v1), 0, 1e-12 * A.rows);
  EXPECT_NEAR(dot_product(left, v2), 0, 1e-12 * A.rows);
}

TYPED_TEST(KCycleSteps, StopAfterOneThatIsGoodEnough)
{
  const HostCsr A = grid7(7, 6, 5);
  const Vector exact = wave(A.rows, 0.3), c2 = wave(A.rows, 1.7), r = times(A, exact);
  for (bool gcr : {false, true}) {
    for (double noise : {0.05, 5.0}) {
      Vector c1 = exact, x;
      for (int i = 0; i < A.rows; i++) c1[i] = 2 * (c1[i] + noise * c2[i]);
      const Vector v1 = times(A, c1), &u1 = gcr ? v1 : c1;
      const double step = dot_product(u1, r) / dot_product(u1, v1);
      OK(two_steps(this->ex, A, gcr, r, c1, c2, &x));
      Vector first = c1;
      for (double &entry : first) entry *= step;
      const Vector left = residual_of(A, r, first);
      const bool enough = std::sqrt(dot_product(left, left) / dot_product(r, r)) <= 0.25;
      EXPECT_EQ(enough, noise < 1);
      for (int i = 0; i < A.rows; i++) ASSERT_NEAR(x[i], enough ? first[i] : exact[i], 1e-11);
    }
  }
}

TYPED_TEST(KCycleSteps, NothingAndDependentCorrectionsGiveNoNaN)
{
  const HostCsr A = grid7(4, 4, 4);
  const Vector zero(A.rows, 0.0), r = wave(A.rows, 0.3), c = wave(A.rows, 0.9);
  for (bool gcr : {false, true}) {
    Vector x;
    OK(two_steps(this->ex, A, gcr, zero, zero, zero, &x));
    EXPECT_EQ(x, zero);
    OK(two_steps(this->ex, A, gcr, r, zero, zero, &x));
    EXPECT_EQ(x, zero);
    OK(two_steps(this->ex, A, gcr, r, c, c, &x)); // the second adds nothing
    const Vector v = times(A, c), &u = gcr ? v : c;
    for (int i = 0; i < A.rows; i++) ASSERT_NEAR(x[i], dot_product(u, r) / dot_product(u, v) * c[i], 1e-12);
  }
}

// Of vectors as large as these the sums are no numbers.
TYPED_TEST(KCycleSteps, SumsThatOverflowGiveNoNaN)
{
  const HostCsr A = grid7(4, 4, 4);
  const Vector r = wave(A.rows, 0.3), c = wave(A.rows, 0.9);
  for (bool gcr : {false, true}) {
    Vector large = c, x;
    for (double &entry : large) entry *= 1e200;
    OK(two_steps(this->ex, A, gcr, r, large, c, &x));
    EXPECT_EQ(x, large);
    OK(two_steps(this->ex, A, gcr, r, c, large, &x));
    const Vector v = times(A, c), &u = gcr ? v : c;
    for (int i = 0; i < A.rows; i++) ASSERT_NEAR(x[i], dot_product(u, r) / dot_product(u, v) * c[i], 1e-12);
    Vector none = c;
    none[3] = std::numeric_limits<double>::quiet_NaN(); // what became of the second correction does not matter then
    OK(two_steps(this->ex, A, gcr, r, large, none, &x));
    EXPECT_EQ(x, large);
  }
}

// A Krylov method hands the cycle vectors of norm 1: corrections of a matrix of size s have the size 1 / s, whose square may be no number.
TYPED_TEST(KCycleSteps, DoNotDependOnTheMatrixsScale)
{
  const HostCsr A = grid7(7, 6, 5, 1, 2, 0.5);
  const Vector r = wave(A.rows, 0.3), c1 = wave(A.rows, 0.9), c2 = wave(A.rows, 1.7);
  for (bool gcr : {false, true}) {
    Vector expected;
    OK(two_steps(this->ex, A, gcr, r, c1, c2, &expected));
    for (int exponent : {-900, -530, 530, 900}) { // powers of 2 change no digit
      HostCsr B = A;
      Vector d1 = c1, d2 = c2, x;
      for (double &entry : B.val) entry = std::ldexp(entry, exponent);
      for (Vector *d : {&d1, &d2})
        for (double &entry : *d) entry = std::ldexp(entry, -exponent);
      OK(two_steps(this->ex, B, gcr, r, d1, d2, &x));
      for (double &entry : x) entry = std::ldexp(entry, exponent);
      EXPECT_EQ(x, expected) << gcr << " 2^" << exponent;
    }
  }
}
} // namespace amgkit::test
