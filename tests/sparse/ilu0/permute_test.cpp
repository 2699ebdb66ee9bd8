#include "sparse/ilu0/permute.hpp"

#include "sparse/formats/spmv.hpp"
#include "support/ilu_matrices.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace amgkit::test
{
template <class Ex> using Permute = SpaceTest<Ex>;
TYPED_TEST_SUITE(Permute, Spaces, SpaceName);

namespace
{
HostCsr permuted(const HostCsr &A, const std::vector<int> &place)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{place[i], place[A.col[k]]}] = A.val[k];
  }
  return make_csr(A.rows, A.cols, entries);
}
} // namespace

TYPED_TEST(Permute, IsTheMatrixInAnotherOrderAndItsNewValuesToo)
{
  for (const auto &[name, M] : ilu_matrices()) {
    Csr<double, TypeParam> A, B;
    Array<int, TypeParam> from;
    HostCsr got;
    std::vector<int> shuffled(static_cast<std::size_t>(M.rows)), inverse(shuffled.size());
    std::iota(shuffled.begin(), shuffled.end(), 0);
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937{7});
    for (int i = 0; i < M.rows; i++) inverse[shuffled[i]] = i;
    const auto order = this->to_space(shuffled);
    auto place = this->to_space(std::vector<int>(shuffled.size()));
    OK(invert_permutation(this->ex, M.rows, order.data(), place.data()));
    ASSERT_EQ(this->to_host(place), inverse) << name;
    OK(upload(this->ex, M, A));
    OK(permute_symmetric(this->ex, A.view(), order.data(), place.data(), B, from));
    OK(download(this->ex, B, got));
    const HostCsr expected = permuted(M, inverse);
    EXPECT_EQ(got.ptr, expected.ptr) << name;
    EXPECT_EQ(got.col, expected.col) << name;
    EXPECT_EQ(got.val, expected.val) << name;
    OK(fill(this->ex, B.val.size(), 0, B.val.data()));
    OK(gather(this->ex, from.size(), from.data(), static_cast<const double *>(A.val.data()), B.val.data()));
    EXPECT_EQ(this->to_host(B.val), expected.val) << name;
  }
}

// A block whose columns have an order of their own, and whose rows may stay as they are.
TYPED_TEST(Permute, TakesRowsAndColumnsInDifferentOrders)
{
  const HostCsr M = make_csr(3, 4, {{{0, 0}, 1}, {{0, 3}, 2}, {{2, 1}, 3}, {{2, 2}, 4}, {{2, 3}, 5}});
  const auto place = this->to_space(std::vector<int>{2, 0, 3, 1}), order = this->to_space(std::vector<int>{2, 0, 1});
  for (const bool rows : {false, true}) {
    Csr<double, TypeParam> A, B;
    Array<int, TypeParam> from;
    HostCsr got;
    OK(upload(this->ex, M, A));
    OK(permute(this->ex, A.view(), rows ? order.data() : nullptr, place.data(), B, from));
    OK(download(this->ex, B, got));
    EXPECT_EQ(got.cols, 4);
    EXPECT_EQ(got.ptr, rows ? (std::vector<int>{0, 3, 5, 5}) : (std::vector<int>{0, 2, 2, 5}));
    EXPECT_EQ(got.val, rows ? (std::vector<double>{3, 5, 4, 2, 1}) : (std::vector<double>{2, 1, 3, 5, 4}));
    EXPECT_EQ(this->to_host(from), rows ? (std::vector<int>{2, 4, 3, 1, 0}) : (std::vector<int>{1, 0, 2, 4, 3}));
  }
  Csr<double, TypeParam> none;
  Array<int, TypeParam> from;
  OK(permute(this->ex, CsrView<double>{2, 0}, static_cast<const int *>(nullptr), static_cast<const int *>(nullptr), none, from));
  EXPECT_EQ(this->to_host(none.ptr), (std::vector<int>{0, 0, 0}));
}

TYPED_TEST(Permute, WhatIsNoPermutationIsAnError)
{
  for (const std::vector<int> &wrong : {std::vector<int>{0, 1, 1}, {0, 3, 1}, {-1, 0, 1}}) {
    const auto order = this->to_space(wrong);
    auto place = this->to_space(wrong);
    PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
    const PetscErrorCode code = invert_permutation(this->ex, 3, order.data(), place.data());
    PetscPopErrorHandler();
    EXPECT_EQ(static_cast<int>(code), static_cast<int>(PETSC_ERR_ARG_WRONG));
  }
}
} // namespace amgkit::test
