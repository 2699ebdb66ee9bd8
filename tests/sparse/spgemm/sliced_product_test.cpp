#include "sparse/spgemm/sliced_product.hpp"

#include "sparse/rows/transpose.hpp"
#include "support/coarse_problem.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> using SlicedProduct = SpaceTest<Ex>;
TYPED_TEST_SUITE(SlicedProduct, Spaces, SpaceName);

namespace
{
// C = R (A P), R = Pᵀ, in slices or, for slices = 0, in two whole products.
template <class Ex> struct Triple {
  Csr<double, Ex> A, P, R, AP, C;
  SpgemmPlan<Ex> first, second;
  SlicedPlan<Ex> plan;
  std::int64_t slices = 0;

  PetscErrorCode set(Ex &ex, const CoarseProblem &problem)
  {
    PetscFunctionBegin;
    PetscCall(upload(ex, problem.A, A));
    PetscCall(upload(ex, problem.P, P));
    PetscCall(transpose(ex, P.view(), R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode find_pattern(Ex &ex, const SpgemmOptions &options)
  {
    PetscFunctionBegin;
    if (slices > 0) {
      PetscCall(sliced_product_symbolic(ex, options, slices, R.view(), A.view(), P.view(), C, plan));
    } else {
      PetscCall(spgemm_symbolic(ex, options, A.view(), P.view(), AP, first));
      PetscCall(spgemm_symbolic(ex, options, R.view(), AP.view(), C, second));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode multiply(Ex &ex)
  {
    PetscFunctionBegin;
    if (slices > 0) {
      PetscCall(sliced_product_numeric(ex, plan, R.view(), A.view(), P.view(), C));
    } else {
      PetscCall(spgemm_numeric(ex, first, A.view(), P.view(), AP));
      PetscCall(spgemm_numeric(ex, second, R.view(), AP.view(), C));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

constexpr std::int64_t numbers_of_slices[] = {1, 2, 3, 7, 1000};

CoarseProblem with_new_values(CoarseProblem problem)
{
  for (HostCsr *M : {&problem.A, &problem.P}) {
    for (std::size_t k = 0; k < M->val.size(); k++) M->val[k] = M->val[k] * 1.25 + 0.1 * static_cast<double>(k % 7);
  }
  return problem;
}

std::vector<CoarseProblem> problems_to_slice()
{
  std::vector<CoarseProblem> problems = coarse_problems();
  problems.push_back({"rows beyond the tables", grid27(12), random_prolongator(1728, 1500, 12, 6)});
  problems.push_back({"nothing", make_csr(0, 0, {}), make_csr(0, 0, {})});
  return problems;
}
} // namespace

// Whatever the number of slices: the pattern and the bits of two whole products, also with new values.
TYPED_TEST(SlicedProduct, IsTheWholeProduct)
{
  for (const CoarseProblem &problem : problems_to_slice()) {
    for (const std::int64_t slices : numbers_of_slices) {
      SCOPED_TRACE(problem.name + ", " + std::to_string(slices));
      if (problem.A.rows > 1000 && slices > 7) continue;
      Triple<TypeParam> sliced, whole;
      sliced.slices = slices;
      for (const bool of_refresh : {false, true}) {
        HostCsr got, expected;
        for (Triple<TypeParam> *triple : {&sliced, &whole}) {
          OK(triple->set(this->ex, of_refresh ? with_new_values(problem) : problem));
          if (!of_refresh) {
            OK(triple->find_pattern(this->ex, {}));
          }
          OK(triple->multiply(this->ex));
        }
        OK(download(this->ex, sliced.C, got));
        OK(download(this->ex, whole.C, expected));
        EXPECT_EQ(got.rows, expected.rows);
        EXPECT_EQ(got.cols, expected.cols);
        EXPECT_EQ(got.ptr, expected.ptr);
        EXPECT_EQ(got.col, expected.col);
        EXPECT_EQ(got.val, expected.val);
      }
    }
  }
}

// Other back ends than native, where this build has one: the same pattern, values to rounding.
TYPED_TEST(SlicedProduct, TakesEveryBackEnd)
{
  for (const SpgemmKind kind : {SpgemmKind::cusparse, SpgemmKind::kokkos}) {
    if (!spgemm_available<TypeParam>(kind)) continue;
    for (const CoarseProblem &problem : coarse_problems()) {
      SCOPED_TRACE(problem.name);
      Triple<TypeParam> sliced, whole;
      sliced.slices = 3;
      for (const bool of_refresh : {false, true}) {
        HostCsr got, expected;
        for (Triple<TypeParam> *triple : {&sliced, &whole}) {
          OK(triple->set(this->ex, of_refresh ? with_new_values(problem) : problem));
          if (!of_refresh) {
            OK(triple->find_pattern(this->ex, {.kind = triple == &sliced ? kind : SpgemmKind::native}));
          }
          OK(triple->multiply(this->ex));
        }
        OK(download(this->ex, sliced.C, got));
        OK(download(this->ex, whole.C, expected));
        EXPECT_EQ(got.ptr, expected.ptr);
        EXPECT_EQ(got.col, expected.col);
        expect_close(got.val, expected.val, 1e-12, "values");
      }
    }
  }
}

// Slices follow each other, hold all rows, a row at least each, and no more entries than their share and a row.
TYPED_TEST(SlicedProduct, SlicesAreOfEqualWork)
{
  for (const CoarseProblem &problem : problems_to_slice()) {
    Csr<double, TypeParam> A;
    int longest = 0;
    OK(upload(this->ex, problem.A, A));
    for (int i = 0; i < problem.A.rows; i++) longest = std::max(longest, problem.A.ptr[i + 1] - problem.A.ptr[i]);
    for (const std::int64_t most : numbers_of_slices) {
      SCOPED_TRACE(problem.name + ", " + std::to_string(most));
      std::vector<RowSlice> slices;
      OK(cut_rows(this->ex, A.view(), most, slices));
      ASSERT_GE(slices.size(), 1U);
      ASSERT_LE(slices.size(), static_cast<std::size_t>(most));
      int row = 0;
      for (const RowSlice &slice : slices) {
        EXPECT_EQ(slice.begin, row);
        EXPECT_GE(slice.rows(), A.rows > 0 ? 1 : 0);
        EXPECT_LE(slice.entries(), A.col.size() / std::min<std::int64_t>(most, std::max(A.rows, 1)) + 1 + longest);
        EXPECT_EQ(slice.first_entry, problem.A.ptr[slice.begin]);
        EXPECT_EQ(slice.end_entry, problem.A.ptr[slice.end]);
        row = slice.end;
      }
      EXPECT_EQ(row, A.rows);
    }
  }
}

// Rows 1 and 2 of four need columns 2, 5 and 9.
TYPED_TEST(SlicedProduct, NumbersAColumnByItsPlace)
{
  const HostCsr M = make_csr(4, 11, {{{0, 0}, 1}, {{1, 5}, 2}, {{1, 9}, 3}, {{2, 2}, 4}, {{2, 9}, 5}, {{3, 10}, 6}});
  Csr<double, TypeParam> A, slice, some;
  Array<int, TypeParam> columns;
  HostCsr got;
  OK(upload(this->ex, M, A));
  OK(compress_columns(this->ex, A.view(), {1, 3, 1, 5}, slice, columns));
  EXPECT_EQ(this->to_host(columns), (std::vector<int>{2, 5, 9}));
  EXPECT_EQ(slice.rows, 2);
  EXPECT_EQ(slice.cols, 3);
  EXPECT_EQ(this->to_host(slice.ptr), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(this->to_host(slice.col), (std::vector<int>{1, 2, 0, 2}));
  const auto row = this->to_space(std::vector<int>{3, 1});
  OK(copy_rows(this->ex, A.view(), row, true, some));
  OK(download(this->ex, some, got));
  EXPECT_EQ(got.ptr, (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(got.col, (std::vector<int>{10, 5, 9}));
  EXPECT_EQ(got.val, (std::vector<double>{6, 2, 3}));
  EXPECT_EQ(got.cols, 11);
}

// A P of 1000 entries, estimated as half of 5 · 400 products, 12 bytes each; A of 400 with it where it is cut.
TEST(SlicesOfAProduct, FollowTheBytes)
{
  CsrView<double> A, P;
  A.rows = A.cols = P.rows = 100;
  A.nnz = 400;
  P.nnz = 500;
  Debug ex;
  for (const auto &[bytes, slices] : {std::pair{12000, 1}, {11999, 2}, {8401, 2}, {8399, 3}, {1, 16800}, {0, 1}}) {
    SpgemmOptions options;
    std::int64_t got = 0;
    options.product_bytes = bytes;
    OK(slices_of_product(ex, options, A.nnz, P, &got));
    EXPECT_EQ(got, slices) << bytes;
  }
  for (const auto &[available, slices] : {std::pair{24000, 1}, {23999, 2}, {2, 16800}, {0, INT32_MAX}}) {
    std::int64_t got = 0;
    ex.available = available;
    OK(slices_of_product(ex, {}, A.nnz, P, &got));
    EXPECT_EQ(got, slices) << available << " free";
  }
}
} // namespace amgkit::test
