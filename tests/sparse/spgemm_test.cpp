#include "sparse/spgemm.hpp"

#include "sparse/transpose.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace amgkit::test
{
template <class Ex> using Spgemm = SpaceTest<Ex>;
TYPED_TEST_SUITE(Spgemm, Spaces, SpaceName);

namespace
{
// A row by its columns; values from the number of the entry.
HostCsr from_rows(int cols, const std::vector<std::set<int>> &rows)
{
  HostCsr A;
  A.rows = static_cast<int>(rows.size());
  A.cols = cols;
  for (const std::set<int> &row : rows) {
    A.col.insert(A.col.end(), row.begin(), row.end());
    A.ptr.push_back(static_cast<int>(A.col.size()));
  }
  for (std::size_t k = 0; k < A.col.size(); k++) A.val.push_back(1 / (1.5 + static_cast<double>(k * k % 1009)) - 0.1);
  return A;
}

// Row i has up to length(i) entries in columns that are multiples of step.
template <class F> HostCsr random_rows(int rows, int cols, unsigned seed, F length, int step = 1)
{
  std::mt19937 random(seed);
  std::vector<std::set<int>> columns(rows);
  for (int i = 0; i < rows && cols > 0; i++) {
    for (int k = 0, n = length(i); k < n; k++) columns[i].insert(static_cast<int>(random() % ((cols - 1) / step + 1)) * step);
  }
  return from_rows(cols, columns);
}
HostCsr random_rows(int rows, int cols, unsigned seed, int length, int step = 1)
{
  return random_rows(
      rows, cols, seed, [length](int i) { return i % (length + 1); }, step);
}

// Row i is the first length[i] columns.
HostCsr rows_of_lengths(int cols, const std::vector<int> &length)
{
  std::vector<std::set<int>> columns(length.size());
  for (std::size_t i = 0; i < length.size(); i++) {
    for (int j = 0; j < length[i]; j++) columns[i].insert(columns[i].end(), j);
  }
  return from_rows(cols, columns);
}

HostCsr with_other_values(HostCsr A)
{
  for (std::size_t k = 0; k < A.val.size(); k++) A.val[k] *= 1 + 0.1 * static_cast<double>(k % 7);
  return A;
}

// Every column becomes a run of so many, with values of their own.
HostCsr widened(const HostCsr &B, int run)
{
  HostCsr out;
  out.rows = B.rows;
  out.cols = run * B.cols;
  for (int i = 0; i < B.rows; i++) out.ptr.push_back(run * B.ptr[i + 1]);
  for (std::size_t k = 0; k < B.col.size(); k++) {
    for (int c = 0; c < run; c++) {
      out.col.push_back(run * B.col[k] + c);
      out.val.push_back(B.val[k] * (1 + 0.3 * c));
    }
  }
  return out;
}

// The definitions, in the order that spgemm.hpp promises.
HostCsr product_of(const HostCsr &A, const HostCsr &B)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      for (int l = B.ptr[A.col[k]]; l < B.ptr[A.col[k] + 1]; l++) entries[{i, B.col[l]}] += A.val[k] * B.val[l];
    }
  }
  return make_csr(A.rows, B.cols, entries);
}
HostCsr product_of(const HostCsr &R, const HostCsr &A, const HostCsr &P)
{
  std::map<std::pair<int, int>, double> entries;
  for (int I = 0; I < R.rows; I++) {
    for (int e = R.ptr[I]; e < R.ptr[I + 1]; e++) {
      for (int k = A.ptr[R.col[e]]; k < A.ptr[R.col[e] + 1]; k++) {
        for (int l = P.ptr[A.col[k]]; l < P.ptr[A.col[k] + 1]; l++) entries[{I, P.col[l]}] += R.val[e] * A.val[k] * P.val[l];
      }
    }
  }
  return make_csr(R.rows, P.cols, entries);
}

void expect_equal(const HostCsr &got, const HostCsr &expected, const std::string &name)
{
  EXPECT_EQ(got.rows, expected.rows) << name;
  EXPECT_EQ(got.cols, expected.cols) << name;
  EXPECT_EQ(got.ptr, expected.ptr) << name;
  EXPECT_EQ(got.col, expected.col) << name;
  EXPECT_EQ(got.val, expected.val) << name;
}

struct Factors {
  std::string name;
  HostCsr A, B;
};
std::int64_t count_products(const Factors &in)
{
  std::int64_t n = 0;
  for (int j : in.A.col) n += in.B.ptr[j + 1] - in.B.ptr[j];
  return n;
}

// Lengths about all sizes of table, and far beyond the largest.
const std::vector<int> lengths = {1,   0,   15,  16,  17,  31,  32,  33,  63,   64,   65,   127,  128,  129,  255,
                                  256, 257, 511, 512, 513, 600, 700, 800, 1023, 1024, 1025, 2047, 2048, 2049, 5000};

std::vector<Factors> small_products()
{
  std::vector<Factors> out;
  for (const Named &named : gallery()) out.push_back({named.name, named.A, named.A});
  const HostCsr square = random_rows(50, 50, 1, 6);
  out.push_back({"no rows", make_csr(0, 50, {}), square});
  out.push_back({"no columns", square, make_csr(50, 0, {})});
  out.push_back({"nothing between", make_csr(4, 0, {}), make_csr(0, 3, {})});
  out.push_back({"no entries left", make_csr(7, 50, {}), square});
  out.push_back({"no entries right", square, make_csr(50, 7, {})});
  out.push_back({"entries that do not meet", make_csr(2, 3, {{{0, 0}, 1}, {{1, 2}, 2}}), make_csr(3, 2, {{{1, 0}, 1}})});
  out.push_back({"one by one", make_csr(1, 1, {{{0, 0}, 3}}), make_csr(1, 1, {{{0, 0}, -0.5}})});
  out.push_back({"row times column", from_rows(40, {{0, 3, 5, 39}}), random_rows(40, 1, 2, 1)});
  out.push_back({"column times row", random_rows(40, 1, 2, 1), from_rows(40, {{0, 3, 5, 39}})});
  out.push_back({"wide times tall", random_rows(20, 300, 3, 9), random_rows(300, 10, 4, 3)});
  out.push_back({"tall times wide", random_rows(300, 20, 5, 3), random_rows(20, 400, 6, 60)});
  return out;
}

// Long rows, of one kind or another.
std::vector<Factors> long_products()
{
  const int n = 5000;
  std::vector<Factors> out;
  const HostCsr left = rows_of_lengths(n, lengths);
  out.push_back({"lengths", left, random_rows(n, n, 1, [](int) { return 1; })});
  out.push_back({"lengths, pairs", left, random_rows(n, n, 2, [](int i) { return 1 + i % 2; })});
  out.push_back({"few columns", left, random_rows(n, n, 3, 4, 500)});
  out.push_back({"some columns", left, random_rows(n, n, 4, 30, 20)});
  out.push_back({"rows across windows", random_rows(20, n, 5, [](int i) { return 15 * i; }), random_rows(n, n, 6, 90)});
  out.push_back({"dense column", left, random_rows(n, 1, 7, 1)});
  out.push_back({"dense row on the right", random_rows(30, 3, 8, 3), rows_of_lengths(n, {0, n, 7})});
  return out;
}

// The right factors in runs.
std::vector<Factors> in_runs(std::vector<Factors> products, int run)
{
  for (Factors &in : products) {
    in.name += ", run " + std::to_string(run);
    in.B = widened(in.B, run);
  }
  return products;
}

template <class Ex> void check_product(Ex &ex, const Factors &in, const SpgemmOptions &options)
{
  Csr<double, Ex> A, B, C;
  SpgemmPlan<Ex> plan;
  HostCsr got;
  OK(upload(ex, in.A, A));
  OK(upload(ex, in.B, B));
  OK(spgemm_symbolic(ex, options, A.view(), B.view(), C, plan));
  OK(upload(ex, std::vector<double>(C.val.size(), NAN), C.val)); // what memory may hold
  OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
  OK(download(ex, C, got));
  expect_equal(got, product_of(in.A, in.B), in.name);
  EXPECT_EQ(plan.products, count_products(in)) << in.name;
  const HostCsr other_A = with_other_values(in.A), other_B = with_other_values(in.B);
  OK(upload(ex, other_A, A));
  OK(upload(ex, other_B, B));
  OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
  OK(download(ex, C, got));
  expect_equal(got, product_of(other_A, other_B), in.name + ", other values");
}

const std::vector<int> runs = {2, 3, 4, 6}; // 4: the pattern alone is found by them

struct TripleFactors {
  std::string name;
  HostCsr R, A, P;
};
std::vector<TripleFactors> triple_products()
{
  std::vector<TripleFactors> out;
  for (const Named &named : gallery()) {
    const int n = named.A.rows, coarse = n / 4;
    out.push_back({named.name, random_rows(coarse, n, 1, 15), named.A, random_rows(n, coarse, 2, 4)});
  }
  out.push_back({"no entries", random_rows(4, 9, 3, 2), make_csr(9, 9, {}), random_rows(9, 4, 4, 2)});
  out.push_back({"rectangles", random_rows(30, 20, 3, 7), random_rows(20, 50, 4, 10), random_rows(50, 7, 5, 2)});
  const int n = 5000;
  out.push_back({"lengths", rows_of_lengths(n, lengths), random_rows(n, n, 6, 2), random_rows(n, n, 7, 1)});
  out.push_back({"a long row of A", random_rows(10, 3, 8, 3), rows_of_lengths(n, {1, n, 200}), random_rows(n, n, 9, 2)});
  return out;
}

// The error of f, not printed.
template <class F> int error_of(F f)
{
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  const PetscErrorCode code = f();
  PetscPopErrorHandler();
  return static_cast<int>(code);
}
} // namespace

TYPED_TEST(Spgemm, EqualsItsDefinitionBitForBit)
{
  for (const Factors &in : small_products()) check_product(this->ex, in, {});
}

TYPED_TEST(Spgemm, RowsOfAllLengthsEqualTheirDefinitionBitForBit)
{
  for (const Factors &in : long_products()) check_product(this->ex, in, {});
}

TYPED_TEST(Spgemm, SlicesGiveTheSame)
{
  for (std::int64_t bytes : {1, 1500, 4000}) {
    for (const Factors &in : long_products()) check_product(this->ex, in, {.work_bytes = bytes});
  }
  for (const Factors &in : in_runs(long_products(), 3)) check_product(this->ex, in, {.work_bytes = 1500, .run = 3});
}

TYPED_TEST(Spgemm, RunsGiveTheSameBits)
{
  for (int run : runs) {
    for (const Factors &in : in_runs(small_products(), run)) check_product(this->ex, in, {.run = run});
    for (const Factors &in : in_runs(long_products(), run)) check_product(this->ex, in, {.run = run});
  }
  for (const Factors &in : in_runs(small_products(), 6)) { // shorter runs that fit too
    for (int run : {1, 2, 3}) check_product(this->ex, in, {.run = run});
  }
}

TYPED_TEST(Spgemm, RefusesBrokenRuns)
{
  struct Case {
    int cols, run;
    std::vector<std::set<int>> rows;
    int error;
  };
  const std::vector<Case> cases = {{6, 2, {{0, 1, 4, 5}, {}, {2, 3}}, 0},
                                   {6, 2, {{1, 2}, {}, {2, 3}}, PETSC_ERR_ARG_INCOMP},  // not aligned
                                   {6, 2, {{0, 2}, {}, {2, 3}}, PETSC_ERR_ARG_INCOMP},  // halves
                                   {6, 2, {{0, 1}, {2}, {3}}, PETSC_ERR_ARG_INCOMP},    // a run in two rows
                                   {6, 2, {{0, 1}, {2, 3}, {4}}, PETSC_ERR_ARG_INCOMP}, // the last one is short
                                   {6, 3, {{0, 1, 2}, {}, {3, 5, 4}}, 0},
                                   {6, 3, {{0, 1, 2}, {}, {2, 3, 4}}, PETSC_ERR_ARG_INCOMP},
                                   {6, 4, {{0, 1, 2, 3}, {}, {}}, PETSC_ERR_ARG_INCOMP}, // six columns are no runs of four
                                   {6, 6, {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {}}, 0},
                                   {6, 6, {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 5}, {}}, PETSC_ERR_ARG_INCOMP},
                                   {6, 0, {{0}, {}, {}}, PETSC_ERR_ARG_OUTOFRANGE}};
  for (std::size_t c = 0; c < cases.size(); c++) {
    const Case &in = cases[c];
    Csr<double, TypeParam> A, B, C;
    SpgemmPlan<TypeParam> plan;
    OK(upload(this->ex, random_rows(5, 3, 1, 3), A));
    OK(upload(this->ex, from_rows(in.cols, in.rows), B));
    const SpgemmOptions options = {.run = in.run};
    EXPECT_EQ(error_of([&] { return spgemm_symbolic(this->ex, options, A.view(), B.view(), C, plan); }), in.error) << c;
    EXPECT_EQ(error_of([&] { return triple_product_symbolic(this->ex, options, A.view(), B.view(), B.view(), C, plan); }),
              PETSC_ERR_ARG_SIZ);
    Csr<double, TypeParam> I;
    OK(upload(this->ex, from_rows(3, {{0}, {1}, {2}}), I));
    EXPECT_EQ(error_of([&] { return triple_product_symbolic(this->ex, options, A.view(), I.view(), B.view(), C, plan); }), in.error) << c;
  }
}

template <class Ex> void check_triple_products(Ex &ex, const std::vector<TripleFactors> &products, const SpgemmOptions &options)
{
  for (const TripleFactors &in : products) {
    Csr<double, Ex> R, A, P, C;
    SpgemmPlan<Ex> plan;
    HostCsr got;
    OK(upload(ex, in.R, R));
    OK(upload(ex, in.A, A));
    OK(upload(ex, in.P, P));
    OK(triple_product_symbolic(ex, options, R.view(), A.view(), P.view(), C, plan));
    OK(triple_product_numeric(ex, plan, R.view(), A.view(), P.view(), C));
    OK(download(ex, C, got));
    expect_equal(got, product_of(in.R, in.A, in.P), in.name);
    const HostCsr other = with_other_values(in.A);
    OK(upload(ex, other, A));
    OK(triple_product_numeric(ex, plan, R.view(), A.view(), P.view(), C));
    OK(download(ex, C, got));
    expect_equal(got, product_of(in.R, other, in.P), in.name + ", other values");
  }
}

TYPED_TEST(Spgemm, TripleProductEqualsItsDefinitionBitForBit) { check_triple_products(this->ex, triple_products(), {}); }

TYPED_TEST(Spgemm, TripleProductsByRunsGiveTheSameBits)
{
  for (int run : runs) {
    std::vector<TripleFactors> products = triple_products();
    for (TripleFactors &in : products) in.P = widened(in.P, run);
    check_triple_products(this->ex, products, {.run = run});
  }
}

TYPED_TEST(Spgemm, GalerkinProductsAgree)
{
  const HostCsr fine = grid7(9, 8, 7), coarse_to_fine = random_rows(fine.rows, fine.rows / 4, 1, 4);
  Csr<double, TypeParam> A, P, R, AP, RAP, C;
  SpgemmPlan<TypeParam> first, second, triple;
  HostCsr got, expected;
  OK(upload(this->ex, fine, A));
  OK(upload(this->ex, coarse_to_fine, P));
  OK(transpose(this->ex, P.view(), R));
  OK(spgemm_symbolic(this->ex, {}, A.view(), P.view(), AP, first));
  OK(spgemm_numeric(this->ex, first, A.view(), P.view(), AP));
  OK(spgemm_symbolic(this->ex, {}, R.view(), AP.view(), RAP, second));
  OK(spgemm_numeric(this->ex, second, R.view(), AP.view(), RAP));
  OK(triple_product_symbolic(this->ex, {}, R.view(), A.view(), P.view(), C, triple));
  OK(triple_product_numeric(this->ex, triple, R.view(), A.view(), P.view(), C));
  OK(download(this->ex, RAP, expected));
  OK(download(this->ex, C, got));
  EXPECT_EQ(got.ptr, expected.ptr);
  EXPECT_EQ(got.col, expected.col);
  expect_close(got.val, expected.val, 1e-14, "R A P");
  EXPECT_GT(triple.products, first.products);
}

// Each entry of C is a product of its own; symbolic calls read none.
TYPED_TEST(Spgemm, RefusesMoreEntriesThanIndicesCount)
{
  if (std::is_same_v<TypeParam, Debug>) GTEST_SKIP() << "as Host, and slow";
  const int n = 46341; // n² > 2^31 - 1
  Csr<double, TypeParam> column, row, C;
  SpgemmPlan<TypeParam> plan;
  std::vector<int> all(n), ones(n + 1, 0);
  for (int i = 0; i < n; i++) {
    all[i] = i;
    ones[i + 1] = i + 1;
  }
  column.rows = row.cols = n;
  column.cols = row.rows = 1;
  column.ptr = this->to_space(ones);
  column.col = this->to_space(std::vector<int>(n, 0));
  row.ptr = this->to_space(std::vector<int>{0, n});
  row.col = this->to_space(all);
  for (SpgemmOptions options : {SpgemmOptions{}, {.run = 3}, {.kind = SpgemmKind::kokkos}}) { // n is a multiple of 3
    if (!spgemm_available<TypeParam>(options.kind)) continue;
    EXPECT_EQ(error_of([&] { return spgemm_symbolic(this->ex, options, column.view(), row.view(), C, plan); }), PETSC_ERR_ARG_OUTOFRANGE);
  }
}

// Every back end but native, which the tests above are about: the pattern exactly, the values to rounding.
TYPED_TEST(Spgemm, BackEndsAgreeOrAreRefused)
{
  for (SpgemmKind kind : {SpgemmKind::cusparse, SpgemmKind::kokkos}) {
    Csr<double, TypeParam> A, B, C;
    SpgemmPlan<TypeParam> plan;
    if (!spgemm_available<TypeParam>(kind)) {
      OK(upload(this->ex, grid7(3, 3, 3), A));
      EXPECT_EQ(error_of([&] { return spgemm_symbolic(this->ex, {.kind = kind}, A.view(), A.view(), C, plan); }), PETSC_ERR_SUP);
      continue;
    }
    std::vector<Factors> products = small_products();
    for (Factors &in : long_products()) products.push_back(std::move(in));
    for (const Factors &in : products) {
      HostCsr got;
      OK(upload(this->ex, in.A, A));
      OK(upload(this->ex, in.B, B));
      OK(spgemm_symbolic(this->ex, {.kind = kind, .run = 7}, A.view(), B.view(), C, plan)); // which they ignore
      OK(upload(this->ex, std::vector<double>(C.val.size(), NAN), C.val));
      for (int run = 0; run < 3; run++) { // new values, in new places the last time
        const HostCsr changed_A = run == 0 ? in.A : with_other_values(in.A), changed_B = run == 0 ? in.B : with_other_values(in.B);
        const HostCsr expected = product_of(changed_A, changed_B);
        Csr<double, TypeParam> before_A, before_B;
        if (run == 2) {
          std::swap(A, before_A);
          std::swap(B, before_B);
        }
        OK(upload(this->ex, changed_A, A));
        OK(upload(this->ex, changed_B, B));
        OK(spgemm_numeric(this->ex, plan, A.view(), B.view(), C));
        OK(download(this->ex, C, got));
        EXPECT_EQ(got.ptr, expected.ptr) << in.name;
        EXPECT_EQ(got.col, expected.col) << in.name;
        expect_close(got.val, expected.val, 1e-12, in.name);
      }
    }
  }
}

TYPED_TEST(Spgemm, RefusesWhatDoesNotFit)
{
  Csr<double, TypeParam> A, C;
  SpgemmPlan<TypeParam> plan;
  OK(upload(this->ex, random_rows(4, 5, 1, 2), A));
  EXPECT_EQ(error_of([&] { return spgemm_symbolic(this->ex, {}, A.view(), A.view(), C, plan); }), PETSC_ERR_ARG_SIZ);
  EXPECT_EQ(error_of([&] { return triple_product_symbolic(this->ex, {}, A.view(), A.view(), A.view(), C, plan); }), PETSC_ERR_ARG_SIZ);
  OK(upload(this->ex, random_rows(5, 5, 1, 2), A));
  const SpgemmOptions other = {.kind = SpgemmKind::cusparse};
  EXPECT_EQ(error_of([&] { return triple_product_symbolic(this->ex, other, A.view(), A.view(), A.view(), C, plan); }), PETSC_ERR_SUP);
  EXPECT_EQ(error_of([&] { return spgemm_numeric(this->ex, plan, A.view(), A.view(), C); }), PETSC_ERR_ARG_SIZ);
}

// Whatever allocation fails: an error or, where smaller slices do, the product.
void check_failing_allocations(int run)
{
  Debug ex;
  const Factors in = in_runs(long_products(), run)[4];
  const HostCsr expected = product_of(in.A, in.B);
  Csr<double, Debug> A, B, C;
  SpgemmPlan<Debug> plan;
  int succeeded = 0, failed = 0;
  OK(upload(ex, in.A, A));
  OK(upload(ex, in.B, B));
  for (bool more = true; more;) {
    const std::int64_t before = ex.allocations;
    ex.fail_at = before + succeeded + failed;
    const int code = error_of([&] { return spgemm_symbolic(ex, {.run = run}, A.view(), B.view(), C, plan); });
    more = ex.allocations > ex.fail_at;
    ex.fail_at = -1;
    (code ? failed : succeeded)++;
    if (code) {
      EXPECT_EQ(code, PETSC_ERR_MEM);
      continue;
    }
    HostCsr got;
    OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
    OK(download(ex, C, got));
    expect_equal(got, expected, "after " + std::to_string(failed) + " failures");
  }
  EXPECT_EQ(succeeded, 5); // bits, blocks, each for counting and for filling; and the call whose allocations all succeed
  EXPECT_GT(failed, 5);
}

TEST(SpgemmMemory, EveryAllocationMayFail) { check_failing_allocations(1); }
TEST(SpgemmMemory, EveryAllocationMayFailWithRuns) { check_failing_allocations(3); }
} // namespace amgkit::test
