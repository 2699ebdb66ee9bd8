#include "support/ilu_factors.hpp"
#include "support/petsc_problems.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using IncompleteLu = SpaceTest<Ex>;
TYPED_TEST_SUITE(IncompleteLu, Spaces, SpaceName);

namespace
{
std::vector<double> times(const HostCsr &A, const std::vector<double> &x, bool transposed = false)
{
  std::vector<double> y(x.size(), 0);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) y[transposed ? A.col[k] : i] += A.val[k] * x[transposed ? i : A.col[k]];
  }
  return y;
}

HostCsr dense(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) entries[{i, j}] = i == j ? n : std::sin(1 + 3.0 * i + j);
  }
  return make_csr(n, n, entries);
}

// Rows of all within so far of the diagonal but every third.
HostCsr band(int n, int half)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int j = std::max(i - half, 0); j <= std::min(i + half, n - 1); j++) {
      if ((i + j) % 3 > 0 || i == j) entries[{i, j}] = i == j ? half : std::sin(1 + 3.0 * i + j);
    }
  }
  return make_csr(n, n, entries);
}

// So many dense blocks, their first rows first, then their second rows and so on: a level each.
HostCsr interleaved_blocks(int blocks, int size)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < blocks * size; i++) {
    for (int t = 0; t < size; t++) {
      const int j = i % blocks + t * blocks;
      entries[{i, j}] = i == j ? size : std::sin(1 + 3.0 * i + j);
    }
  }
  return make_csr(blocks * size, blocks * size, entries);
}

template <class Ex> void expect_bits_of_host(Ex &ex, const std::string &name, const HostCsr &M, const IluOptions &options)
{
  Host host;
  Csr<double, Ex> A;
  Csr<double, Host> B;
  Ilu0<Ex> f;
  Ilu0<Host> expected;
  IluReport report, wanted;
  std::vector<double> lu, inverse, got_lu, got_inverse;

  OK(upload(ex, M, A));
  OK(upload(host, M, B));
  OK(factor(ex, options, A, f, &report));
  OK(factor(host, options, B, expected, &wanted));
  ASSERT_EQ(report.fault, wanted.fault) << name;
  ASSERT_EQ(report.row, wanted.row) << name;
  if (wanted.fault != IluFault::none) return;
  ASSERT_EQ(report.shifts, wanted.shifts) << name;
  OK(download(host, expected.val.data(), expected.val.size(), lu));
  OK(download(host, expected.inverse.data(), expected.inverse.size(), inverse));
  OK(download(ex, f.val.data(), f.val.size(), got_lu));
  OK(download(ex, f.inverse.data(), f.inverse.size(), got_inverse));
  ASSERT_EQ(got_lu, lu) << name;
  ASSERT_EQ(got_inverse, inverse) << name;
}

double distance(const std::vector<double> &x, const std::vector<double> &y)
{
  double most = 0;
  for (std::size_t i = 0; i < x.size(); i++) most = std::max(most, std::abs(x[i] - y[i]));
  return most / std::max(largest(y), 1e-300);
}
} // namespace

TYPED_TEST(IncompleteLu, ProductIsTheMatrixOnItsPattern)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, M, A));
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f;
      IluReport report;
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      ASSERT_EQ(report.fault, IluFault::none) << name << ", row " << report.row;
      const auto lu = this->to_host(f.val), inverse = this->to_host(f.inverse);
      const auto diagonal = this->to_host(f.diagonal);
      EXPECT_LT(defect(M, lu), 1e-13) << name;
      for (int i = 0; i < M.rows; i++) ASSERT_EQ(inverse[i], 1 / lu[diagonal[i]]) << name;
    }
  }
}

// Also where pivots are shifted, and where rows of 0 are skipped.
TYPED_TEST(IncompleteLu, NativeHasTheSameBitsInAllSpaces)
{
  auto matrices = ilu_matrices();
  for (const Named &more : troubled()) matrices.push_back(more);
  for (const auto &[name, M] : matrices) {
    for (IluShift shift : {IluShift::none, IluShift::nonzero, IluShift::inblocks}) {
      expect_bits_of_host(this->ex, name, M, {.shift = shift, .zero_pivot = 1e-10, .shift_amount = 1e-4});
      if (this->HasFatalFailure()) return;
    }
  }
}

// A few entries, dozens, hundreds; few rows to a level, or many: a GPU has a kernel for each. Native alone: to compute-sanitizer cuSPARSE's
// kernels race.
TYPED_TEST(IncompleteLu, NativeHasTheSameBitsForRowsOfAnyLength)
{
  std::vector<Named> matrices;
  for (int n : {16, 17, 33, 34, 40, 65, 150, 256, 257}) matrices.push_back({"dense " + std::to_string(n), dense(n)});
  for (const auto &[blocks, size] : {std::pair{3500, 4}, {6500, 4}, {6500, 10}})
    matrices.push_back({std::to_string(blocks) + " blocks of " + std::to_string(size), interleaved_blocks(blocks, size)});
  for (int half : {7, 30, 100}) matrices.push_back({"band " + std::to_string(half), band(400, half)});
  for (const auto &[name, M] : matrices) {
    for (IluShift shift : {IluShift::none, IluShift::nonzero, IluShift::inblocks}) {
      for (double zero_pivot : {1e-10, 1.0}) { // 1: pivots are shifted that elimination has not made larger than their rows' entries
        if (zero_pivot == 1 && shift != IluShift::inblocks) continue;
        expect_bits_of_host(this->ex, name, M, {.shift = shift, .zero_pivot = zero_pivot, .shift_amount = 1e-4});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(IncompleteLu, FactorsWithoutSolvesAreTheSameAndTakeLess)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, M, A));
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f, alone;
      IluReport report;
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      OK(factor(this->ex, {.kind = kind, .solves = false}, A, alone, &report));
      ASSERT_EQ(this->to_host(alone.val), this->to_host(f.val)) << name;
      ASSERT_EQ(this->to_host(alone.inverse), this->to_host(f.inverse)) << name;
      if (M.rows > 0) {
        EXPECT_LT(alone.bytes(), f.bytes()) << name;
      }
      EXPECT_NE(quietly([&] { return ilu0_solve<TypeParam, double>(this->ex, alone, {}, nullptr, nullptr); }), PETSC_SUCCESS);
    }
  }
}

TYPED_TEST(IncompleteLu, IsExactForTridiagonalAndDenseMatrices)
{
  for (const auto &[name, M] : {Named{"tridiagonal", tridiagonal(20000)}, {"dense", dense(40)}}) {
    Csr<double, TypeParam> A;
    const auto wanted = wave(M.rows), rhs = times(M, wanted), rhs_t = times(M, wanted, true);
    const auto b = this->to_space(rhs), b_t = this->to_space(rhs_t);
    auto x = this->to_space(rhs);
    OK(upload(this->ex, M, A));
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f;
      IluReport report;
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      OK(ilu0_solve(this->ex, f, {}, b.data(), x.data()));
      EXPECT_LT(distance(this->to_host(x), wanted), 1e-11) << name;
      OK(ilu0_transpose(this->ex, A.view(), f));
      OK(ilu0_solve(this->ex, f, {.transposed = true}, b_t.data(), x.data()));
      EXPECT_LT(distance(this->to_host(x), wanted), 1e-11) << name << ", transposed";
    }
  }
}

TYPED_TEST(IncompleteLu, TransposedSolvesAreTransposed)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    const auto u = wave(M.rows), v = std::vector<double>(u.rbegin(), u.rend());
    const auto b = this->to_space(u), c = this->to_space(v);
    auto x = this->to_space(u), y = this->to_space(u);
    OK(upload(this->ex, M, A));
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f;
      IluReport report;
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      OK(ilu0_transpose(this->ex, A.view(), f));
      OK(ilu0_solve(this->ex, f, {}, b.data(), x.data()));
      OK(ilu0_solve(this->ex, f, {.transposed = true}, c.data(), y.data()));
      const auto solved = this->to_host(x), other = this->to_host(y);
      double left = 0, right = 0, size = 0;
      for (int i = 0; i < M.rows; i++) {
        left += v[i] * solved[i];
        right += other[i] * u[i];
        size += std::abs(v[i] * solved[i]) + std::abs(other[i] * u[i]);
      }
      EXPECT_NEAR(left, right, 1e-12 * size) << name;
    }
  }
}

TYPED_TEST(IncompleteLu, NewValuesGiveTheFactorsOfAFreshStart)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A;
    HostCsr other = M;
    for (std::size_t k = 0; k < other.val.size(); k++) other.val[k] *= 1 + 0.05 * std::cos(static_cast<double>(k));
    const auto rhs = wave(M.rows);
    const auto b = this->to_space(rhs);
    auto x = this->to_space(rhs), y = this->to_space(rhs);
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f, fresh;
      IluReport report;
      OK(upload(this->ex, M, A));
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      OK(ilu0_transpose(this->ex, A.view(), f));
      OK(upload(this->ex, other, A));
      OK(ilu0_numeric(this->ex, A.view(), f, &report));
      OK(factor(this->ex, {.kind = kind}, A, fresh, &report));
      OK(ilu0_transpose(this->ex, A.view(), fresh));
      const double tolerance = kind == IluKind::native ? 0 : 1e-12;
      ASSERT_LE(distance(this->to_host(f.val), this->to_host(fresh.val)), tolerance) << name;
      for (bool transposed : {false, true}) {
        OK(ilu0_solve(this->ex, f, {.transposed = transposed}, b.data(), x.data()));
        OK(ilu0_solve(this->ex, fresh, {.transposed = transposed}, b.data(), y.data()));
        ASSERT_LE(distance(this->to_host(x), this->to_host(y)), tolerance) << name;
      }
    }
  }
}

TYPED_TEST(IncompleteLu, ManySweepsSolveAndFewComeNear)
{
  const HostCsr M = skewed(grid7(9, 8, 7));
  Csr<double, TypeParam> A;
  Ilu0<TypeParam> f;
  IluReport report;
  const auto b = this->to_space(wave(M.rows));
  auto x = this->to_space(wave(M.rows)), y = this->to_space(wave(M.rows));
  OK(upload(this->ex, M, A));
  OK(factor(this->ex, {}, A, f, &report));
  OK(ilu0_transpose(this->ex, A.view(), f));
  for (bool transposed : {false, true}) {
    OK(ilu0_solve(this->ex, f, {.transposed = transposed}, b.data(), x.data()));
    OK(ilu0_solve(this->ex, f, {.transposed = transposed, .sweeps = f.lower.levels}, b.data(), y.data()));
    EXPECT_EQ(this->to_host(y), this->to_host(x));
    OK(ilu0_solve(this->ex, f, {.transposed = transposed, .sweeps = 5}, b.data(), y.data()));
    const double five = distance(this->to_host(y), this->to_host(x));
    OK(ilu0_solve(this->ex, f, {.transposed = transposed, .sweeps = 2}, b.data(), y.data()));
    EXPECT_LT(five, 0.1);
    EXPECT_GT(distance(this->to_host(y), this->to_host(x)), five);
  }
}

TEST(IncompleteLuMemory, SolvesTakeNone)
{
  Debug ex;
  Csr<double, Debug> A;
  Ilu0<Debug> f;
  IluReport report;
  std::vector<double> x = wave(24);
  OK(upload(ex, skewed(grid7(4, 3, 2)), A));
  OK(factor(ex, {.sweeps = true}, A, f, &report));
  OK(ilu0_transpose(ex, A.view(), f));
  const std::int64_t before = ex.allocations;
  for (bool transposed : {false, true}) {
    for (int sweeps : {0, 3}) OK(ilu0_solve(ex, f, {.transposed = transposed, .sweeps = sweeps}, x.data(), x.data()));
  }
  OK(ilu0_numeric(ex, A.view(), f, &report));
  EXPECT_EQ(ex.allocations, before);
}

TYPED_TEST(IncompleteLu, WrongCallsAreErrors)
{
  Csr<double, TypeParam> A, B;
  Ilu0<TypeParam> f;
  IluReport report;
  const auto b = this->to_space(wave(10));
  auto x = this->to_space(wave(10));
  OK(upload(this->ex, make_csr(2, 3, {{{0, 0}, 1}, {{1, 1}, 1}}), A));
  OK(upload(this->ex, tridiagonal(10), B));
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  EXPECT_EQ(ilu0_symbolic(this->ex, {}, A.view(), f, &report), PETSC_ERR_ARG_SIZ);
  if (!ilu0_available<TypeParam>(IluKind::cusparse)) {
    EXPECT_EQ(ilu0_symbolic(this->ex, {.kind = IluKind::cusparse}, B.view(), f, &report), PETSC_ERR_SUP);
  }
  EXPECT_EQ(ilu0_symbolic(this->ex, {}, B.view(), f, &report), PETSC_SUCCESS);
  EXPECT_EQ(ilu0_numeric(this->ex, A.view(), f, &report), PETSC_ERR_ARG_SIZ);
  EXPECT_EQ(ilu0_numeric(this->ex, B.view(), f, &report), PETSC_SUCCESS);
  EXPECT_EQ(ilu0_solve(this->ex, f, {.transposed = true}, b.data(), x.data()), PETSC_ERR_ORDER);
  PetscPopErrorHandler();
}

TEST(IncompleteLuMemory, FailedAllocationsAreReported)
{
  Debug ex;
  Csr<double, Debug> A;
  IluReport report;
  int failures = 0;
  OK(upload(ex, skewed(grid7(4, 3, 2)), A));
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  for (std::int64_t k = 0;; k++) {
    Ilu0<Debug> f;
    ex.allocations = 0;
    ex.fail_at = k;
    PetscErrorCode code = factor(ex, {}, A, f, &report);
    if (!code) code = ilu0_transpose(ex, A.view(), f);
    if (!code) break;
    EXPECT_EQ(code, PETSC_ERR_MEM) << "allocation " << k;
    failures++;
  }
  PetscPopErrorHandler();
  ex.fail_at = -1;
  EXPECT_GT(failures, 20);
}
} // namespace amgkit::test
