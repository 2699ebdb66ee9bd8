#include "sparse/rows/transpose.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"
#include "support/sparse_products.hpp"

namespace amgkit::test
{
template <class Ex> using Spgemm = SpaceTest<Ex>;
TYPED_TEST_SUITE(Spgemm, Spaces, SpaceName);

namespace
{
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

bool any_longer(const HostCsr &C, int length)
{
  for (int i = 0; i < C.rows; i++) {
    if (C.ptr[i + 1] - C.ptr[i] > length) return true;
  }
  return false;
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

// Lists of few rows go with others. No list of this plan has few, on a GPU neither.
TYPED_TEST(Spgemm, ListsOfManyRowsEqualTheirDefinitionBitForBit)
{
  const int n = 600;
  struct Lengths {
    int of[2]; // of rows that need tables of one size
    int rows;  // so many that they have 4, 8, 16 and 32 lanes each
  };
  std::vector<int> of_row;
  std::vector<std::set<int>> permuted;
  for (const Lengths &lengths : {Lengths{{16, 1}, 33000}, Lengths{{64, 17}, 16500}, Lengths{{256, 65}, 8300}, Lengths{{512, 257}, 4100}}) {
    for (int i = 0; i < lengths.rows; i++) of_row.push_back(lengths.of[i % 2]);
  }
  for (int j = 0; j < n; j++) permuted.push_back({7 * j % n});
  const Factors in = {"many", rows_of_lengths(n, of_row), from_rows(n, permuted)};
  check_product(this->ex, in, {});
  check_product(this->ex, in, {.kept_bytes = 0});
  check_product(this->ex, in_runs({in}, 3)[0], {.run = 3});
}

// A row tries a larger table when it has filled seven eighths of one.
TYPED_TEST(Spgemm, RowsThatNearlyFillATableEqualTheirDefinitionBitForBit)
{
  const int n = 2100;
  const auto neighbours = [](int j, int count) { // in columns apart from one another
    std::set<int> out;
    for (int c = j; c < j + count; c++) out.insert(std::int64_t{c} * 1009 % n);
    return out;
  };
  std::vector<std::set<int>> alone, eight, left;
  for (int j = 0; j < n; j++) {
    alone.push_back(neighbours(j, 1));
    eight.push_back(neighbours(j, j + 8 <= n ? 8 : 1));
  }
  for (int limit : {28, 112, 448, 1792}) {
    const int slots = limit / 7 * 8;
    for (int columns : {limit - 1, limit, limit + 1, slots - 1, slots, slots + 1}) {
      std::set<int> row;
      for (int j = 0; j + 8 <= columns; j += columns < 40 ? 4 : 1) row.insert(j); // of which few products find a small table
      row.insert(columns - 8);
      left.push_back(row);
    }
  }
  for (const std::int64_t bytes : {std::int64_t{INT32_MAX}, std::int64_t{0}}) {
    check_product(this->ex, {"each column eight times", from_rows(n, left), from_rows(n, eight)}, {.kept_bytes = bytes});
    for (const std::set<int> &row : left) // which goes with no other to a larger table
      check_product(this->ex, {"one row", from_rows(n, {row}), from_rows(n, eight)}, {.kept_bytes = bytes});
    for (int columns : {28, 30, 32, 112, 120, 128}) { // none of which any other row makes doubtful
      std::set<int> row;
      for (int j = 0; j < columns; j++) row.insert(j);
      check_product(this->ex, {"each once", from_rows(n, {row}), from_rows(n, alone)}, {.kept_bytes = bytes});
    }
  }
}

// begin[t] of five lists: four by size of table, and rows that are too long.
TEST(SpgemmLists, FewRowsGoWithTheNextListThatHasAny)
{
  struct Case {
    std::vector<std::int64_t> of, joined; // rows of each list
    int lists = spgemm::tables;
  };
  ASSERT_EQ(spgemm::few_teams<Host>, 4);
  for (const Case &c : std::vector<Case>{{{4, 9, 9, 9, 1}, {0, 13, 9, 9, 1}},
                                         {{5, 9, 9, 9, 1}, {5, 9, 9, 9, 1}},
                                         {{2, 2, 2, 9, 1}, {0, 0, 6, 9, 1}},
                                         {{1, 2, 1, 9, 0}, {0, 0, 0, 13, 0}},
                                         {{3, 0, 0, 9, 1}, {0, 0, 0, 12, 1}},
                                         {{5, 0, 0, 1, 0}, {5, 0, 0, 1, 0}},
                                         {{3, 0, 0, 0, 7}, {3, 0, 0, 0, 7}},
                                         {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
                                         {{9, 1, 1, 9, 0}, {9, 0, 2, 9, 0}, spgemm::noted_tables}}) {
    std::vector<std::int64_t> begin = {0}, joined;
    for (const std::int64_t rows : c.of) begin.push_back(begin.back() + rows);
    spgemm::join_lists_of_few<Host>(c.lists, begin.data());
    for (std::size_t t = 0; t < c.of.size(); t++) joined.push_back(begin[t + 1] - begin[t]);
    EXPECT_EQ(joined, c.joined);
  }
}

// Which take another way once their places are noted.
TYPED_TEST(Spgemm, OneProductAnEntryGivesTheSameBits)
{
  const auto one = [](int) { return 1; };
  std::set<bool> outcomes;
  for (const int length : {4, 40, 900}) {
    const Factors in = {std::to_string(length), random_rows(901, 1000, 1, length), random_rows(1000, 600, 2, one)};
    Csr<double, TypeParam> A, B, C;
    SpgemmPlan<TypeParam> plan;
    OK(upload(this->ex, in.A, A));
    OK(upload(this->ex, in.B, B));
    OK(spgemm_symbolic(this->ex, {}, A.view(), B.view(), C, plan));
    OK(spgemm_note_places(this->ex, A.view(), B.view(), C, plan));
    EXPECT_EQ(plan.one_each, !any_longer(product_of(in.A, in.B), 256)) << length;
    outcomes.insert(plan.one_each);
    check_product(this->ex, in, {});
  }
  EXPECT_EQ(outcomes.size(), 2U);
  check_product(this->ex, {"not for all", random_rows(300, 1000, 1, 9), random_rows(1000, 70, 2, 1)}, {});
}

TYPED_TEST(Spgemm, SlicesGiveTheSame)
{
  for (std::int64_t bytes : {1, 1500, 4000}) {
    for (const Factors &in : long_products()) check_product(this->ex, in, {.work_bytes = bytes});
  }
  for (const Factors &in : in_runs(long_products(), 3)) check_product(this->ex, in, {.work_bytes = 1500, .run = 3});
}

TYPED_TEST(Spgemm, ColumnsFoundTwiceAreTheSame)
{
  for (const std::int64_t bytes : {0, 400, 8000, 80000, 800000}) {
    for (const Factors &in : long_products()) check_product(this->ex, in, {.kept_bytes = bytes});
    for (const Factors &in : in_runs(long_products(), 3)) check_product(this->ex, in, {.kept_bytes = bytes, .run = 3});
  }
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
    expect_same_csr(got, product_of(in.R, in.A, in.P), in.name);
    const HostCsr other = with_other_values(in.A);
    OK(upload(ex, other, A));
    OK(triple_product_numeric(ex, plan, R.view(), A.view(), P.view(), C));
    OK(download(ex, C, got));
    expect_same_csr(got, product_of(in.R, other, in.P), in.name + ", other values");
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

// Each entry of C is a product of its own; symbolic calls read none. The gate asks native products alone, without sanitizers.
TYPED_TEST(Spgemm, RefusesMoreEntriesThanIndicesCount)
{
  if (std::is_same_v<TypeParam, Debug>) GTEST_SKIP() << "as Host, and slow";
  if (!full_run() && !count_on_large_grids()) GTEST_SKIP() << "part of the full run";
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
    if (!full_run() && (options.run > 1 || options.kind != SpgemmKind::native)) continue;
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

// Whichever allocation fails: an error, and the plan still serves.
TEST(SpgemmMemory, EveryAllocationOfPlacesMayFail)
{
  const Factors in = {"random", random_rows(30, 40, 1, 5), random_rows(40, 30, 2, 4)};
  Debug ex;
  Csr<double, Debug> A, B, C;
  SpgemmPlan<Debug> plan;
  HostCsr got;
  int failed = 0;
  OK(upload(ex, in.A, A));
  OK(upload(ex, in.B, B));
  for (bool more = true; more;) {
    OK(spgemm_symbolic(ex, {}, A.view(), B.view(), C, plan));
    ex.fail_at = ex.allocations + failed;
    const int code = error_of([&] { return spgemm_note_places(ex, A.view(), B.view(), C, plan); });
    more = ex.allocations > ex.fail_at;
    ex.fail_at = -1;
    EXPECT_EQ(code, more ? static_cast<int>(PETSC_ERR_MEM) : 0);
    EXPECT_EQ(plan.noted(), !more);
    OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
    OK(download(ex, C, got));
    expect_same_csr(got, product_of(in.A, in.B), "after " + std::to_string(failed) + " failures");
    failed += more;
  }
  EXPECT_EQ(failed, 2);
}
// By how many allocations there are.
TEST(SpgemmMemory, ColumnsAreKeptWhereThereIsRoom)
{
  const Factors in = {"random", random_rows(30, 40, 1, 5), random_rows(40, 30, 2, 4)};
  std::vector<std::int64_t> allocations;
  for (const std::int64_t places : {0, 31, 32, 960}) { // for no row, none, one, all
    Debug ex;
    Csr<double, Debug> A, B, C;
    SpgemmPlan<Debug> plan;
    HostCsr got;
    OK(upload(ex, in.A, A));
    OK(upload(ex, in.B, B));
    ex.available = 16 * places * static_cast<std::int64_t>(sizeof(int));
    const std::int64_t before = ex.allocations;
    OK(spgemm_symbolic(ex, {}, A.view(), B.view(), C, plan));
    allocations.push_back(ex.allocations - before);
    OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
    OK(download(ex, C, got));
    expect_same_csr(got, product_of(in.A, in.B), "room for " + std::to_string(places));
  }
  const std::int64_t without = allocations[0];
  EXPECT_EQ(allocations, (std::vector<std::int64_t>{without, without, without + 1, without + 1}));
}

TEST(SpgemmMemory, EveryAllocationMayFail) { check_failing_allocations(rows_for_all_tables(), {}); }
TEST(SpgemmMemory, EveryAllocationMayFailWithRuns) { check_failing_allocations(in_runs({rows_for_all_tables()}, 3)[0], {.run = 3}); }
} // namespace amgkit::test
