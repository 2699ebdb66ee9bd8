#include "sparse/selection.hpp"

#include "sparse/stack.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using SelectionTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(SelectionTest, Spaces, SpaceName);

TYPED_TEST(SelectionTest, IsInsideOrOutside)
{
  const HostCsr M = make_csr(3, 6, {{{0, 1}, 1}, {{0, 2}, 2}, {{0, 5}, 3}, {{2, 0}, 4}, {{2, 3}, 5}, {{2, 4}, 6}});
  Csr<double, TypeParam> A;
  Selection<TypeParam> all, inside, outside, none;
  OK(upload(this->ex, M, A));
  const auto mark = this->to_space(std::vector<unsigned char>{1, 3, 2, 2, 2, 0}),
             no_mark = this->to_space(std::vector<unsigned char>(6, 0));
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
TYPED_TEST(SelectionTest, RowsAreStackedInOrder)
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
