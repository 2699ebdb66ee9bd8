#include "sparse/sliced_aggregation.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <algorithm>

namespace amgkit::test
{
template <class Ex> using SlicedAggregationTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(SlicedAggregationTest, Spaces, SpaceName);

namespace
{
// Row i is in aggregate id[i], -1: in none; numbered by their smallest rows.
template <class Ex> PetscErrorCode aggregation_of(Ex &ex, std::vector<int> id, Aggregation<Ex> &out)
{
  std::vector<std::vector<int>> aggregates;
  std::vector<int> number(id.size(), -1), ptr = {0}, member;

  PetscFunctionBegin;
  for (std::size_t i = 0; i < id.size(); i++) {
    if (id[i] < 0) continue;
    if (number[id[i]] < 0) {
      number[id[i]] = static_cast<int>(aggregates.size());
      aggregates.emplace_back();
    }
    aggregates[number[id[i]]].push_back(static_cast<int>(i));
    id[i] = number[id[i]];
  }
  for (auto &rows : aggregates) {
    std::reverse(rows.begin(), rows.end()); // the smallest row need not be the first
    member.insert(member.end(), rows.begin(), rows.end());
    ptr.push_back(static_cast<int>(member.size()));
  }
  out.fine = static_cast<int>(id.size());
  out.coarse = static_cast<int>(aggregates.size());
  PetscCall(upload(ex, id, out.id));
  PetscCall(upload(ex, ptr, out.ptr));
  PetscCall(upload(ex, member, out.member));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Both ways to Pᵀ (b - A x), to the last bit; r where it is needed and nowhere else.
template <class T, class V, class Ex>
void check_both_ways(SpaceTest<Ex> &, Ex &ex, const HostCsr &A, const std::vector<int> &id, const std::vector<int> &coupled, bool expected)
{
  const int n = A.rows;
  Csr<double, Ex> M;
  Sell<T, Ex> S;
  Aggregation<Ex> aggregation;
  SlicedAggregation<Ex> sliced;
  Array<int, Ex> rows;
  Array<V, Ex> x, b, p, r, apart, together;
  bool fits = false, pays = !expected;
  OK(upload(ex, A, M));
  OK(sell_create(ex, M.view(), S, &fits));
  ASSERT_TRUE(fits);
  OK(aggregation_of(ex, id, aggregation));
  OK(upload(ex, coupled, rows));
  OK(slice_aggregates(ex, aggregation, rows, sliced, &pays));
  ASSERT_EQ(pays, expected);
  if (!pays) {
    EXPECT_EQ(sliced.bytes(), 0U);
    return;
  }
  OK(upload(ex, rounded<V>(wave(n, 0.7)), x));
  OK(upload(ex, rounded<V>(wave(n, 0.3)), b));
  OK(upload(ex, rounded<V>(wave(n, 0.1)), p));
  OK(r.allocate(ex, n));
  OK(apart.allocate(ex, aggregation.coarse));
  OK(residual(ex, S.view(), b.data(), x.data(), r.data()));
  OK(restrict_sum(ex, aggregation, p.data(), r.data(), apart.data()));
  std::vector<V> all, needed, expected_sums, sums;
  OK(download(ex, r.data(), n, all));
  OK(upload(ex, std::vector<V>(n, 77), r));
  OK(upload(ex, std::vector<V>(aggregation.coarse, 77), together));
  OK(residual_restricted(ex, S.view(), aggregation, sliced, p.data(), b.data(), x.data(), r.data(), together.data()));
  OK(restrict_beyond(ex, aggregation, sliced, p.data(), r.data(), together.data()));
  OK(download(ex, apart.data(), aggregation.coarse, expected_sums));
  OK(download(ex, together.data(), aggregation.coarse, sums));
  EXPECT_EQ(sums, expected_sums);
  OK(download(ex, r.data(), n, needed));
  for (int i = 0; i < n; i++) {
    bool beyond = false;
    for (int j = 0; j < n && id[i] >= 0; j++) {
      const bool here = j / 64 == i / 64 && std::find(coupled.begin(), coupled.end(), j) == coupled.end();
      beyond = beyond || (id[j] == id[i] && !here);
    }
    EXPECT_EQ(needed[i], beyond ? all[i] : V{77}) << i;
  }
}
} // namespace

TYPED_TEST(SlicedAggregationTest, BothWaysGiveTheSameBits)
{
  const HostCsr A = grid7(10, 8, 7); // 560 rows: the last slice is short
  const int n = A.rows;
  std::vector<int> lines(n), far(n), mixed(n);
  for (int i = 0; i < n; i++) {
    lines[i] = i % 7 == 6 ? -1 : i / 3; // some reach into the next slice, some rows are in none
    far[i] = i % (n / 2);
    mixed[i] = i < 500 ? i / 4 : 125 + i % 13;
  }
  check_both_ways<double, double>(*this, this->ex, A, lines, {}, true);
  check_both_ways<float, double>(*this, this->ex, A, lines, {5, 6, 63, 559}, true);
  check_both_ways<float, float>(*this, this->ex, A, mixed, {0, 70, 71}, true);
  check_both_ways<float, float>(*this, this->ex, A, far, {}, false); // none
  std::vector<int> all(n);
  for (int i = 0; i < n; i++) all[i] = i;
  check_both_ways<float, float>(*this, this->ex, A, lines, all, false); // every row is coupled
}

TYPED_TEST(SlicedAggregationTest, NothingToAggregate)
{
  check_both_ways<float, float>(*this, this->ex, grid7(3, 1, 1), {-1, -1, -1}, {}, false);
  check_both_ways<float, float>(*this, this->ex, grid7(1, 1, 1), {0}, {}, true);
}
} // namespace amgkit::test
