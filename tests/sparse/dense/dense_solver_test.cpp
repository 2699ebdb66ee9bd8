#include "sparse/dense/dense_solver.hpp"

#include "support/spaces.hpp"

#include <cmath>
#include <random>

namespace amgkit::test
{
template <class Ex> using DenseSolverTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(DenseSolverTest, Spaces, SpaceName);

namespace
{
struct Matrix {
  int n = 0;
  std::vector<double> a; // by rows
  double &at(int i, int j) { return a[static_cast<std::size_t>(i) * n + j]; }
  std::vector<double> times(const std::vector<double> &x, bool transposed) const
  {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < y.size(); i++)
      for (std::size_t j = 0; j < y.size(); j++) y[i] += (transposed ? a[j * n + i] : a[i * n + j]) * x[j];
    return y;
  }
};

// shift I + a random matrix with entries in [-1, 1], symmetric or not
Matrix random_matrix(int n, bool symmetric, double shift)
{
  std::mt19937 random(n);
  std::uniform_real_distribution<double> entry(-1, 1);
  Matrix A = {n, std::vector<double>(static_cast<std::size_t>(n) * n)};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) A.at(i, j) = symmetric && j < i ? A.at(j, i) : entry(random);
    A.at(i, i) += shift;
  }
  return A;
}

struct Outcome {
  bool singular = false, regularised = false;
};
template <class Ex>
Outcome prepare(Ex &ex, const Matrix &A, const std::vector<double> &z, DenseSolver<Ex> &solver, const std::vector<double> &parts = {})
{
  const int count = static_cast<int>(parts.size()) / A.n;
  Outcome outcome = {true, true};
  Array<double, Ex> vector, others;
  EXPECT_EQ(solver.allocate(ex, A.n), PETSC_SUCCESS);
  EXPECT_EQ(memory_from_host(ex, solver.matrix(), A.a.data(), A.a.size() * sizeof(double)), PETSC_SUCCESS);
  EXPECT_EQ(upload(ex, z, vector), PETSC_SUCCESS);
  EXPECT_EQ(upload(ex, parts, others), PETSC_SUCCESS);
  EXPECT_EQ(solver.prepare(ex, {vector.data(), count, others.data()}, &outcome.singular, &outcome.regularised), PETSC_SUCCESS);
  return outcome;
}
std::vector<double> ones(int n) { return std::vector<double>(n, 1.0); }
} // namespace

// Positive and negative definite, indefinite, not symmetric, and with rows in units of their own; one solver for all, one after the other.
TYPED_TEST(DenseSolverTest, SolvesWithTheMatrixAndItsTranspose)
{
  DenseSolver<TypeParam> solver;
  for (const int n : {1, 2, 33, 130}) {
    for (const auto &[symmetric, shift, units] :
         {std::tuple{true, 2. * n, 1.}, {true, -2. * n, 1.}, {true, 1.5, 1.}, {false, 2., 1.}, {false, 2., 1e40}}) {
      SCOPED_TRACE(std::to_string(n) + (symmetric ? " symmetric " : " not symmetric ") + std::to_string(shift) + " " +
                   std::to_string(units));
      Matrix A = random_matrix(n, symmetric, shift);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A.at(i, j) *= i % 3 == 1 ? units : 1;
      const Outcome outcome = prepare(this->ex, A, ones(n), solver);
      EXPECT_FALSE(outcome.singular || outcome.regularised);
      std::vector<double> x(n);
      for (int i = 0; i < n; i++) x[i] = std::sin(i + 1);
      const auto b = A.times(x, false), bt = A.times(x, true);
      auto B = this->to_space(b), Bt = this->to_space(bt), X = this->to_space(std::vector<double>(n, NAN));
      OK(solver.solve(this->ex, B.data(), X.data()));
      const auto solved = this->to_host(X);
      OK(solver.solve_transposed(this->ex, Bt.data(), X.data()));
      const auto solved_transposed = this->to_host(X);
      for (int i = 0; i < n; i++) EXPECT_NEAR(solved[i], x[i], 1e-9) << i;
      for (int i = 0; i < n && units == 1; i++) EXPECT_NEAR(solved_transposed[i], x[i], 1e-9) << i; // else rounding hides the small rows
      auto b32 = this->to_space(std::vector<float>(b.begin(), b.end())), x32 = this->to_space(std::vector<float>(n, NAN));
      OK(solver.solve(this->ex, b32.data(), x32.data()));
      const auto solved32 = this->to_host(x32);
      for (int i = 0; i < n && shift != 1.5 && shift != 2.; i++) EXPECT_NEAR(solved32[i], x[i], 1e-5) << i;
    }
  }
}

TYPED_TEST(DenseSolverTest, SaysWhatIsSingular)
{
  DenseSolver<TypeParam> solver;
  const std::vector<double> z = {1, 2};
  for (const bool symmetric : {true, false}) {
    const double b = symmetric ? 2 : 3, singular = 2 * b;
    EXPECT_TRUE(prepare(this->ex, {2, {1, 2, b, singular}}, z, solver).singular);
    EXPECT_TRUE(prepare(this->ex, {2, {1, 2, b, singular * (1 + 1e-15)}}, z, solver).singular);
    EXPECT_FALSE(prepare(this->ex, {2, {1, 2, b, singular * (1 + 1e-12)}}, z, solver).singular);
    EXPECT_TRUE(prepare(this->ex, {2, {1, 2, b, NAN}}, z, solver).singular);
  }
  EXPECT_TRUE(prepare(this->ex, {2, {0, 0, 0, 0}}, {0, 0}, solver).singular);
  EXPECT_FALSE(prepare(this->ex, {2, {1e-30, 2e-30, 1e30, -1e30}}, z, solver).singular); // only its units differ
}

// A Laplacian of a closed chain with weights: the constant is its null space, and b has no part along it.
TYPED_TEST(DenseSolverTest, IsRegularAlongTheVectorOfANullSpace)
{
  constexpr int n = 50;
  Matrix A = {n, std::vector<double>(std::size_t{n} * n)};
  for (int i = 0; i < n; i++) {
    const int j = (i + 1) % n;
    const double weight = 1 + i % 4;
    A.at(i, i) += weight;
    A.at(j, j) += weight;
    A.at(i, j) -= weight;
    A.at(j, i) -= weight;
  }
  DenseSolver<TypeParam> solver;
  const Outcome outcome = prepare(this->ex, A, ones(n), solver);
  EXPECT_TRUE(outcome.regularised);
  EXPECT_FALSE(outcome.singular);
  std::vector<double> b(n);
  b[3] = 1;
  b[30] = -1;
  auto B = this->to_space(b), X = this->to_space(std::vector<double>(n, NAN));
  OK(solver.solve(this->ex, B.data(), X.data()));
  const auto back = A.times(this->to_host(X), false);
  for (int i = 0; i < n; i++) EXPECT_NEAR(back[i], b[i], 1e-12);
  std::vector<double> other(n, 1);
  other[0] = 2;
  const Outcome without = prepare(this->ex, A, other, solver);
  EXPECT_TRUE(without.singular);
  EXPECT_FALSE(without.regularised);
}

// Three closed chains: the constants of all three are its null space. One of four parts of z is in it only together with another.
TYPED_TEST(DenseSolverTest, IsRegularAlongThePartsOfTheVector)
{
  constexpr int n = 30;
  Matrix A = {n, std::vector<double>(std::size_t{n} * n)};
  std::vector<double> parts(std::size_t{n} * 4);
  for (int i = 0; i < n; i++) {
    const int chain = i / 10, j = chain * 10 + (i + 1) % 10;
    A.at(i, i) += 2;
    A.at(j, j) += 2;
    A.at(i, j) -= 2;
    A.at(j, i) -= 2;
    const int part = chain == 2 && i % 2 == 0 ? 3 : chain;
    parts[static_cast<std::size_t>(part) * n + i] = 1;
  }
  DenseSolver<TypeParam> solver;
  EXPECT_TRUE(prepare(this->ex, A, ones(n), solver).singular);
  const Outcome outcome = prepare(this->ex, A, ones(n), solver, parts); // along z and two of its parts, thus along all three chains
  EXPECT_TRUE(outcome.regularised);
  EXPECT_FALSE(outcome.singular);
  std::vector<double> b(n);
  for (int i = 0; i < n; i += 10) {
    b[i] = 1;
    b[i + 5] = -1;
  }
  auto B = this->to_space(b), X = this->to_space(std::vector<double>(n, NAN));
  OK(solver.solve(this->ex, B.data(), X.data()));
  const auto back = A.times(this->to_host(X), false);
  for (int i = 0; i < n; i++) EXPECT_NEAR(back[i], b[i], 1e-12);
  Matrix held = A; // by its first chain: A z is not 0, and nothing changes, so that A is as singular as before
  held.at(0, 0) += 1;
  const Outcome unchanged = prepare(this->ex, held, ones(n), solver, parts);
  EXPECT_FALSE(unchanged.regularised);
  EXPECT_TRUE(unchanged.singular);
}

// Against the norm of the inverse itself.
TEST(DenseFactor, EstimatesTheNormOfTheInverse)
{
  Host ex;
  OK(open(ex));
  for (const int n : {1, 2, 7, 60}) {
    for (const bool symmetric : {true, false}) {
      for (const double shift : {0.0, 3.0, 2.0 * n}) {
        SCOPED_TRACE(std::to_string(n) + (symmetric ? " symmetric " : " ") + std::to_string(shift));
        Matrix A = random_matrix(n, symmetric, shift), inverse = A;
        Array<PetscBLASInt, Host> pivots;
        DenseNorms norms;
        bool singular = true;
        double estimate = NAN;
        OK(dense_invert(ex, n, symmetric, inverse.a.data(), &singular));
        OK(dense_norms(ex, n, inverse.a.data(), ones(n).data(), &norms));
        OK(dense_factor(ex, n, symmetric, A.a.data(), pivots, &estimate));
        EXPECT_LE(estimate, norms.matrix * (1 + 1e-10));
        EXPECT_GE(estimate, norms.matrix / 3);
      }
    }
  }
  OK(close(ex));
}

// LU exchanges the first two rows. A matrix that is not positive definite is whole again when LU takes it.
TEST(DenseFactor, TriesCholeskyFirst)
{
  Host ex;
  OK(open(ex));
  constexpr int n = 40;
  for (const bool definite : {true, false}) {
    Matrix A = random_matrix(n, true, 2 * n);
    A.at(0, 0) = 2;
    A.at(0, 1) = A.at(1, 0) = 3;
    if (!definite) A.at(n - 1, n - 1) = -1; // seen in the last step
    const Matrix given = A;
    Array<PetscBLASInt, Host> pivots;
    double inverse_norm = NAN;
    OK(dense_factor(ex, n, true, A.a.data(), pivots, &inverse_norm));
    EXPECT_EQ(pivots.data()[0] == 1, definite);
    std::vector<double> x = given.times(ones(n), false);
    OK(dense_solve(n, A.a.data(), pivots, false, x.data()));
    for (double entry : x) EXPECT_NEAR(entry, 1, 1e-12);
  }
  OK(close(ex));
}
} // namespace amgkit::test
