#include "sparse/rows/transpose.hpp"

#include "sparse/formats/spmv.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> using Transpose = SpaceTest<Ex>;
TYPED_TEST_SUITE(Transpose, Spaces, SpaceName);

namespace
{
HostCsr transposed(const HostCsr &A)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{A.col[k], i}] = A.val[k];
  }
  return make_csr(A.cols, A.rows, entries);
}

// With values, and where they come from.
template <class Ex> void check_transpose(Ex &ex, const HostCsr &M, TransposeBlocks blocks, const std::string &name)
{
  Csr<double, Ex> A, At;
  Array<int, Ex> from;
  Array<double, Ex> again;
  HostCsr got;
  std::vector<double> values;
  const HostCsr expected = transposed(M);
  OK(upload(ex, M, A));
  OK(transpose(ex, A.view(), At, &from, blocks));
  OK(download(ex, At, got));
  EXPECT_EQ(got.rows, expected.rows) << name;
  EXPECT_EQ(got.cols, expected.cols) << name;
  EXPECT_EQ(got.ptr, expected.ptr) << name;
  EXPECT_EQ(got.col, expected.col) << name;
  EXPECT_EQ(got.val, expected.val) << name;
  OK(again.allocate(ex, from.size()));
  OK(gather(ex, from.size(), from.data(), static_cast<const double *>(A.val.data()), again.data()));
  OK(download(ex, static_cast<const double *>(again.data()), again.size(), values));
  EXPECT_EQ(values, expected.val) << name;
}

std::vector<Named> all_matrices()
{
  std::vector<Named> matrices = gallery();
  matrices.push_back({"wide", make_csr(2, 7, {{{0, 6}, 1}, {{1, 0}, 2}, {{1, 6}, 3}})});
  matrices.push_back({"tall", make_csr(7, 2, {{{3, 1}, 1}, {{6, 1}, 2}})});
  matrices.push_back({"no columns", make_csr(5, 0, {})});
  matrices.push_back({"no rows", make_csr(0, 5, {})});
  return matrices;
}
} // namespace

TYPED_TEST(Transpose, IsTheTransposeAlsoOfRectangles)
{
  for (const auto &[name, M] : all_matrices()) check_transpose(this->ex, M, {}, name);
}

// Where there are blocks, and where there are none, or a hole in one.
TYPED_TEST(Transpose, BlocksChangeNothing)
{
  for (const auto &[name, M] : all_matrices()) {
    for (const TransposeBlocks blocks : {TransposeBlocks{3, 6}, {2, 1}, {1, 4}, {3, 3}}) {
      HostCsr A = blown_up(M, blocks.rows, blocks.cols);
      check_transpose(this->ex, A, blocks, name + ", blocks");
      check_transpose(this->ex, M, blocks, name + ", no blocks");
      if (A.col.empty()) continue;
      A.col.pop_back();
      A.val.pop_back();
      for (int &end : A.ptr) end = std::min(end, static_cast<int>(A.col.size()));
      check_transpose(this->ex, A, blocks, name + ", a hole");
    }
  }
}

// More rows than entries, and fewer.
TYPED_TEST(Transpose, RowsBeginWhereTheirFirstEntryIs)
{
  for (const HostCsr &A : {grid7(4, 3, 2), make_csr(50, 9, {{{3, 0}, 1}, {{3, 8}, 1}, {{49, 2}, 1}}), make_csr(5, 5, {})}) {
    std::vector<std::uint32_t> row;
    for (int i = 0; i < A.rows; i++) row.insert(row.end(), A.ptr[i + 1] - A.ptr[i], i);
    auto ptr = this->to_space(std::vector<int>(A.rows + 1, -1));
    const auto rows = this->to_space(row);
    OK(begins_of_rows(this->ex, A.rows, rows.size(), rows.data(), ptr.data()));
    EXPECT_EQ(this->to_host(ptr), A.ptr);
  }
}
} // namespace amgkit::test
