// The steps of flexible GMRES, against plain loops, in every space.
#include "krylov/fgmres.hpp"

#include "support/petsc_problems.hpp"
#include "support/vectors.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace amgkit::test
{
template <class Ex> using FgmresTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(FgmresTest, Spaces, SpaceName);

namespace
{
using Vector = std::vector<double>;

// Of this rank
double product(const Vector &a, const Vector &b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// A basis of `count` vectors and what the kernels work with, in a space.
template <class Ex> struct FgmresState {
  Ex &ex;
  std::vector<Array<double, Ex>> basis;
  Array<double *, Ex> table;
  Array<double, Ex> u, w, work, sums, column;

  explicit FgmresState(Ex &space) : ex(space) {}
  PetscErrorCode create(const std::vector<Vector> &vectors, const Vector &of_u, const Vector &of_w)
  {
    const auto count = static_cast<std::int64_t>(vectors.size());
    std::vector<double *> addresses;
    PetscFunctionBegin;
    for (const Vector &vector : vectors) {
      basis.emplace_back();
      PetscCall(upload(ex, vector, basis.back()));
      addresses.push_back(basis.back().data());
    }
    PetscCall(upload(ex, addresses, table));
    PetscCall(upload(ex, of_u, u));
    PetscCall(upload(ex, of_w, w));
    PetscCall(work.allocate(ex, fgmres_sums * sum_parts_of(static_cast<std::int64_t>(of_u.size()))));
    PetscCall(sums.allocate(ex, (count / fgmres_block + 1) * fgmres_sums));
    PetscCall(column.allocate(ex, 3 + 2 * count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  FgmresNumbers *numbers() { return reinterpret_cast<FgmresNumbers *>(column.data()); }
  FgmresPair *pairs() { return reinterpret_cast<FgmresPair *>(numbers() + 1); }
  // Iteration k: all three kernels, and what they leave
  PetscErrorCode orthogonalise(int k, FgmresColumn *out)
  {
    const std::int64_t n = u.size();
    std::vector<FgmresNumbers> got;
    PetscFunctionBegin;
    for (int first = 0; first <= k; first += fgmres_block) {
      const int count = std::min(fgmres_block, k + 1 - first);
      FgmresBlock block{};
      for (int c = 0; c < count; c++) block.vector[c] = first + c < k ? basis[first + c].data() : u.data();
      PetscCall(fgmres_dots(ex, n, count, block, u.data(), w.data(), work.data(), sums.data() + first / fgmres_block * fgmres_sums));
    }
    PetscCall(fgmres_coefficients(ex, k, sums.data(), numbers(), pairs()));
    PetscCall(fgmres_orthogonalise(ex, n, k, table.data(), w.data(), u.data(), work.data(), numbers(), pairs()));
    PetscCall(download(ex, numbers(), 1, got));
    PetscCall(download(ex, pairs(), k + 1, out->pairs));
    out->numbers = got[0];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Waves of different lengths, of norm 1
std::vector<Vector> waves(int count, int n)
{
  std::vector<Vector> vectors;
  for (int c = 0; c < count; c++) {
    vectors.push_back(wave(n, 0.3 + 0.37 * c));
    const double norm = std::sqrt(product(vectors.back(), vectors.back()));
    for (double &entry : vectors.back()) entry /= norm > 0 ? norm : 1;
  }
  return vectors;
}
} // namespace

TYPED_TEST(FgmresTest, DotsAreThoseOfPlainLoops)
{
  for (const int n : {0, 1, 31, 1000, 30000}) {
    for (int count = 1; count <= fgmres_block; count++) {
      const auto v = waves(count, n);
      const Vector u = wave(n, 1.1), w = wave(n, 0.2);
      FgmresState<TypeParam> state(this->ex);
      OK(state.create(v, u, w));
      FgmresBlock block{};
      for (int c = 0; c < count; c++) block.vector[c] = state.basis[c].data();
      OK(fgmres_dots(this->ex, n, count, block, state.u.data(), state.w.data(), state.work.data(), state.sums.data()));
      const auto sums = this->to_host(state.sums);
      ASSERT_NEAR(sums[0], product(w, w), 1e-12 * (1 + n));
      for (int c = 0; c < count; c++) {
        ASSERT_NEAR(sums[1 + 2 * c], product(v[c], u), 1e-12 * (1 + n)) << c;
        ASSERT_NEAR(sums[2 + 2 * c], product(v[c], w), 1e-12 * (1 + n)) << c;
      }
    }
  }
}

// Whatever the vectors are: the formulas, with bases below, at and beyond the size of a block.
TYPED_TEST(FgmresTest, AnIterationIsThatOfPlainLoops)
{
  for (const auto &[n, k] : {std::pair(1, 0), {31, 0}, {1000, 1}, {1000, 7}, {1000, 8}, {5000, 17}, {300000, 5}}) {
    const auto v = waves(k + 1, n);
    Vector u = wave(n, 1.7), w = wave(n, 0.11);
    FgmresState<TypeParam> state(this->ex);
    FgmresColumn column;
    OK(state.create(v, u, w));
    OK(state.orthogonalise(k, &column));

    double s_s = 0, s_h = 0, h_h = 0;
    const double u_u = product(u, u), u_w = product(u, w), w_w = product(w, w);
    Vector next_v = u, next_u = w;
    for (int c = 0; c < k; c++) {
      const double s = product(v[c], u), h = product(v[c], w);
      EXPECT_NEAR(column.pairs[c].s, s, 1e-11 * n);
      EXPECT_NEAR(column.pairs[c].h, h, 1e-11 * n);
      s_s += s * s;
      s_h += s * h;
      h_h += h * h;
      for (int i = 0; i < n; i++) next_v[i] -= s * v[c][i];
      for (int i = 0; i < n; i++) next_u[i] -= h * v[c][i];
    }
    ASSERT_GT(u_u, 1.1 * s_s);
    const double nu = std::sqrt(u_u - s_s), h = (u_w - s_h) / nu;
    EXPECT_NEAR(column.pairs[k].s, nu, 1e-11 * n);
    EXPECT_NEAR(column.pairs[k].h, h, 1e-11 * n);
    EXPECT_NEAR(column.numbers.w_w, w_w, 1e-11 * n);
    if (n == 1) continue; // σ is rounding
    ASSERT_GT(w_w, 1.1 * (h_h + h * h));
    const double sigma = std::sqrt(w_w - h_h - h * h);
    EXPECT_NEAR(column.numbers.sigma, sigma, 1e-11 * n);
    for (double &entry : next_v) entry /= nu;
    for (int i = 0; i < n; i++) next_u[i] = (next_u[i] - h * next_v[i]) / sigma;
    expect_close(this->to_host(state.basis[k]), next_v, 1e-11, "v");
    expect_close(this->to_host(state.u), next_u, 1e-11, "u");
    EXPECT_NEAR(column.numbers.u_u, product(next_u, next_u), 1e-11 * n);
  }
}

TYPED_TEST(FgmresTest, ResidualAndCorrectionAreThoseOfPlainLoops)
{
  for (const int n : {0, 1, 1000, 300000}) {
    const Vector b = wave(n, 0.3), w = wave(n, 0.7), y = wave(6, 2);
    const auto z = waves(6, n);
    FgmresState<TypeParam> state(this->ex);
    OK(state.create(z, b, w));
    auto Y = this->to_space(y), B = this->to_space(b), x = this->to_space(w);
    Array<double, TypeParam> to;
    OK(to.allocate(this->ex, n));
    Vector difference = b, corrected = w;
    for (int i = 0; i < n; i++) difference[i] -= w[i];
    OK(fgmres_residual(this->ex, n, B.data(), state.w.data(), state.u.data(), state.work.data(), state.sums.data()));
    EXPECT_EQ(this->to_host(state.u), difference);
    EXPECT_NEAR(this->to_host(state.sums)[0], product(difference, difference), 1e-12 * (1 + n));
    OK(fgmres_normalise(this->ex, n, 4, state.u.data()));
    for (double &entry : difference) entry /= 4;
    EXPECT_EQ(this->to_host(state.u), difference);
    OK(fgmres_residual<TypeParam>(this->ex, n, B.data(), nullptr, state.u.data(), state.work.data(), state.sums.data()));
    EXPECT_EQ(this->to_host(state.u), b);
    for (const int count : {0, 3, 6}) {
      corrected = w;
      for (int c = 0; c < count; c++) {
        for (int i = 0; i < n; i++) corrected[i] += y[c] * z[c][i];
      }
      OK(fgmres_correct<TypeParam>(this->ex, n, count, Y.data(), state.table.data(), x.data(), to.data()));
      expect_close(this->to_host(to), corrected, 1e-13, "x");
    }
    OK(fgmres_correct<TypeParam>(this->ex, n, 6, Y.data(), state.table.data(), x.data(), x.data()));
    expect_close(this->to_host(x), corrected, 1e-13, "x");
  }
}

// Directions that a Gram-Schmidt process in one pass loses: w is nearly a combination of the basis in every iteration.
TYPED_TEST(FgmresTest, TheBasisStaysOrthogonal)
{
  constexpr int n = 2000, count = 25;
  const Vector start = wave(n, 0.37);
  const double size = std::sqrt(product(start, start));
  Vector d(n), u = start;
  for (int i = 0; i < n; i++) d[i] = std::pow(10, -10.0 * i / n);
  for (double &entry : u) entry /= size;
  FgmresState<TypeParam> state(this->ex);
  HessenbergProblem problem;
  OK(state.create(waves(count, n), u, u));
  problem.begin(1);
  double before = 1;
  for (int k = 0; k < count; k++) {
    FgmresColumn column;
    const Vector now = this->to_host(state.u);
    Vector w(n);
    for (int i = 0; i < n; i++) w[i] = now[i] + 1e-3 * d[i] * now[i];
    OK(upload(this->ex, w, state.w));
    OK(state.orthogonalise(k, &column));
    const double norm = problem.add(column);
    EXPECT_LE(norm, before);
    before = norm;
  }
  EXPECT_FALSE(problem.exhausted());
  std::vector<Vector> v;
  for (const auto &vector : state.basis) v.push_back(this->to_host(vector));
  for (int c = 0; c < count; c++) {
    for (int e = 0; e <= c; e++) ASSERT_NEAR(product(v[c], v[e]), c == e, 1e-13) << c << ' ' << e;
  }
}

namespace
{
// Columns of which no vector was orthogonalised a second time
FgmresColumn plain_column(const Vector &h, double below)
{
  FgmresColumn column;
  for (const double entry : h) column.pairs.push_back({0, entry});
  column.pairs.back().s = 1;
  double w_w = below * below;
  for (const double entry : h) w_w += entry * entry;
  column.numbers = {below, w_w, 1};
  return column;
}
} // namespace

TEST(Hessenberg, MinimisesTheResidual)
{
  const std::vector<Vector> H = {{0.3, 2}, {-1, 0.5, 1.5}, {0.2, 0.7, -2, 0.25}};
  HessenbergProblem problem;
  problem.begin(5);
  for (std::size_t k = 0; k < H.size(); k++) {
    const double norm = problem.add(plain_column({H[k].begin(), H[k].end() - 1}, H[k].back()));
    const Vector y = problem.solution();
    Vector r(k + 2, 0.0);
    r[0] = 5;
    for (std::size_t j = 0; j <= k; j++) {
      for (std::size_t i = 0; i < H[j].size(); i++) r[i] -= H[j][i] * y[j];
    }
    EXPECT_NEAR(std::sqrt(product(r, r)), norm, 1e-14);
    // least: the residual is orthogonal to the columns
    for (std::size_t j = 0; j <= k; j++) EXPECT_NEAR(std::inner_product(H[j].begin(), H[j].end(), r.begin(), 0.0), 0, 1e-14);
    EXPECT_FALSE(problem.exhausted());
  }
}

// What is known of u_k only when v_k is there changes the column before: w = 2 u_1 = 2 (0.6 v_0 + 0.8 v_1).
TEST(Hessenberg, CorrectsTheColumnBefore)
{
  HessenbergProblem problem, expected;
  problem.begin(3);
  expected.begin(3);
  problem.add(plain_column({1}, 2));
  expected.add(plain_column({2.2}, 1.6));
  FgmresColumn second = plain_column({0.5, -1}, 0.25);
  const double norm = expected.add(second);
  second.pairs = {{0.6, 0.5}, {0.8, -1}};
  EXPECT_NEAR(problem.add(second), norm, 1e-14);
  expect_close(problem.solution(), expected.solution(), 1e-14, "y");
}

// Columns (3, 4) and (1e8, 2, 1), of lengths 5 and 1e8
TEST(Hessenberg, KnowsWhatRoundingAdds)
{
  constexpr double eps = std::numeric_limits<double>::epsilon();
  HessenbergProblem problem;
  problem.begin(3);
  EXPECT_EQ(problem.rounding(), 0);
  problem.add(plain_column({3}, 4));
  EXPECT_NEAR(problem.rounding(), eps * 9.0 / 25 * 5, 1e-14 * eps); // y = 9 / 25
  problem.add(plain_column({1e8, 2}, 1));
  const std::vector<double> y = problem.solution();
  EXPECT_NEAR(problem.rounding(), eps * (std::abs(y[0]) * 5 + std::abs(y[1]) * std::sqrt(1e16 + 5)), 1e-12 * eps * std::abs(y[1]) * 1e8);
}

// H = [3 1; 4 2; 0 1]: eigenvalues of [3 1; 4 2], and singular values of H
TEST(Hessenberg, KnowsItsSingularValuesAndEigenvalues)
{
  HessenbergProblem problem;
  double most = 0, least = 0;
  std::vector<std::complex<double>> values;
  problem.begin(1);
  OK(problem.extreme_singular_values(&most, &least));
  EXPECT_TRUE(most == 1 && least == 1);
  OK(problem.eigenvalues(&values));
  EXPECT_TRUE(values.empty());
  problem.add(plain_column({3}, 4));
  problem.add(plain_column({1, 2}, 1));
  OK(problem.extreme_singular_values(&most, &least));
  const double sum = 25 + 6, determinant = 25 * 6 - 11 * 11, root = std::sqrt(sum * sum - 4 * determinant); // of HᵀH
  EXPECT_NEAR(most, std::sqrt((sum + root) / 2), 1e-14);
  EXPECT_NEAR(least, std::sqrt((sum - root) / 2), 1e-14);
  OK(problem.eigenvalues(&values));
  ASSERT_EQ(values.size(), 2U);
  EXPECT_NEAR(values[0].real(), (5 - std::sqrt(17.0)) / 2, 1e-14);
  EXPECT_NEAR(values[1].real(), (5 + std::sqrt(17.0)) / 2, 1e-14);
}

TEST(Hessenberg, KnowsWhereNoDirectionIsLeft)
{
  HessenbergProblem problem;
  problem.begin(2);
  EXPECT_EQ(problem.add(plain_column({0}, 1)), 2); // stagnation
  EXPECT_FALSE(problem.exhausted());
  EXPECT_LE(problem.add(plain_column({1, 0.5}, 1e-16)), 1e-15);
  EXPECT_TRUE(problem.exhausted());
  EXPECT_FALSE(problem.singular());
  expect_close(problem.solution(), {-1, 2}, 1e-14, "y");

  problem.begin(2);
  EXPECT_NEAR(problem.add(plain_column({1}, 1)), std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(problem.add(plain_column({1, 1}, 0)), std::sqrt(2.0), 1e-15); // the same again
  EXPECT_TRUE(problem.exhausted());
  EXPECT_TRUE(problem.singular());
  expect_close(problem.solution(), {1, 0}, 1e-15, "y");

  problem.begin(1);
  EXPECT_EQ(problem.add(plain_column({0}, 0)), 1); // w = 0
  EXPECT_TRUE(problem.exhausted() && problem.singular());
  EXPECT_EQ(problem.solution(), Vector{0});

  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  problem.begin(1);
  EXPECT_TRUE(std::isnan(problem.add(plain_column({nan}, nan))));
  EXPECT_FALSE(problem.exhausted());
}
} // namespace amgkit::test
