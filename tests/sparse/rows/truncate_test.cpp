#include "sparse/rows/truncate.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

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
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(truncated(this->ex, row({1, infinity, 2, 3}), {0, 2}).keep, (Marks{0, 1, 0, 1}));
}

// Hosts compare all entries of rows with up to 64 of them.
TYPED_TEST(Truncate, RowsOfAnyLength)
{
  for (const int n : {1, 2, 63, 64, 65, 200}) {
    std::vector<double> values;
    for (int k = 0; k < n; k++) values.push_back((k * 37 % 23 - 11) / 8.0); // many of the same size
    const HostCsr M = row(values);
    for (const Truncation rule : {Truncation{0, 0}, Truncation{0, 4}, Truncation{0.3, 0}, Truncation{0.3, 50}, Truncation{0, 64}})
      ASSERT_EQ(truncated(this->ex, M, rule).keep, sorted_out(M, rule)) << n;
  }
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

// Interpolation weights, of both signs too: sums stay, bit for bit where they are 1, and all fit in floats.
TYPED_TEST(Truncate, RoundedRowsKeepTheirSums)
{
  std::mt19937 generate(3);
  std::uniform_real_distribution<double> weight(-0.2, 1);
  std::map<std::pair<int, int>, double> entries;
  constexpr int n = 500, cols = 40;
  for (int i = 0; i < n; i++) {
    const int count = i % 7;
    const double scale = i % 5 == 4 ? std::ldexp(1.0, i % 60 - 30) : 1;
    double sum = 0;
    for (int k = 0; k < count; k++) sum += entries[{i, (i + 5 * k) % cols}] = weight(generate);
    for (int k = 0; k < count; k++) entries[{i, (i + 5 * k) % cols}] *= scale / sum;
  }
  const HostCsr M = make_csr(n, cols, entries);
  Csr<double, TypeParam> P, none;
  HostCsr rounded;
  none.rows = n;
  OK(upload(this->ex, M, P));
  OK(round_rows(this->ex, {P.view(), none.view(), 0, P.val.data(), nullptr}));
  OK(download(this->ex, P, rounded));
  for (int i = 0; i < n; i++) {
    double sum = 0, expected = 0, most = 0;
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
      EXPECT_EQ(rounded.val[k], static_cast<double>(static_cast<float>(rounded.val[k])));
      sum += rounded.val[k];
      expected += M.val[k];
      most = std::max(most, std::abs(M.val[k]));
    }
    const double q = std::ldexp(most, -22);
    EXPECT_NEAR(sum, expected, q) << i;
    if (i % 7 > 0 && i % 5 != 4) {
      EXPECT_EQ(sum, 1) << i;
    }
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) EXPECT_NEAR(rounded.val[k], M.val[k], 4 * q) << i;
  }
}
} // namespace amgkit::test
