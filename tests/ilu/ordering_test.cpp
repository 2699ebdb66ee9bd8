#include "ilu/ordering.hpp"

#include "sparse/ilu0/permute.hpp"
#include "sparse/ilu0/triangle.hpp"
#include "support/ilu_matrices.hpp"
#include "support/spaces.hpp"
#include "support/unstructured.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace amgkit::test
{
template <class Ex> using Ordering = SpaceTest<Ex>;
TYPED_TEST_SUITE(Ordering, Spaces, SpaceName);

namespace
{
constexpr auto kinds = {OrderingKind::natural, OrderingKind::rcm, OrderingKind::multicolor};

std::vector<int> numbers(int n)
{
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> inverse_of(const std::vector<int> &order)
{
  std::vector<int> place(order.size());
  for (std::size_t p = 0; p < order.size(); p++) place[order[p]] = static_cast<int>(p);
  return place;
}

HostCsr shuffled(const HostCsr &A)
{
  std::map<std::pair<int, int>, double> entries;
  std::vector<int> place = numbers(A.rows);
  std::shuffle(place.begin(), place.end(), std::mt19937{11});
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{place[i], place[A.col[k]]}] = A.val[k];
  }
  return make_csr(A.rows, A.cols, entries);
}

// A clique: each row has a colour of its own.
HostCsr full(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) entries[{i, j}] = i == j ? n : -1;
  }
  return make_csr(n, n, entries);
}

std::vector<Named> matrices()
{
  std::vector<Named> all = ilu_matrices();
  all.push_back({"full", full(150)});
  all.push_back({"shuffled grid", shuffled(grid7(9, 8, 7))});
  all.push_back({"triangles", delaunay_laplacian(500)});
  return all;
}

std::vector<int> two_parts(int n)
{
  std::vector<int> part(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i++) part[i] = i % 5 == 1 || i % 7 == 3;
  return part;
}

std::vector<std::set<int>> neighbours_of(const HostCsr &A)
{
  std::vector<std::set<int>> neighbours(static_cast<std::size_t>(A.rows));
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] == i) continue;
      neighbours[i].insert(A.col[k]);
      neighbours[A.col[k]].insert(i);
    }
  }
  return neighbours;
}

// The colouring of the header, read literally.
std::vector<int> first_fit(const HostCsr &A, const std::vector<int> &part)
{
  const auto neighbours = neighbours_of(A);
  std::vector<int> colour(neighbours.size(), -1);
  for (std::size_t i = 0; i < colour.size(); i++) {
    std::set<int> used;
    for (int j : neighbours[i]) {
      if (part[j] == part[i]) used.insert(colour[j]);
    }
    for (colour[i] = 0; used.count(colour[i]) > 0;) colour[i]++;
  }
  return colour;
}

int bandwidth(const HostCsr &A, const std::vector<int> &place)
{
  int most = 0;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) most = std::max(most, std::abs(place[i] - place[A.col[k]]));
  }
  return most;
}
} // namespace

TYPED_TEST(Ordering, IsAPermutationThatRespectsTheParts)
{
  for (const auto &[name, M] : matrices()) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, M, A));
    const auto part = two_parts(M.rows), none = std::vector<int>(part.size(), 0);
    const auto space_part = this->to_space(part);
    for (OrderingKind kind : kinds) {
      Array<int, TypeParam> order, parted;
      OK(order_block(this->ex, kind, A.view(), nullptr, order));
      OK(order_block(this->ex, kind, A.view(), space_part.data(), parted));
      auto all = this->to_host(order), by_parts = this->to_host(parted);
      ASSERT_TRUE(std::is_sorted(by_parts.begin(), by_parts.end(), [&](int i, int j) { return part[i] < part[j]; })) << name;
      if (kind != OrderingKind::multicolor) { // the order of all, within each part
        std::vector<int> expected = all;
        std::stable_partition(expected.begin(), expected.end(), [&](int i) { return part[i] == 0; });
        ASSERT_EQ(by_parts, expected) << name;
      }
      if (kind == OrderingKind::natural) {
        ASSERT_EQ(all, numbers(M.rows)) << name;
      }
      for (auto *one : {&all, &by_parts}) {
        std::sort(one->begin(), one->end());
        ASSERT_EQ(*one, numbers(M.rows)) << name;
      }
    }
  }
}

TYPED_TEST(Ordering, ColoursAreThoseOfFirstFit)
{
  for (const auto &[name, M] : matrices()) {
    Csr<double, TypeParam> A;
    OK(upload(this->ex, M, A));
    const auto neighbours = neighbours_of(M);
    for (bool parted : {false, true}) {
      const auto part = parted ? two_parts(M.rows) : std::vector<int>(static_cast<std::size_t>(M.rows), 0);
      const auto space_part = this->to_space(part);
      auto space_colour = this->to_space(part);
      int colours = -1;
      Array<int, TypeParam> order;
      OK(colour_rows(this->ex, A.view(), parted ? space_part.data() : nullptr, space_colour.data(), &colours));
      const auto colour = this->to_host(space_colour);
      ASSERT_EQ(colour, first_fit(M, part)) << name;
      ASSERT_EQ(colours, colour.empty() ? 0 : 1 + *std::max_element(colour.begin(), colour.end())) << name;
      for (int i = 0; i < M.rows; i++) {
        for (int j : neighbours[i]) ASSERT_TRUE(colour[i] != colour[j] || part[i] != part[j]) << name << ": " << i << ", " << j;
      }
      OK(order_block(this->ex, OrderingKind::multicolor, A.view(), parted ? space_part.data() : nullptr, order));
      std::vector<int> expected = numbers(M.rows);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](int i, int j) { return std::pair(part[i], colour[i]) < std::pair(part[j], colour[j]); });
      ASSERT_EQ(this->to_host(order), expected) << name;
    }
  }
}

// Of ILU(0) in this order both triangles have so many levels at most.
TYPED_TEST(Ordering, GridsHaveFewColoursAndTrianglesFewLevels)
{
  struct Case {
    std::string name;
    HostCsr A;
    int colours;
  };
  for (const auto &[name, M, most] :
       {Case{"7 points", grid7(12, 10, 9), 2}, Case{"27 points", grid27(10), 8}, Case{"7 points, shuffled", shuffled(grid7(12, 10, 9)), 6},
        Case{"one-sided", one_sided(grid27(8)), 8}, Case{"random", random_graph(2000, 6000, 3), 8}, Case{"full", full(150), 150}}) {
    Csr<double, TypeParam> A, B;
    Array<int, TypeParam> order, from;
    auto place = this->to_space(numbers(M.rows));
    int colours = 0;
    OK(upload(this->ex, M, A));
    OK(colour_rows(this->ex, A.view(), nullptr, place.data(), &colours));
    EXPECT_LE(colours, most) << name;
    OK(order_block(this->ex, OrderingKind::multicolor, A.view(), nullptr, order));
    OK(invert_permutation(this->ex, M.rows, order.data(), place.data()));
    OK(permute_symmetric(this->ex, A.view(), order.data(), place.data(), B, from));
    for (bool lower : {true, false}) {
      Triangle<TypeParam> T;
      OK(triangle_symbolic(this->ex, {lower, 0, M.rows}, B.view(), T));
      EXPECT_LE(T.levels, colours) << name;
    }
  }
}

TYPED_TEST(Ordering, CuthillMcKeeMakesBandsNarrow)
{
  struct Case {
    std::string name;
    HostCsr A;
    int most;
  };
  for (const auto &[name, M, most] :
       {Case{"shuffled grid", shuffled(grid7(12, 10, 9)), 110}, // a slice is 90
        Case{"shuffled chain", shuffled(tridiagonal(1000)), 2}, Case{"shuffled, one-sided", shuffled(one_sided(grid7(12, 10, 9))), 110}}) {
    Csr<double, TypeParam> A;
    Array<int, TypeParam> order;
    OK(upload(this->ex, M, A));
    OK(order_block(this->ex, OrderingKind::rcm, A.view(), nullptr, order));
    const int before = bandwidth(M, numbers(M.rows)), after = bandwidth(M, inverse_of(this->to_host(order)));
    EXPECT_LT(after, before) << name;
    EXPECT_LE(after, most) << name;
  }
}

TYPED_TEST(Ordering, WrongCallsAreErrors)
{
  Csr<double, TypeParam> A;
  Array<int, TypeParam> order;
  OK(upload(this->ex, make_csr(2, 3, {{{0, 0}, 1}, {{1, 1}, 1}}), A));
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  for (OrderingKind kind : kinds) {
    EXPECT_EQ(static_cast<int>(order_block(this->ex, kind, A.view(), nullptr, order)), static_cast<int>(PETSC_ERR_ARG_SIZ));
  }
  PetscPopErrorHandler();
}

TEST(OrderingMemory, FailedAllocationsAreReported)
{
  Debug ex;
  Csr<double, Debug> A;
  Array<int, Debug> part;
  OK(upload(ex, grid7(4, 3, 2), A));
  OK(upload(ex, two_parts(24), part));
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  for (OrderingKind kind : kinds) {
    int failures = 0;
    for (std::int64_t k = 0;; k++) {
      Array<int, Debug> order;
      ex.allocations = 0;
      ex.fail_at = k;
      const PetscErrorCode code = order_block(ex, kind, A.view(), part.data(), order);
      ex.fail_at = -1;
      if (!code) break;
      EXPECT_EQ(static_cast<int>(code), static_cast<int>(PETSC_ERR_MEM)) << "allocation " << k;
      failures++;
    }
    EXPECT_GE(failures, kind == OrderingKind::multicolor ? 6 : 2);
  }
  PetscPopErrorHandler();
}
} // namespace amgkit::test
