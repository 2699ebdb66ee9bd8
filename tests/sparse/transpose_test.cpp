#include "sparse/transpose.hpp"

#include "sparse/spmv.hpp"
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
} // namespace

TYPED_TEST(Transpose, IsTheTransposeAlsoOfRectangles)
{
  std::vector<Named> matrices = gallery();
  matrices.push_back({"wide", make_csr(2, 7, {{{0, 6}, 1}, {{1, 0}, 2}, {{1, 6}, 3}})});
  matrices.push_back({"tall", make_csr(7, 2, {{{3, 1}, 1}, {{6, 1}, 2}})});
  matrices.push_back({"no columns", make_csr(5, 0, {})});
  matrices.push_back({"no rows", make_csr(0, 5, {})});
  for (const auto &[name, M] : matrices) {
    Csr<double, TypeParam> A, At;
    Array<int, TypeParam> from;
    Array<double, TypeParam> again;
    HostCsr got;
    const HostCsr expected = transposed(M);
    OK(upload(this->ex, M, A));
    OK(transpose(this->ex, A.view(), At, &from));
    OK(download(this->ex, At, got));
    EXPECT_EQ(got.rows, expected.rows) << name;
    EXPECT_EQ(got.cols, expected.cols) << name;
    EXPECT_EQ(got.ptr, expected.ptr) << name;
    EXPECT_EQ(got.col, expected.col) << name;
    EXPECT_EQ(got.val, expected.val) << name;
    OK(again.allocate(this->ex, from.size()));
    OK(gather(this->ex, from.size(), from.data(), static_cast<const double *>(A.val.data()), again.data()));
    EXPECT_EQ(this->to_host(again), expected.val) << name;
  }
}
} // namespace amgkit::test
