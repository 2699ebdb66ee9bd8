#include "sparse/rows/selection.hpp"

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
  Selection<TypeParam> all, inside, outside, none, beyond, last;
  OK(upload(this->ex, M, A));
  const auto mark = this->to_space(std::vector<unsigned char>{1, 3, 2, 2, 2, 0}),
             no_mark = this->to_space(std::vector<unsigned char>(6, 0));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {}, all));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {2, 4, true}, inside));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {2, 4, false}, outside));
  OK(select_entries(this->ex, A.view(), no_mark.data(), 7, {}, none));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {0, 6, false}, beyond));
  OK(select_entries(this->ex, A.view(), mark.data(), 2, {0, 5, false}, last));
  EXPECT_EQ(this->to_host(beyond.ptr), (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(beyond.size(), 0);
  EXPECT_EQ(this->to_host(last.ptr), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(this->to_host(last.at), (std::vector<int>{2}));
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
} // namespace amgkit::test
