#include "sparse/spgemm/windowed_product.hpp"

#include "sparse/rows/transpose.hpp"
#include "support/coarse_problem.hpp"
#include "support/spaces.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using WindowedProduct = SpaceTest<Ex>;
TYPED_TEST_SUITE(WindowedProduct, Spaces, SpaceName);

namespace
{
// C = R (A P), R = Pᵀ; A P's pattern alone.
template <class Ex> struct Patterns {
  Csr<double, Ex> A, P, R, AP, C;
  SpgemmPlan<Ex> plan_AP, plan_C;

  PetscErrorCode find(Ex &ex, const CoarseProblem &problem, int run = 1)
  {
    PetscFunctionBegin;
    PetscCall(upload(ex, problem.A, A));
    PetscCall(upload(ex, problem.P, P));
    PetscCall(transpose(ex, P.view(), R));
    PetscCall(spgemm_symbolic(ex, {.run = run, .with_values = false}, A.view(), P.view(), AP, plan_AP));
    PetscCall(spgemm_symbolic(ex, {.run = run}, R.view(), AP.view(), C, plan_C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode note_places(Ex &ex)
  {
    PetscFunctionBegin;
    PetscCall(spgemm_note_places(ex, A.view(), P.view(), AP, plan_AP));
    PetscCall(spgemm_note_places(ex, R.view(), AP.view(), C, plan_C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode windows(Ex &ex, std::int64_t bytes, std::vector<ProductWindow> &out)
  {
    return find_windows(ex, bytes, R.view(), AP.view(), plan_AP, plan_C, out);
  }
  // C's values, where nothing was
  PetscErrorCode multiply(Ex &ex, const std::vector<ProductWindow> &windows, HostCsr &got, const GivenRows &given = {})
  {
    PetscFunctionBegin;
    PetscCall(upload(ex, std::vector<double>(C.col.size(), NAN), C.val));
    PetscCall(windowed_product(ex, windows, R.view(), A.view(), P.view(), AP.view(), plan_AP, plan_C, C, given));
    PetscCall(download(ex, C, got));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode multiply_whole(Ex &ex, HostCsr &got)
  {
    PetscFunctionBegin;
    PetscCall(AP.val.allocate(ex, AP.col.size()));
    PetscCall(spgemm_numeric(ex, plan_AP, A.view(), P.view(), AP));
    PetscCall(spgemm_numeric(ex, plan_C, R.view(), AP.view(), C));
    PetscCall(download(ex, C, got));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Every column a run of so many.
HostCsr in_runs(const HostCsr &B, int run)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < B.rows; i++) {
    for (int k = B.ptr[i]; k < B.ptr[i + 1]; k++) {
      for (int c = 0; c < run; c++) entries[{i, run * B.col[k] + c}] = B.val[k] * (1 + 0.3 * c);
    }
  }
  return make_csr(B.rows, run * B.cols, entries);
}

CoarseProblem near_problem() { return {"near", grid7(5, 5, 60), near_prolongator(1500, 500, 3, 1)}; }

std::vector<CoarseProblem> problems_for_windows()
{
  std::vector<CoarseProblem> problems = coarse_problems();
  problems.push_back(near_problem());
  problems.push_back({"long rows of both products", grid27(12), near_prolongator(1728, 864, 3, 7)});
  problems.push_back({"rows beyond the tables", grid27(12), random_prolongator(1728, 1500, 12, 6)});
  problems.push_back({"nothing", make_csr(0, 0, {}), make_csr(0, 0, {})});
  return problems;
}
} // namespace

// Whatever the size of the windows: the bits of two whole products.
TYPED_TEST(WindowedProduct, IsTheWholeProduct)
{
  std::size_t most = 0;
  for (const CoarseProblem &problem : problems_for_windows()) {
    for (const int run : {1, 3}) {
      Patterns<TypeParam> product;
      HostCsr got, expected;
      OK(product.find(this->ex, {problem.name, problem.A, in_runs(problem.P, run)}, run));
      OK(product.multiply_whole(this->ex, expected));
      if (run == 3) {
        OK(product.note_places(this->ex));
      }
      for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{500}, std::int64_t{8000}, std::int64_t{INT32_MAX}}) {
        SCOPED_TRACE(problem.name + ", " + std::to_string(run) + ", " + std::to_string(bytes));
        std::vector<ProductWindow> windows;
        OK(product.windows(this->ex, bytes, windows));
        most = std::max(most, windows.size());
        OK(product.multiply(this->ex, windows, got));
        EXPECT_EQ(got.val, expected.val);
        if (run > 1) continue;
        OK(product.note_places(this->ex)); // for the next windows
      }
    }
  }
  EXPECT_GT(most, 100U);
}

// Rows that are too long for a table, in windows.
TYPED_TEST(WindowedProduct, HasRowsBeyondTheTables)
{
  const int n = 100;
  std::map<std::pair<int, int>, double> A, P;
  for (int i = 0; i < n; i++) {
    A[{i, i}] = 1.5 + i;
    for (int j = 0; j < (i % 25 == 4 ? 3000 : 5); j++) P[{i, 2900 * (i / 25) + j}] = 1.0 / (1 + i + j);
  }
  Patterns<TypeParam> product;
  HostCsr got, expected;
  std::vector<ProductWindow> windows;
  OK(product.find(this->ex, {"long", make_csr(n, n, A), make_csr(n, 11700, P)}));
  OK(product.multiply_whole(this->ex, expected));
  OK(product.windows(this->ex, 8 * 2000, windows));
  EXPECT_GT(windows.size(), 2U);
  EXPECT_GT(product.plan_AP.windows, 0);
  OK(product.multiply(this->ex, windows, got));
  EXPECT_EQ(got.val, expected.val);
}

// Where neighbours lie next to each other: windows near the bytes asked for, and no row of A P twice.
TYPED_TEST(WindowedProduct, ComputesNothingTwice)
{
  Patterns<TypeParam> product;
  OK(product.find(this->ex, near_problem()));
  const std::int64_t entries = product.AP.col.size(), overlap = entries / 15; // two planes at either side, of 60
  for (const int parts : {2, 3, 5, 10}) {
    std::vector<ProductWindow> windows;
    OK(product.windows(this->ex, entries * 8 / parts, windows));
    EXPECT_GE(windows.size(), static_cast<std::size_t>(parts == 2 ? 1 : parts));
    EXPECT_EQ(entries_computed(windows), entries);
    for (const ProductWindow &window : windows) EXPECT_LE(window.entries(), parts == 2 ? entries : entries / parts + 2 * overlap);
  }
}

// Points that lie anywhere need all of A P at any time.
TYPED_TEST(WindowedProduct, IsOneWindowWhereRowsLieAnywhere)
{
  Patterns<TypeParam> product;
  std::vector<ProductWindow> windows;
  OK(product.find(this->ex, {"anywhere", grid7(5, 5, 60), random_prolongator(1500, 50, 4, 1)}));
  OK(product.windows(this->ex, product.AP.col.size(), windows));
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].entries(), product.AP.col.size());
}

// Rows of A P that are given: A's rows would spoil the product.
TYPED_TEST(WindowedProduct, TakesRowsThatAreGiven)
{
  CoarseProblem problem = near_problem();
  Patterns<TypeParam> patterns;
  HostCsr expected, AP, some;
  std::vector<int> rows;
  Array<int, TypeParam> row;
  Csr<double, TypeParam> given;
  OK(patterns.find(this->ex, problem));
  OK(patterns.multiply_whole(this->ex, expected));
  OK(download(this->ex, patterns.AP, AP));
  some.cols = AP.cols;
  some.ptr = {0};
  for (int i = 3; i < AP.rows; i += 7) {
    rows.push_back(i);
    some.col.insert(some.col.end(), AP.col.begin() + AP.ptr[i], AP.col.begin() + AP.ptr[i + 1]);
    some.val.insert(some.val.end(), AP.val.begin() + AP.ptr[i], AP.val.begin() + AP.ptr[i + 1]);
    some.ptr.push_back(static_cast<int>(some.col.size()));
    for (int k = problem.A.ptr[i]; k < problem.A.ptr[i + 1]; k++) problem.A.val[k] = NAN;
  }
  some.rows = static_cast<int>(rows.size());
  OK(upload(this->ex, rows, row));
  OK(upload(this->ex, some, given));
  OK(upload(this->ex, problem.A, patterns.A));
  for (const std::int64_t bytes : {20000, 2000}) {
    std::vector<ProductWindow> windows;
    HostCsr got;
    OK(patterns.windows(this->ex, bytes, windows));
    ASSERT_GT(windows.size(), 1U);
    OK(patterns.multiply(this->ex, windows, got, {row.data(), given.view()}));
    EXPECT_EQ(got.val, expected.val) << bytes;
  }
}
} // namespace amgkit::test
