#include "sparse/spgemm/sliced_blocks.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using RowSlicesTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(RowSlicesTest, Spaces, SpaceName);

namespace
{
// Marks 0, 1, 2, 3, 0, ... of the entries
std::vector<unsigned char> marks_of(const HostCsr &A)
{
  std::vector<unsigned char> mark(A.col.size());
  for (std::size_t k = 0; k < mark.size(); k++) mark[k] = k % 4;
  return mark;
}
std::vector<Named> matrices()
{
  std::vector<Named> all = gallery();
  all.push_back({"empty rows around", make_csr(9, 9, {{{3, 1}, 1}, {{3, 7}, 2}, {{5, 5}, 3}})});
  return all;
}
} // namespace

// Every row is in one slice, with its entries and their marks; the slices joined are the matrix. Blocks with entries and without.
TYPED_TEST(RowSlicesTest, AreTheMatrixInPieces)
{
  for (const auto &[name, A] : matrices()) {
    for (const HostCsr &B : {A, make_csr(A.rows, 5, {})}) {
      Csr<double, TypeParam> diag, offd;
      OK(upload(this->ex, A, diag));
      OK(upload(this->ex, B, offd));
      const auto mark = this->to_space(marks_of(A)), ghost_mark = this->to_space(marks_of(B));
      const MarkedRows all = {diag.view(), offd.view(), mark.data(), ghost_mark.data(), 100};
      for (const int slices : {1, 2, 3, A.rows + 2}) {
        std::vector<RowCut> cuts;
        std::vector<Csr<double, TypeParam>> parts;
        std::vector<unsigned char> marks, ghost_marks;
        OK(cut_rows(this->ex, all, slices, cuts));
        ASSERT_EQ(static_cast<int>(cuts.size()), slices + 1);
        EXPECT_EQ(cuts.front().row, 0);
        EXPECT_EQ(cuts.back().row, A.rows);
        int most = 0;
        for (int i = 0; i < A.rows; i++) most = std::max(most, A.ptr[i + 1] - A.ptr[i]);
        for (int s = 0; s < slices; s++) {
          Array<int, TypeParam> ptr, ghost_ptr;
          MarkedRows slice;
          HostCsr copy;
          ASSERT_LE(cuts[s].row, cuts[s + 1].row);
          EXPECT_LE(cuts[s + 1].diag - cuts[s].diag, static_cast<int>(A.col.size()) / slices + 1 + most);
          OK(slice_rows(this->ex, all, cuts[s], cuts[s + 1], ptr, ghost_ptr, slice));
          EXPECT_EQ(slice.first, 100 + cuts[s].row);
          EXPECT_EQ(slice.diag.rows, cuts[s + 1].row - cuts[s].row);
          EXPECT_EQ(slice.offd.rows, slice.diag.rows);
          EXPECT_EQ(slice.offd.nnz, B.ptr[cuts[s + 1].row] - B.ptr[cuts[s].row]);
          const auto here = this->to_host(slice.mark, slice.diag.nnz), there = this->to_host(slice.ghost_mark, slice.offd.nnz);
          marks.insert(marks.end(), here.begin(), here.end());
          ghost_marks.insert(ghost_marks.end(), there.begin(), there.end());
          copy.rows = slice.diag.rows;
          copy.cols = slice.diag.cols;
          copy.ptr = slice.diag.nnz > 0 ? this->to_host(slice.diag.ptr, copy.rows + 1) : std::vector<int>(copy.rows + 1, 0);
          copy.col = this->to_host(slice.diag.col, slice.diag.nnz);
          copy.val = this->to_host(slice.diag.val, slice.diag.nnz);
          parts.emplace_back();
          OK(upload(this->ex, copy, parts.back()));
        }
        EXPECT_EQ(marks, marks_of(A)) << name;
        EXPECT_EQ(ghost_marks, marks_of(B)) << name;
        Csr<double, TypeParam> whole;
        HostCsr got;
        OK(join_rows(this->ex, parts, whole));
        OK(download(this->ex, whole, got));
        EXPECT_EQ(got.rows, A.rows);
        EXPECT_EQ(got.cols, A.cols);
        EXPECT_EQ(got.ptr, A.ptr) << name;
        EXPECT_EQ(got.col, A.col) << name;
        EXPECT_EQ(got.val, A.val) << name;
      }
    }
  }
}

TYPED_TEST(RowSlicesTest, PatternsAreJoinedToo)
{
  std::vector<Csr<double, TypeParam>> parts(2);
  for (auto &part : parts) {
    OK(upload(this->ex, make_csr(2, 3, {{{0, 1}, 1}, {{1, 2}, 2}}), part));
    part.val = {};
  }
  Csr<double, TypeParam> whole;
  OK(join_rows(this->ex, parts, whole));
  EXPECT_EQ(this->to_host(whole.ptr), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(this->to_host(whole.col), (std::vector<int>{1, 2, 1, 2}));
  EXPECT_EQ(whole.val.size(), 0);
}

// Row 1 of B is of A's column 0.
TYPED_TEST(RowSlicesTest, TermsAreCounted)
{
  Csr<double, TypeParam> A, B, none;
  std::int64_t terms = 0;
  OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 1}, 1}}), A));
  OK(upload(this->ex, make_csr(4, 3, {{{0, 0}, 1}, {{1, 0}, 1}, {{1, 1}, 1}, {{1, 2}, 1}, {{2, 1}, 1}}), B));
  OK(upload(this->ex, make_csr(4, 3, {}), none));
  const auto mark = this->to_space(std::vector<unsigned char>{2, 3, 1});
  OK(count_terms(this->ex, A.view(), nullptr, 0, B.view(), 1, &terms));
  EXPECT_EQ(terms, 3 + 3 + 1 + 1);
  OK(count_terms(this->ex, A.view(), mark.data(), 2, B.view(), 1, &terms));
  EXPECT_EQ(terms, 2 + 3 + 1);
  OK(count_terms(this->ex, A.view(), mark.data(), 2, none.view(), 1, &terms));
  EXPECT_EQ(terms, 2);
}
} // namespace amgkit::test
