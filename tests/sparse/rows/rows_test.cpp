#include "sparse/rows/rows.hpp"

#include "support/sparse_products.hpp"

#include <cmath>
#include <limits>

namespace amgkit::test
{
template <class Ex> using Rows = SpaceTest<Ex>;
TYPED_TEST_SUITE(Rows, Spaces, SpaceName);

TYPED_TEST(Rows, FaultsAreFoundWhereTheyAre)
{
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  struct Case {
    std::map<std::pair<int, int>, double> change;
    bool drop_diagonal;
    int row, faults;
  };
  const std::vector<Case> cases = {
      {{}, false, -1, 0},
      {{{{5, 5}, nan}}, false, 5, row_not_finite},
      {{{{7, 6}, inf}}, false, 7, row_not_finite},
      {{{{4, 4}, 0}}, false, 4, row_zero_diagonal},
      {{}, true, 3, row_without_diagonal},
      {{{{8, 8}, 0}, {{2, 1}, -inf}}, false, 2, row_not_finite},
  };
  for (const Case &c : cases) {
    std::map<std::pair<int, int>, double> entries;
    for (int i = 0; i < 10; i++) {
      if (!(c.drop_diagonal && i == 3)) entries[{i, i}] = 4;
      if (i > 0) entries[{i, i - 1}] = -1;
    }
    for (const auto &[where, value] : c.change) entries[where] = value;
    const HostCsr A = make_csr(10, 10, entries), none = make_csr(10, 0, {});
    Csr<double, TypeParam> M, O;
    OK(upload(this->ex, A, M));
    OK(upload(this->ex, none, O));
    RowCheck check;
    Array<double, TypeParam> a;
    OK(a.allocate(this->ex, 10));
    OK(check_rows(this->ex, M.view(), O.view(), a.data(), &check));
    EXPECT_EQ(check.first_fault, c.row);
    EXPECT_EQ(check.faults, c.faults);
    EXPECT_EQ(check.negative, 0);
    EXPECT_EQ(this->to_host(a)[1], 4);
    EXPECT_EQ(this->to_host(a)[3], c.drop_diagonal ? 0 : 4);
    if (c.row < 0) {
      EXPECT_NEAR(check.bounds.sum, 1.25, 1e-6);
    }
    OK(check_rows(this->ex, O.view(), M.view(), a.data(), &check)); // the same entries as couplings to other ranks: no diagonal anywhere
    EXPECT_EQ(check.first_fault, 0);
    EXPECT_EQ(check.bounds.sum, 0);
  }
}

TYPED_TEST(Rows, UnsortedColumnsAndNegativeDiagonals)
{
  HostCsr A = make_csr(3, 3, {{{0, 0}, 1}, {{1, 0}, 1}, {{1, 1}, -2}, {{2, 1}, 1}, {{2, 2}, -3}}), none = make_csr(3, 0, {});
  Csr<double, TypeParam> M, O;
  RowCheck check;
  Array<double, TypeParam> a;
  OK(a.allocate(this->ex, 3));
  OK(upload(this->ex, none, O));
  OK(upload(this->ex, A, M));
  OK(check_rows(this->ex, M.view(), O.view(), a.data(), &check));
  EXPECT_EQ(check.first_fault, -1);
  EXPECT_EQ(check.negative, 2);
  EXPECT_EQ(check.first_negative, 1);
  EXPECT_EQ(this->to_host(a), (std::vector<double>{1, -2, -3}));
  EXPECT_NEAR(check.bounds.sum, 1.5, 1e-6); // row 1: (1 + 2) / |-2|
  std::swap(A.col[3], A.col[4]);
  OK(upload(this->ex, A, M));
  OK(check_rows(this->ex, M.view(), O.view(), a.data(), &check));
  EXPECT_EQ(check.first_fault, 2);
  EXPECT_EQ(check.faults, row_not_sorted);
}

// Rows 1, 3 and 4: what is stored besides a_ii is 0
TYPED_TEST(Rows, RowsThatAreCoupledToNothing)
{
  const HostCsr A = make_csr(6, 6,
                             {{{0, 0}, 2},
                              {{0, 1}, -1},
                              {{1, 1}, 2},
                              {{2, 2}, 2},
                              {{3, 0}, 0},
                              {{3, 3}, 4},
                              {{3, 5}, 0},
                              {{4, 4}, 1},
                              {{5, 4}, -1},
                              {{5, 5}, 2}}),
                others = make_csr(6, 2, {{{2, 1}, -3}, {{4, 0}, 0}}), none = make_csr(6, 0, {}), nothing = make_csr(0, 0, {});
  Csr<double, TypeParam> M, O, none_here, empty;
  Array<int, TypeParam> rows;
  Array<double, TypeParam> d;
  OK(upload(this->ex, A, M));
  OK(upload(this->ex, others, O));
  OK(upload(this->ex, none, none_here));
  OK(upload(this->ex, nothing, empty));
  OK(lone_rows(this->ex, empty.view(), empty.view(), rows));
  EXPECT_EQ(rows.size(), 0);
  OK(lone_rows(this->ex, M.view(), none_here.view(), rows));
  EXPECT_EQ(this->to_host(rows), (std::vector<int>{1, 2, 3, 4}));
  OK(lone_rows(this->ex, M.view(), O.view(), rows));
  EXPECT_EQ(this->to_host(rows), (std::vector<int>{1, 3, 4}));
  OK(upload(this->ex, std::vector<double>{1, 2, 3, 4, 5, 6}, d));
  OK(scale_rows(this->ex, rows, 10, d.data()));
  EXPECT_EQ(this->to_host(d), (std::vector<double>{1, 20, 3, 40, 50, 6}));
}

// First in its row, last, between others, missing at either end and between, in an empty row, in a row beyond the columns.
TYPED_TEST(Rows, PositionsOfDiagonalEntries)
{
  const HostCsr A = from_rows(7, {{0, 3}, {0, 1}, {0, 2, 6}, {4}, {3}, {4, 6}, {}, {6}});
  Csr<double, TypeParam> M, none;
  Array<int, TypeParam> at;
  OK(upload(this->ex, A, M));
  OK(at.allocate(this->ex, A.rows));
  OK(diagonal_positions(this->ex, M.view(), at.data()));
  EXPECT_EQ(this->to_host(at), (std::vector<int>{0, 3, 5, -1, -1, -1, -1, -1}));
  OK(diagonal_positions(this->ex, none.view(), at.data()));
}

TYPED_TEST(Rows, DiagonalAndL1)
{
  const HostCsr A = make_csr(3, 3, {{{0, 0}, -2}, {{0, 2}, 1}, {{1, 0}, 4}}), B = make_csr(3, 2, {{{0, 1}, -5}, {{1, 0}, 1}});
  Csr<double, TypeParam> M, O;
  OK(upload(this->ex, A, M));
  OK(upload(this->ex, B, O));
  Array<double, TypeParam> a, d;
  Array<int, TypeParam> rows;
  OK(a.allocate(this->ex, 3));
  OK(d.allocate(this->ex, 3));
  OK(diagonal_and_l1(this->ex, M.view(), O.view(), a.data(), d.data()));
  EXPECT_EQ(this->to_host(a), (std::vector<double>{-2, 0, 0}));
  EXPECT_EQ(this->to_host(d), (std::vector<double>{-1.0 / 8, 1.0 / 5, 0})); // the last row is zero
  OK(nonempty_rows(this->ex, O.view(), rows));
  EXPECT_EQ(this->to_host(rows), (std::vector<int>{0, 1}));
}
} // namespace amgkit::test
