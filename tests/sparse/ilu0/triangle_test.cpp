#include "sparse/ilu0/triangle.hpp"

#include "support/ilu_matrices.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace amgkit::test
{
template <class Ex> using Triangles = SpaceTest<Ex>;
TYPED_TEST_SUITE(Triangles, Spaces, SpaceName);

namespace
{
bool in_part(const TriangleShape &shape, int i, int j)
{
  return shape.lower ? j >= shape.first && j < i : j > i && j < shape.first + shape.rows;
}

std::vector<int> levels_of(const TriangleShape &shape, const HostCsr &A)
{
  std::vector<int> level(static_cast<std::size_t>(shape.rows), 0);
  for (int t = 0; t < shape.rows; t++) {
    const int i = shape.first + (shape.lower ? t : shape.rows - 1 - t);
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (in_part(shape, i, A.col[k])) level[i - shape.first] = std::max(level[i - shape.first], 1 + level[A.col[k] - shape.first]);
    }
  }
  return level;
}

// x = T⁻¹ b in the order of the rows and entries
std::vector<double> solved(const TriangleShape &shape, const HostCsr &A, const std::vector<double> *inverse, std::vector<double> x)
{
  for (int t = 0; t < shape.rows; t++) {
    const int i = shape.first + (shape.lower ? t : shape.rows - 1 - t);
    double s = x[i - shape.first];
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (in_part(shape, i, A.col[k])) s -= A.val[k] * x[A.col[k] - shape.first];
    }
    x[i - shape.first] = inverse ? s * (*inverse)[i] : s;
  }
  return x;
}

std::vector<double> inverses(int n)
{
  std::vector<double> inverse(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i++) inverse[i] = 0.3 + 0.1 * (i % 5);
  return inverse;
}

// The whole, and from a third on to two thirds
std::vector<TriangleShape> shapes_in(int n)
{
  return {{true, 0, n}, {false, 0, n}, {true, n / 3, n / 3}, {false, n / 3, n / 3}, {true, 0, n / 2}, {false, n / 2, n - n / 2}};
}

// With a diagonal of 1
template <class Ex> void expect_solved(Ex &ex, const TriangleShape &shape, const HostCsr &M, int levels)
{
  const auto rhs = wave(shape.rows);
  Csr<double, Ex> A;
  Triangle<Ex> T;
  Array<double, Ex> x;
  std::vector<double> got;

  OK(upload(ex, M, A));
  OK(upload(ex, rhs, x));
  OK(triangle_symbolic(ex, shape, A.view(), T));
  ASSERT_EQ(T.levels, levels);
  OK(triangle_numeric(ex, A.val.data(), nullptr, T));
  OK(triangle_solve(ex, T, static_cast<const double *>(x.data()), x.data()));
  OK(download(ex, x.data(), x.size(), got));
  ASSERT_EQ(got, solved(shape, M, nullptr, rhs));
}
} // namespace

TYPED_TEST(Triangles, RowsComeAfterThoseTheyNeed)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, M, A));
    for (const TriangleShape &shape : shapes_in(M.rows)) {
      Triangle<TypeParam> T;
      const auto level = levels_of(shape, M);
      OK(triangle_symbolic(this->ex, shape, A.view(), T));
      const auto row = this->to_host(T.row), ptr = this->to_host(T.ptr), col = this->to_host(T.col), from = this->to_host(T.from);
      ASSERT_EQ(T.levels, level.empty() ? 0 : 1 + *std::max_element(level.begin(), level.end())) << name;
      ASSERT_EQ(std::ssize(row), shape.rows) << name;
      std::vector<int> seen(row.size(), 0);
      for (int p = 0; p < shape.rows; p++) {
        const int i = shape.first + row[p];
        int entries = 0;
        seen[row[p]]++;
        for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
          if (!in_part(shape, i, M.col[k])) continue;
          const int t = ptr[p] + entries++;
          ASSERT_EQ(from[t], k) << name;
          ASSERT_EQ(row[col[t]], M.col[k] - shape.first) << name;
          ASSERT_LT(col[t], p) << name;
        }
        ASSERT_EQ(ptr[p + 1] - ptr[p], entries) << name;
        if (!TypeParam::one_by_one && p > 0) {
          const auto place = [&](int q) { return std::array{level[row[q]], std::min(ptr[q + 1] - ptr[q], 63), row[q]}; };
          ASSERT_LT(place(p - 1), place(p)) << name;
        }
      }
      ASSERT_EQ(seen, std::vector<int>(row.size(), 1)) << name;
    }
  }
}

TYPED_TEST(Triangles, SolvesHaveTheBitsOfTheirDefinition)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    const auto factors = inverses(M.rows);
    const auto inverse = this->to_space(factors);
    OK(upload(this->ex, M, A));
    for (const TriangleShape &shape : shapes_in(M.rows)) {
      Triangle<TypeParam> T;
      const auto rhs = wave(shape.rows);
      OK(triangle_symbolic(this->ex, shape, A.view(), T));
      for (bool scaled : {true, false}) { // also after the other
        const auto b = this->to_space(rhs);
        auto x = this->to_space(std::vector<double>(rhs.size()));
        const auto expected = solved(shape, M, scaled ? &factors : nullptr, rhs);
        OK(triangle_numeric(this->ex, A.val.data(), scaled ? inverse.data() : nullptr, T));
        for (int round = 0; round < 2; round++) {
          OK(triangle_solve(this->ex, T, b.data(), x.data()));
          ASSERT_EQ(this->to_host(x), expected) << name;
        }
        OK(triangle_solve(this->ex, T, static_cast<const double *>(x.data()), x.data()));
        ASSERT_EQ(this->to_host(x), solved(shape, M, scaled ? &factors : nullptr, expected)) << name << ", in place";
      }
    }
  }
}

// Two levels that have a GPU full of rows, of 50 entries in the second
TYPED_TEST(Triangles, WideLevelsOfLongRows)
{
  constexpr int n = 4100;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 2 * n; i++) {
    entries[{i, i}] = 1;
    for (int t = 0; t < 50 && i >= n; t++) entries[{i, (7 * i + 81 * t) % n}] = std::cos(i + t) / 10;
  }
  expect_solved(this->ex, {true, 0, 2 * n}, make_csr(2 * n, 2 * n, entries), 2);
}

// A row to a level, of up to 249 entries
TYPED_TEST(Triangles, NarrowLevelsOfLongRows)
{
  constexpr int n = 250;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) entries[{i, j}] = i == j ? 1 : std::cos(i + 2 * j) / n;
  }
  for (bool lower : {true, false}) expect_solved(this->ex, {lower, 0, n}, make_csr(n, n, entries), n);
}

TYPED_TEST(Triangles, SolvesOfFloatsRoundOnlyTheirResult)
{
  const HostCsr M = skewed(grid7(9, 8, 7));
  const TriangleShape shape{true, 0, M.rows};
  Csr<double, TypeParam> A;
  Triangle<TypeParam> T;
  const auto factors = inverses(M.rows);
  const auto inverse = this->to_space(factors);
  std::vector<float> rhs;
  for (double b_i : wave(M.rows)) rhs.push_back(static_cast<float>(b_i));
  const auto b = this->to_space(rhs);
  auto x = this->to_space(std::vector<float>(rhs.size()));
  std::vector<float> expected;
  for (double x_i : solved(shape, M, &factors, {rhs.begin(), rhs.end()})) expected.push_back(static_cast<float>(x_i));
  OK(upload(this->ex, M, A));
  OK(triangle_symbolic(this->ex, shape, A.view(), T));
  OK(triangle_numeric(this->ex, A.val.data(), inverse.data(), T));
  OK(triangle_solve(this->ex, T, b.data(), x.data()));
  EXPECT_EQ(this->to_host(x), expected);
  OK(triangle_sweeps(this->ex, T.levels, T, b.data(), x.data()));
  EXPECT_EQ(this->to_host(x), expected);
}

TYPED_TEST(Triangles, AsManySweepsAsLevelsSolve)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    if (M.rows > 10000) continue; // as many sweeps of as many rows
    OK(upload(this->ex, M, A));
    for (const TriangleShape &shape : shapes_in(M.rows)) {
      Triangle<TypeParam> T;
      const auto rhs = wave(shape.rows), factors = inverses(M.rows);
      const auto b = this->to_space(rhs), inverse = this->to_space(factors);
      auto x = this->to_space(std::vector<double>(rhs.size())), y = this->to_space(std::vector<double>(rhs.size()));
      OK(triangle_symbolic(this->ex, shape, A.view(), T));
      OK(triangle_numeric(this->ex, A.val.data(), inverse.data(), T));
      OK(triangle_solve(this->ex, T, b.data(), x.data()));
      OK(triangle_sweeps(this->ex, T.levels, T, b.data(), y.data()));
      ASSERT_EQ(this->to_host(y), this->to_host(x)) << name;
      if (T.levels > 1 && name.starts_with("grid")) { // where nothing dies away
        OK(triangle_sweeps(this->ex, T.levels - 1, T, b.data(), y.data()));
        ASSERT_NE(this->to_host(y), this->to_host(x)) << name;
      }
      OK(triangle_sweeps(this->ex, 1, T, b.data(), y.data()));
      const auto once = this->to_host(y);
      for (int i = 0; i < shape.rows; i++) ASSERT_EQ(once[i], rhs[i] * factors[shape.first + i]) << name;
    }
  }
}

// Whatever b holds, a solve ends.
TYPED_TEST(Triangles, NaNsPassThrough)
{
  const HostCsr M = tridiagonal(300);
  Csr<double, TypeParam> A;
  Triangle<TypeParam> T;
  auto rhs = wave(M.rows);
  const std::uint64_t pending = UINT64_MAX;
  std::memcpy(&rhs[100], &pending, sizeof(double));
  rhs[200] = NAN;
  const auto b = this->to_space(rhs);
  auto x = this->to_space(rhs);
  OK(upload(this->ex, M, A));
  OK(triangle_symbolic(this->ex, {true, 0, M.rows}, A.view(), T));
  OK(triangle_numeric(this->ex, A.val.data(), nullptr, T));
  OK(triangle_solve(this->ex, T, b.data(), x.data()));
  const auto got = this->to_host(x);
  for (int i = 0; i < M.rows; i++) ASSERT_EQ(std::isnan(got[i]), i >= 100) << i;
}
} // namespace amgkit::test
