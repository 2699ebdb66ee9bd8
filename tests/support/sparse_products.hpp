// Pairs of factors, their products by the definition, and checks of spgemm() against these bit for bit.
#pragma once
#include "sparse/spgemm/spgemm.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace amgkit::test
{
// A row by its columns; values from the number of the entry.
inline HostCsr from_rows(int cols, const std::vector<std::set<int>> &rows)
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
inline HostCsr random_rows(int rows, int cols, unsigned seed, int length, int step = 1)
{
  return random_rows(
      rows, cols, seed, [length](int i) { return i % (length + 1); }, step);
}

// Row i is the first length[i] columns.
inline HostCsr rows_of_lengths(int cols, const std::vector<int> &length)
{
  std::vector<std::set<int>> columns(length.size());
  for (std::size_t i = 0; i < length.size(); i++) {
    for (int j = 0; j < length[i]; j++) columns[i].insert(columns[i].end(), j);
  }
  return from_rows(cols, columns);
}

inline HostCsr with_other_values(HostCsr A)
{
  for (std::size_t k = 0; k < A.val.size(); k++) A.val[k] *= 1 + 0.1 * static_cast<double>(k % 7);
  return A;
}

// Every column becomes a run of so many, with values of their own.
inline HostCsr widened(const HostCsr &B, int run)
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

// A row of a product: its terms in the order that they are added.
class RowOfSums {
public:
  explicit RowOfSums(int cols) : sum_(cols), met_(cols) {}
  void add(int j, double x)
  {
    if (!met_[j]) columns_.push_back(j);
    met_[j] = 1;
    sum_[j] += x;
  }
  // Becomes the next row of C; begins anew.
  void append_to(HostCsr &C)
  {
    std::sort(columns_.begin(), columns_.end());
    for (int j : columns_) {
      C.col.push_back(j);
      C.val.push_back(sum_[j]);
      sum_[j] = met_[j] = 0;
    }
    C.ptr.push_back(static_cast<int>(C.col.size()));
    columns_.clear();
  }

private:
  std::vector<double> sum_;
  std::vector<char> met_;
  std::vector<int> columns_;
};

// The definitions, in the order that spgemm.hpp promises.
inline HostCsr product_of(const HostCsr &A, const HostCsr &B)
{
  HostCsr C;
  RowOfSums row(B.cols);
  C.rows = A.rows;
  C.cols = B.cols;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      for (int l = B.ptr[A.col[k]]; l < B.ptr[A.col[k] + 1]; l++) row.add(B.col[l], A.val[k] * B.val[l]);
    }
    row.append_to(C);
  }
  return C;
}
inline HostCsr product_of(const HostCsr &R, const HostCsr &A, const HostCsr &P)
{
  HostCsr C;
  RowOfSums row(P.cols);
  C.rows = R.rows;
  C.cols = P.cols;
  for (int I = 0; I < R.rows; I++) {
    for (int e = R.ptr[I]; e < R.ptr[I + 1]; e++) {
      for (int k = A.ptr[R.col[e]]; k < A.ptr[R.col[e] + 1]; k++) {
        for (int l = P.ptr[A.col[k]]; l < P.ptr[A.col[k] + 1]; l++) row.add(P.col[l], R.val[e] * A.val[k] * P.val[l]);
      }
    }
    row.append_to(C);
  }
  return C;
}

inline void expect_same_csr(const HostCsr &got, const HostCsr &expected, const std::string &name)
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
inline std::int64_t count_products(const Factors &in)
{
  std::int64_t n = 0;
  for (int j : in.A.col) n += in.B.ptr[j + 1] - in.B.ptr[j];
  return n;
}

// Lengths about all sizes of table, and far beyond the largest.
inline const std::vector<int> lengths = {1,   0,   15,  16,  17,  31,  32,  33,  63,   64,   65,   127,  128,  129,  255,
                                         256, 257, 511, 512, 513, 600, 700, 800, 1023, 1024, 1025, 2047, 2048, 2049, 5000};

inline std::vector<Factors> small_products()
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
inline std::vector<Factors> long_products()
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

// Of each kind of row, more than go with another list: those that fit the table that they try first, three that need the next one, and one
// that needs bits.
inline Factors rows_for_all_tables()
{
  const int n = 5000, of_a_kind = 20;
  std::vector<int> lengths_of_rows;
  for (int i = 0; i < of_a_kind; i++) lengths_of_rows.insert(lengths_of_rows.end(), {5, 25, 150, 900, 3000});
  return {"rows for all tables", rows_of_lengths(n, lengths_of_rows), random_rows(n, n, 1, 3)};
}

// The right factors in runs.
inline std::vector<Factors> in_runs(std::vector<Factors> products, int run)
{
  for (Factors &in : products) {
    in.name += ", run " + std::to_string(run);
    in.B = widened(in.B, run);
  }
  return products;
}

// A row with entries, and so few runs of them that a byte tells them apart
inline bool has_short_row(const HostCsr &C, int run)
{
  for (int i = 0; i < C.rows; i++) {
    const int length = (C.ptr[i + 1] - C.ptr[i]) / run;
    if (length > 0 && length <= 256) return true;
  }
  return false;
}

template <class Ex> void check_product(Ex &ex, const Factors &in, const SpgemmOptions &options, int rows = 1)
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
  const HostCsr expected = product_of(in.A, in.B);
  expect_same_csr(got, expected, in.name);
  EXPECT_EQ(plan.products, count_products(in)) << in.name;
  EXPECT_EQ(plan.rows, in.A.val.empty() || in.B.val.empty() ? 1 : rows) << in.name;
  const HostCsr other_A = with_other_values(in.A), other_B = with_other_values(in.B);
  OK(upload(ex, other_A, A));
  OK(upload(ex, other_B, B));
  OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
  OK(download(ex, C, got));
  expect_same_csr(got, product_of(other_A, other_B), in.name + ", other values");
  OK(spgemm_note_places(ex, A.view(), B.view(), C, plan));
  OK(upload(ex, in.A, A));
  OK(upload(ex, in.B, B));
  OK(upload(ex, std::vector<double>(C.val.size(), NAN), C.val));
  OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
  OK(download(ex, C, got));
  expect_same_csr(got, expected, in.name + ", places noted");
  EXPECT_EQ(plan.noted(), has_short_row(got, plan.run)) << in.name;
  OK(spgemm_product(ex, options, A.view(), B.view(), C, plan));
  OK(download(ex, C, got));
  expect_same_csr(got, expected, in.name + ", pattern and values at once");
  OK(upload(ex, other_A, A));
  OK(upload(ex, other_B, B));
  OK(spgemm_numeric(ex, plan, A.view(), B.view(), C));
  OK(download(ex, C, got));
  expect_same_csr(got, product_of(other_A, other_B), in.name + ", other values after a product at once");
}

// The error of f, not printed.
template <class F> int error_of(F f)
{
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  const PetscErrorCode code = f();
  PetscPopErrorHandler();
  return static_cast<int>(code);
}

// Whatever allocation fails: an error or, where smaller slices do or columns can be found twice, the product.
inline void check_failing_allocations(Factors in, const SpgemmOptions &options)
{
  Debug ex;
  const HostCsr expected = product_of(in.A, in.B);
  Csr<double, Debug> A, B, C;
  SpgemmPlan<Debug> plan;
  int succeeded = 0, failed = 0;
  OK(upload(ex, in.A, A));
  OK(upload(ex, in.B, B));
  for (bool more = true; more;) {
    const std::int64_t before = ex.allocations;
    ex.fail_at = before + succeeded + failed;
    const int code = error_of([&] { return spgemm_symbolic(ex, options, A.view(), B.view(), C, plan); });
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
    expect_same_csr(got, expected, "after " + std::to_string(failed) + " failures");
  }
  // bits and blocks, each for counting and for filling; columns kept by seven lists of rows; and the call whose allocations all succeed
  EXPECT_EQ(succeeded, 4 + 7 + 1);
  EXPECT_GT(failed, 5);
}
} // namespace amgkit::test
