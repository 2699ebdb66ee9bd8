#include "sparse/truncate.hpp"

#include "sparse/selection.hpp"
#include "sparse/stack.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace amgkit::test
{
template <class Ex> using Truncate = SpaceTest<Ex>;
TYPED_TEST_SUITE(Truncate, Spaces, SpaceName);

namespace
{
using Marks = std::vector<unsigned char>;

struct Truncated {
  Marks keep;
  std::vector<double> scale;
};
template <class Ex> Truncated truncated(Ex &ex, const HostCsr &M, Truncation rule)
{
  Csr<double, Ex> P;
  Array<unsigned char, Ex> keep;
  Array<double, Ex> scale;
  Truncated out;
  const auto run = [&] {
    PetscFunctionBegin;
    PetscCall(upload(ex, M, P));
    PetscCall(keep.allocate(ex, P.col.size()));
    PetscCall(scale.allocate(ex, P.rows));
    PetscCall(mark_largest(ex, P.view(), rule, keep.data()));
    PetscCall(scales_of_truncation(ex, P.view(), keep.data(), scale.data()));
    PetscCall(amgkit::download(ex, keep.data(), keep.size(), out.keep));
    PetscCall(amgkit::download(ex, scale.data(), scale.size(), out.scale));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  EXPECT_EQ(static_cast<int>(run()), 0);
  return out;
}
HostCsr row(const std::vector<double> &values)
{
  std::map<std::pair<int, int>, double> entries;
  for (std::size_t j = 0; j < values.size(); j++) entries[{0, static_cast<int>(3 * j)}] = values[j];
  return make_csr(1, static_cast<int>(3 * values.size()), entries);
}

// The rule by sorting.
Marks sorted_out(const HostCsr &M, Truncation rule)
{
  Marks keep(M.val.size());
  for (int i = 0; i < M.rows; i++) {
    std::vector<int> order;
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return std::abs(M.val[a]) > std::abs(M.val[b]); });
    for (std::size_t n = 0; n < order.size(); n++) {
      const bool few = rule.most == 0 || static_cast<int>(n) < rule.most;
      keep[order[n]] = few && std::abs(M.val[order[n]]) >= rule.factor * std::abs(M.val[order[0]]);
    }
  }
  return keep;
}
} // namespace

TYPED_TEST(Truncate, ByHand)
{
  const HostCsr M = row({0.125, -0.5, 0.25, 0.5, 0.25, 0.0625});
  const auto keep = [&](Truncation rule) { return truncated(this->ex, M, rule).keep; };
  const auto scale = [&](Truncation rule) { return truncated(this->ex, M, rule).scale[0]; };
  EXPECT_EQ(keep({0, 0}), (Marks{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(keep({0, 6}), (Marks{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(keep({0, 1}), (Marks{0, 1, 0, 0, 0, 0}));   // of -0.5 and 0.5 the first
  EXPECT_EQ(keep({0, 3}), (Marks{0, 1, 1, 1, 0, 0}));   // of 0.25 twice the first
  EXPECT_EQ(keep({0.5, 0}), (Marks{0, 1, 1, 1, 1, 0})); // not below half of the largest
  EXPECT_EQ(keep({0.5, 3}), (Marks{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(keep({0.6, 4}), (Marks{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(keep({0.6, 0}), (Marks{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(keep({1, 0}), (Marks{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(scale({0, 0}), 1);
  EXPECT_EQ(scale({0, 3}), 0.6875 / 0.25);
  EXPECT_EQ(scale({0, 1}), 0.6875 / -0.5);
  EXPECT_EQ(scale({1, 0}), 1); // what stays sums to 0
}

TYPED_TEST(Truncate, OddRows)
{
  const HostCsr zeros = row({0, 0, 0});
  EXPECT_EQ(truncated(this->ex, zeros, {0, 2}).keep, (Marks{1, 1, 0}));
  EXPECT_EQ(truncated(this->ex, zeros, {0.5, 0}).keep, (Marks{1, 1, 1}));
  EXPECT_EQ(truncated(this->ex, zeros, {0.5, 2}).scale[0], 1);
  const Truncated empty = truncated(this->ex, make_csr(3, 0, {}), {0.1, 4});
  EXPECT_EQ(empty.scale, (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(truncated(this->ex, make_csr(0, 0, {}), {0.1, 4}).scale.empty());
  // what is not a number reaches what stays
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(truncated(this->ex, row({1, nan, 2, 3}), {0, 2}).scale[0]));
}

TYPED_TEST(Truncate, IsTheRuleBySorting)
{
  for (const auto &[name, A] : gallery()) {
    for (const Truncation rule : {Truncation{0, 1}, Truncation{0, 4}, Truncation{0.2, 0}, Truncation{0.1, 3}, Truncation{0, 40}}) {
      const Truncated got = truncated(this->ex, A, rule);
      ASSERT_EQ(got.keep, sorted_out(A, rule)) << name;
      for (int i = 0; i < A.rows; i++) {
        double all = 0, kept = 0;
        for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
          all += A.val[k];
          if (got.keep[k]) kept += A.val[k];
        }
        ASSERT_EQ(got.scale[i], kept != 0 ? all / kept : 1) << name;
      }
    }
  }
}

TYPED_TEST(Truncate, SelectionsAreInsideOrOutside)
{
  const HostCsr M = make_csr(3, 6, {{{0, 1}, 1}, {{0, 2}, 2}, {{0, 5}, 3}, {{2, 0}, 4}, {{2, 3}, 5}, {{2, 4}, 6}});
  Csr<double, TypeParam> A;
  Selection<TypeParam> all, inside, outside, none;
  OK(upload(this->ex, M, A));
  const auto mark = this->to_space(Marks{1, 3, 2, 2, 2, 0}), no_mark = this->to_space(Marks(6, 0));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {}, all));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {2, 4, true}, inside));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {2, 4, false}, outside));
  OK(select_entries(this->ex, A.view(), no_mark.data(), 7, {}, none));
  EXPECT_EQ(this->to_host(all.ptr), (std::vector<int>{0, 2, 2, 4}));
  EXPECT_EQ(this->to_host(all.at), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(this->to_host(inside.ptr), (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(this->to_host(inside.at), (std::vector<int>{1, 4}));
  EXPECT_EQ(this->to_host(outside.ptr), (std::vector<int>{0, 1, 1, 2}));
  EXPECT_EQ(this->to_host(outside.at), (std::vector<int>{2, 3}));
  EXPECT_EQ(this->to_host(none.ptr), (std::vector<int>{0, 0, 0, 0}));
  const auto factor = this->to_space(std::vector<double>{2, 3, 10});
  auto col = this->to_space(std::vector<int>(4));
  auto val = this->to_space(std::vector<double>(4));
  OK(selected_columns(this->ex, A.view(), all, 1, col.data()));
  OK(selected_values(this->ex, A.view(), all, factor.data(), val.data()));
  EXPECT_EQ(this->to_host(col), (std::vector<int>{1, 4, -1, 2}));
  EXPECT_EQ(this->to_host(val), (std::vector<double>{4, 6, 40, 50}));
  OK(selected_values(this->ex, A.view(), all, static_cast<const double *>(nullptr), val.data()));
  EXPECT_EQ(this->to_host(val), (std::vector<double>{2, 3, 4, 5}));
}

// Own rows 2 and 3 of four, own columns 1 and 2 of four; ghosts are columns 0 and 3.
TYPED_TEST(Truncate, StacksRowsInOrder)
{
  const HostCsr own = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 3}}), ghost = make_csr(2, 2, {{{0, 1}, 4}, {{1, 0}, 5}}),
                others = make_csr(2, 4, {{{0, 0}, 6}, {{0, 2}, 7}, {{1, 3}, 8}});
  Csr<double, TypeParam> D, O, R, M;
  HostCsr got;
  OK(upload(this->ex, own, D));
  OK(upload(this->ex, ghost, O));
  OK(upload(this->ex, others, R));
  const auto column = this->to_space(std::vector<int>{0, 3}), ptr = this->to_space(std::vector<int>{0, 1, 2}),
             at = this->to_space(std::vector<int>{1, 2});
  OK(stack_rows(this->ex, {{D.view()}, {O.view()}, 4, 1, 1, column.data(), R.view(), 1}, M));
  OK(download(this->ex, M, got));
  EXPECT_EQ(got.ptr, (std::vector<int>{0, 2, 5, 7, 8}));
  EXPECT_EQ(got.col, (std::vector<int>{0, 2, 1, 2, 3, 0, 2, 3}));
  EXPECT_EQ(got.val, (std::vector<double>{6, 7, 1, 2, 4, 5, 3, 8}));
  OK(stack_rows(this->ex, {{D.view(), ptr.data(), at.data()}, {O.view()}, 4, 1, 1, column.data(), {}, 0}, M)); // without entry (0, 0)
  OK(download(this->ex, M, got));
  EXPECT_EQ(got.ptr, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(got.col, (std::vector<int>{2, 3, 0, 2}));
  EXPECT_EQ(got.val, (std::vector<double>{2, 4, 5, 3}));
  auto all = this->to_space(std::vector<double>(4));
  const auto x = this->to_space(std::vector<double>{1, 2}), y = this->to_space(std::vector<double>{3, 4});
  OK(stack_vector(this->ex, 2, x.data(), 2, y.data(), 1, all.data()));
  EXPECT_EQ(this->to_host(all), (std::vector<double>{3, 1, 2, 4}));
}
} // namespace amgkit::test
