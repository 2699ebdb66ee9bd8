// Which pivots are zero, and what is done about them.
#include "support/ilu_factors.hpp"

namespace amgkit::test
{
template <class Ex> using IncompleteLuPivots = SpaceTest<Ex>;
TYPED_TEST_SUITE(IncompleteLuPivots, Spaces, SpaceName);

TYPED_TEST(IncompleteLuPivots, FaultsNameTheFirstRow)
{
  struct Case {
    const char *name;
    IluFault fault;
    int row;
    std::function<void(HostCsr &)> spoil;
  };
  const auto entry = [](HostCsr &A, int i, int j) -> double & {
    return A.val[std::lower_bound(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1], j) - A.col.begin()];
  };
  const std::vector<Case> cases = {
      {"a zero", IluFault::zero_pivot, 0, [&](HostCsr &A) { entry(A, 0, 0) = 0; }},
      {"zeros", IluFault::zero_pivot, 37,
       [&](HostCsr &A) {
         for (int i : {99, 37, 60}) entry(A, i, i) = entry(A, i, i - 1) = 0;
       }},
      {"a tiny one", IluFault::zero_pivot, 50,
       [&](HostCsr &A) {
         entry(A, 50, 49) = 0;
         entry(A, 50, 50) = 1e-15;
       }},
      {"what becomes zero", IluFault::zero_pivot, 1,
       [&](HostCsr &A) { entry(A, 1, 1) = entry(A, 1, 0) * (entry(A, 0, 1) / entry(A, 0, 0)); }},
      {"NaN", IluFault::not_finite, 20, [&](HostCsr &A) { entry(A, 20, 21) = NAN; }},
      {"infinity on the diagonal", IluFault::not_finite, 99, [&](HostCsr &A) { entry(A, 99, 99) = INFINITY; }},
      {"NaN before zero", IluFault::not_finite, 20, [&](HostCsr &A) { entry(A, 20, 19) = NAN, entry(A, 30, 30) = entry(A, 30, 29) = 0; }},
      {"zero before NaN", IluFault::zero_pivot, 10, [&](HostCsr &A) { entry(A, 20, 19) = NAN, entry(A, 10, 10) = entry(A, 10, 9) = 0; }}};
  for (const Case &c : cases) {
    Csr<double, TypeParam> A;
    const HostCsr good = tridiagonal(100);
    HostCsr bad = good;
    c.spoil(bad);
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f;
      IluReport report;
      OK(upload(this->ex, bad, A));
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      EXPECT_EQ(report.fault, c.fault) << c.name;
      EXPECT_EQ(report.row, c.row) << c.name;
      OK(upload(this->ex, good, A));
      OK(ilu0_numeric(this->ex, A.view(), f, &report));
      EXPECT_EQ(report.fault, IluFault::none) << c.name << ", afterwards";
      EXPECT_LT(defect(good, this->to_host(f.val)), 1e-14) << c.name << ", afterwards";
    }
  }
}

// A matrix with row i multiplied by 2^e_i has the factors D L D⁻¹ and D U, D = diag(2^e_i), bit by bit, and the zero pivots of the matrix.
TYPED_TEST(IncompleteLuPivots, ScalesOfRowsChangeNothing)
{
  const std::vector<std::function<int(int)>> exponents = {[](int) { return -100; }, [](int) { return 100; },
                                                          [](int i) { return 7 * i % 121 - 60; }};
  auto matrices = ilu_matrices();
  const std::size_t sound = matrices.size();
  for (const Named &more : troubled()) matrices.push_back(more);
  for (std::size_t m = 0; m < matrices.size(); m++) {
    const auto &[name, M] = matrices[m];
    for (std::size_t s = 0; s < exponents.size(); s++) {
      HostCsr scaled = M;
      for (int i = 0; i < M.rows; i++) {
        for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) scaled.val[k] = std::ldexp(M.val[k], exponents[s](i));
      }
      Csr<double, TypeParam> A, B;
      OK(upload(this->ex, M, A));
      OK(upload(this->ex, scaled, B));
      for (IluKind kind : kinds<TypeParam>()) {
        for (IluShift shift : {IluShift::none, IluShift::nonzero, IluShift::inblocks}) {
          if (shift != IluShift::none && (kind != IluKind::native || m >= sound)) continue; // amounts are as they were given
          Ilu0<TypeParam> f, g;
          IluReport expected, report;
          const std::string what = name + ", scaling " + std::to_string(s) + ", shift " + std::to_string(static_cast<int>(shift));
          OK(factor(this->ex, {.kind = kind, .shift = shift}, A, f, &expected));
          OK(factor(this->ex, {.kind = kind, .shift = shift}, B, g, &report));
          ASSERT_EQ(report.fault, expected.fault) << what << ", row " << report.row;
          ASSERT_EQ(report.row, expected.row) << what;
          ASSERT_EQ(report.shifts, expected.shifts) << what;
          if (report.fault != IluFault::none) continue;
          const auto lu = this->to_host(f.val), got = this->to_host(g.val);
          for (int i = 0; i < M.rows; i++) {
            for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
              const int j = M.col[k], e = exponents[s](i) - (j < i ? exponents[s](j) : 0);
              const double wanted = std::ldexp(lu[k], e);
              ASSERT_LE(std::abs(got[k] - wanted), (kind == IluKind::native ? 0 : 1e-12) * std::abs(wanted)) << what << ", row " << i;
            }
          }
        }
      }
    }
  }
}

// By hand: a row of its diagonal alone is regular, whatever its size, unless that is 0, or its inverse infinite. [1 1; 1 1 + e] has the
// pivots 1 and e.
TYPED_TEST(IncompleteLuPivots, PivotsAreZeroBesideTheLargestEntryOfTheirRow)
{
  const auto diagonal = [](double d) { return make_csr(3, 3, {{{0, 0}, 1}, {{1, 1}, d}, {{2, 2}, -1e-200}}); };
  const auto pair = [](double e, double all) {
    return make_csr(2, 2, {{{0, 0}, all}, {{0, 1}, all}, {{1, 0}, all}, {{1, 1}, all * (1 + e)}});
  };
  struct Case {
    const char *name;
    HostCsr A;
    IluFault fault;
  };
  std::vector<Case> cases = {{"a small diagonal", diagonal(1e-300), IluFault::none},
                             {"a large one", diagonal(1e300), IluFault::none},
                             {"none", diagonal(0), IluFault::zero_pivot},
                             {"one without an inverse", diagonal(1e-310), IluFault::not_finite}};
  for (double all : {1e-30, 1.0, 1e30}) {
    cases.push_back({"almost singular", pair(1e-12, all), IluFault::none});
    cases.push_back({"singular", pair(1e-15, all), IluFault::zero_pivot});
  }
  for (const Case &c : cases) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, c.A, A));
    for (IluKind kind : kinds<TypeParam>()) {
      Ilu0<TypeParam> f;
      IluReport report;
      OK(factor(this->ex, {.kind = kind}, A, f, &report));
      EXPECT_EQ(report.fault, c.fault) << c.name << ", " << c.A.val[0];
      if (c.fault != IluFault::none) {
        EXPECT_EQ(report.row, 1) << c.name;
      }
    }
    for (IluShift shift : {IluShift::nonzero, IluShift::positive_definite, IluShift::inblocks}) {
      if (shift == IluShift::positive_definite && (c.A.rows == 3 || c.A.val[0] != 1)) continue; // a negative pivot, or PETSc's amounts
      Ilu0<TypeParam> f;
      IluReport report;
      OK(factor(this->ex, {.shift = shift, .shift_amount = 1e-3 * c.A.val[0]}, A, f, &report));
      EXPECT_EQ(report.fault, c.fault == IluFault::not_finite ? c.fault : IluFault::none) << c.name << ", " << c.A.val[0];
      EXPECT_EQ(report.shifts > 0, c.fault == IluFault::zero_pivot) << c.name << ", " << c.A.val[0];
    }
  }
}

TYPED_TEST(IncompleteLuPivots, RowsWithoutADiagonalEntryAreNamed)
{
  const HostCsr M = make_csr(4, 4, {{{0, 0}, 1}, {{1, 2}, 1}, {{2, 2}, 1}, {{3, 0}, 1}});
  Csr<double, TypeParam> A;
  OK(upload(this->ex, M, A));
  for (IluKind kind : kinds<TypeParam>()) {
    Ilu0<TypeParam> f;
    IluReport report;
    OK(factor(this->ex, {.kind = kind}, A, f, &report));
    EXPECT_EQ(report.fault, IluFault::no_diagonal);
    EXPECT_EQ(report.row, 1);
  }
}

// [1 1; 1 1 + e] has the pivots 1 and e.
TYPED_TEST(IncompleteLuPivots, ShiftsByHand)
{
  const double least = 1e-10;
  const auto shifted = [&](IluShift shift, double a_11, IluReport *report, std::vector<double> *pivots) {
    Csr<double, TypeParam> A;
    Ilu0<TypeParam> f;
    OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, a_11}}), A));
    OK(factor(this->ex, {.shift = shift, .zero_pivot = least, .shift_amount = 0x1p-40}, A, f, report));
    const auto lu = this->to_host(f.val);
    *pivots = {lu[0], lu[3]};
  };
  IluReport report;
  std::vector<double> u;
  shifted(IluShift::none, 1 + 1e-9, &report, &u);
  EXPECT_EQ(report.fault, IluFault::none);
  shifted(IluShift::none, 1, &report, &u);
  EXPECT_EQ(report.fault, IluFault::zero_pivot);
  EXPECT_EQ(report.row, 1);
  EXPECT_EQ(report.shifts, 0);
  shifted(IluShift::inblocks, 1, &report, &u);
  EXPECT_EQ(report.fault, IluFault::none);
  EXPECT_EQ(report.shifts, 1);
  EXPECT_EQ(u, (std::vector<double>{1, 0x1p-40}));
  // a shift s leaves about 2 s, which must be more than least times l_10 = 1: 2^-33 is the first of the powers that is enough
  shifted(IluShift::nonzero, 1, &report, &u);
  EXPECT_EQ(report.fault, IluFault::none);
  EXPECT_EQ(report.shifts, 7);
  EXPECT_EQ(report.shift_amount, 0x1p-34);
  // a_11 = -1: the shift must be more than sqrt 2 of the largest, 1.1 * (1 + 1): 1/2 is not enough, 3/4 is, then 5/8, 11/16, 21/32
  shifted(IluShift::positive_definite, -1, &report, &u);
  EXPECT_EQ(report.fault, IluFault::none);
  EXPECT_EQ(report.shifts, 5);
  EXPECT_EQ(report.shift_amount, 21.0 / 32 * (1.1 * 2));
  EXPECT_GT(u[1], 0);
  // what no shift mends
  shifted(IluShift::nonzero, NAN, &report, &u);
  EXPECT_EQ(report.fault, IluFault::not_finite);
  EXPECT_EQ(report.row, 1);
}
} // namespace amgkit::test
