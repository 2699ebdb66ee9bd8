// spgemm_product(): pattern and values at once, and rows that are given.
#include "support/sparse_products.hpp"

namespace amgkit::test
{
template <class Ex> using SpgemmAtOnce = SpaceTest<Ex>;
TYPED_TEST_SUITE(SpgemmAtOnce, Spaces, SpaceName);

// To the byte, at the last row or long before
TYPED_TEST(SpgemmAtOnce, ProductsHaveValuesWithinTheirLimitAlone)
{
  for (const Factors &in : long_products()) {
    const HostCsr expected = product_of(in.A, in.B);
    const auto bytes = static_cast<std::int64_t>(expected.val.size() * sizeof(double));
    for (const std::int64_t limit : {std::int64_t{0}, bytes / 3, bytes - 1, bytes}) {
      Csr<double, TypeParam> A, B, C;
      SpgemmPlan<TypeParam> plan;
      HostCsr got;
      OK(upload(this->ex, in.A, A));
      OK(upload(this->ex, in.B, B));
      OK(spgemm_product(this->ex, {}, A.view(), B.view(), C, plan, limit));
      EXPECT_EQ(C.val.size() > 0, limit == bytes && bytes > 0) << in.name << ", " << limit << " of " << bytes << " bytes";
      if (C.val.size() == 0) {
        OK(C.val.allocate(this->ex, C.col.size()));
        OK(spgemm_numeric(this->ex, plan, A.view(), B.view(), C));
      }
      OK(download(this->ex, C, got));
      expect_same_csr(got, expected, in.name + ", " + std::to_string(limit) + " bytes");
    }
  }
}

namespace
{
// A's entries with keep(i, k), k the number of the entry of row i; rows that are not chosen are left out.
template <class Chosen, class Keep> HostCsr some_of(const HostCsr &A, Chosen chosen, Keep keep)
{
  HostCsr out;
  out.cols = A.cols;
  out.ptr = {0};
  for (int i = 0; i < A.rows; i++) {
    if (!chosen(i)) continue;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (!keep(i, k)) continue;
      out.col.push_back(A.col[k]);
      out.val.push_back(A.val[k]);
    }
    out.ptr.push_back(static_cast<int>(out.col.size()));
  }
  out.rows = static_cast<int>(out.ptr.size()) - 1;
  return out;
}
template <class Chosen> HostCsr some_rows(const HostCsr &A, Chosen chosen)
{
  return some_of(A, chosen, [](int, int) { return true; });
}

// The product of a matrix that lacks entries in the rows that are given is that of the whole one.
template <class Ex>
void check_given_rows(Ex &ex, const Factors &in, int every, const SpgemmOptions &options, std::int64_t values_bytes = INT64_MAX)
{
  const auto chosen = [&](int i) { return i % every == every - 1; };
  const HostCsr thin = some_of(
      in.A, [](int) { return true; }, [&](int i, int k) { return !chosen(i) || k % 2 == 0; });
  std::vector<int> rows;
  Array<int, Ex> row;
  Csr<double, Ex> A, B, C, given;
  SpgemmPlan<Ex> plan;
  HostCsr got;
  for (int i = 0; i < in.A.rows; i++) {
    if (chosen(i)) rows.push_back(i);
  }
  OK(upload(ex, rows, row));
  OK(upload(ex, in.B, B));
  for (const bool again : {false, true}) {
    const HostCsr whole = again ? with_other_values(in.A) : in.A, expected = product_of(whole, in.B);
    OK(upload(ex, again ? with_other_values(thin) : thin, A));
    OK(upload(ex, some_rows(expected, chosen), given));
    const GivenRows given_rows = {row.data(), given.view()};
    if (again) {
      OK(spgemm_note_places(ex, A.view(), B.view(), C, plan));
    } else {
      OK(spgemm_product(ex, options, A.view(), B.view(), C, plan, values_bytes, given_rows));
    }
    if (again || C.val.size() < C.col.size()) {
      OK(C.val.allocate(ex, C.col.size()));
      OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
      OK(spgemm_put_values(ex, given_rows, 0, C.rows, C.ptr.data(), C.val.data()));
    }
    OK(download(ex, C, got));
    for (const bool of_given : {true, false}) { // other values of `thin` are not those of `whole`, as they go by the entry's number
      const auto compared = [&](int i) { return chosen(i) == of_given; };
      const HostCsr reference = of_given ? expected : product_of(again ? with_other_values(thin) : thin, in.B);
      expect_same_csr(some_rows(got, compared), some_rows(reference, compared), in.name + (again ? ", other values" : ""));
    }
  }
}
} // namespace

// Rows of all lengths, one of two or of seven of them, with columns that are kept, found twice, or bits; also with noted places
TYPED_TEST(SpgemmAtOnce, GivenRowsAreThoseOfTheProduct)
{
  for (const std::vector<Factors> &products : {small_products(), long_products(), {rows_for_all_tables()}}) {
    for (const Factors &in : products) {
      for (const int every : {1, 2, 7}) {
        check_given_rows(this->ex, in, every, {});
        check_given_rows(this->ex, in, every, {.work_bytes = 1500, .kept_bytes = 0}, 0);
      }
    }
  }
}

// All of the product may be in them.
TYPED_TEST(SpgemmAtOnce, FactorsMayBeEmptyWhereRowsAreGiven)
{
  const HostCsr M = random_rows(2, 7, 1, 4);
  Csr<double, TypeParam> A, B, C, given;
  SpgemmPlan<TypeParam> plan;
  Array<int, TypeParam> row;
  HostCsr got;
  OK(upload(this->ex, std::vector<int>{1, 3}, row));
  OK(upload(this->ex, make_csr(5, 4, {}), A));
  OK(upload(this->ex, make_csr(4, 7, {}), B));
  OK(upload(this->ex, M, given));
  OK(spgemm_product(this->ex, {}, A.view(), B.view(), C, plan, INT64_MAX, GivenRows{row.data(), given.view()}));
  OK(download(this->ex, C, got));
  expect_same_csr(some_rows(got, [](int i) { return i == 1 || i == 3; }), M, "given");
  EXPECT_EQ(got.val.size(), M.val.size());
}

TYPED_TEST(SpgemmAtOnce, RowsAreGivenToNativeWithoutRunsAlone)
{
  const Factors in = small_products().front();
  Csr<double, TypeParam> A, B, C, given;
  SpgemmPlan<TypeParam> plan;
  Array<int, TypeParam> row;
  OK(upload(this->ex, std::vector<int>{0}, row));
  OK(upload(this->ex, in.A, A));
  OK(upload(this->ex, in.B, B));
  OK(upload(this->ex, make_csr(1, in.B.cols + 1, {}), given));
  const GivenRows too_wide = {row.data(), given.view()};
  EXPECT_EQ(error_of([&] { return spgemm_product(this->ex, {}, A.view(), B.view(), C, plan, INT64_MAX, too_wide); }), PETSC_ERR_ARG_SIZ);
  for (const SpgemmOptions &options : {SpgemmOptions{.run = 3}, {.rows = 3}, {.kind = SpgemmKind::kokkos}})
    EXPECT_EQ(error_of([&] { return spgemm_product(this->ex, options, A.view(), B.view(), C, plan, INT64_MAX, too_wide); }), PETSC_ERR_SUP);
}
} // namespace amgkit::test
