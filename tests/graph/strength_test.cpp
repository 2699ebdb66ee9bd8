#include "graph/strength.hpp"

#include "support/convection.hpp"
#include "support/gallery.hpp"
#include "support/positive_couplings.hpp"
#include "support/spaces.hpp"
#include "support/split_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace amgkit::test
{
template <class Ex> using StrengthTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(StrengthTest, Spaces, SpaceName);

namespace
{
using Marks = std::vector<int>; // one an entry

// The formula of the header, read literally; with cancel, of rows in so many parts.
Marks strong_entries(const HostCsr &A, double theta, double max_row_sum, int bs, bool cancel = false, int parts = 1, bool coarse = false)
{
  const auto part = [&](int i) { return (i * parts + parts - 1) / A.rows; };
  Marks marks(A.col.size(), 0);
  for (int i = 0; i < A.rows; i++) {
    const double sign = A.at(i, i) < 0 ? -1 : 1;
    double least = 0, sum = 0;
    OppositeCouplings couplings;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] % bs != i % bs) continue;
      if (A.col[k] != i) least = std::min(least, sign * A.val[k]);
      if (A.col[k] != i) couplings.take(sign, A.val[k], part(A.col[k]) == part(i) ? A.at(A.col[k], i) : A.val[k]);
      sum += A.val[k];
    }
    if (max_row_sum < 1 && std::abs(sum) > max_row_sum * std::abs(A.at(i, i))) continue;
    double weak = -theta * least;
    if (cancel && theta > 0)
      weak = std::max(weak, couplings.largest_cancelled(std::abs(A.at(i, i)), weak, coarse ? 20 : 10, coarse ? 20 : 4));
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) marks[k] = A.col[k] != i && A.col[k] % bs == i % bs && -sign * A.val[k] > weak;
  }
  return marks;
}

// The marks of A, its rows in so many parts; judged: whether rows must be comparable.
template <class Ex>
PetscErrorCode marks_of(Ex &ex, const HostCsr &A, double theta, double max_row_sum, int bs, int parts, Marks &marks, bool judged = false,
                        bool cancel = false, bool coarse = false)
{
  std::vector<double> a, ghost_a;
  PetscFunctionBegin;
  marks.assign(A.col.size(), -1);
  for (int p = 0; p < parts; p++) {
    const int first = A.rows * p / parts, last = A.rows * (p + 1) / parts;
    const SplitMatrix part(A, first, last, first, last);
    Csr<double, Ex> D, O;
    Array<int, Ex> unknown, ghost_unknown;
    Array<double, Ex> diagonal, ghost_diagonal;
    Strength<Ex> S;
    std::vector<unsigned char> own, other;
    StrengthRule rule = {theta, max_row_sum};
    PetscCall(upload(ex, part.diag, D));
    PetscCall(upload(ex, part.offd, O));
    PetscCall(unknown.allocate(ex, last - first));
    PetscCall(unknowns_of_blocks(ex, last - first, first, bs, unknown.data()));
    PetscCall(unknowns_of_blocks(ex, part.ghosts, bs, ghost_unknown));
    if (bs > 1) rule = {theta, max_row_sum, unknown.data(), ghost_unknown.data()};
    a.clear();
    ghost_a.clear();
    for (int i = first; i < last; i++) a.push_back(A.at(i, i));
    for (const PetscInt j : part.ghosts) ghost_a.push_back(A.at(static_cast<int>(j), static_cast<int>(j)));
    PetscCall(upload(ex, a, diagonal));
    PetscCall(upload(ex, ghost_a, ghost_diagonal));
    rule.cancel_positive = cancel;
    rule.coarse = coarse;
    if (judged) rule.diagonal = diagonal.data();
    if (judged) rule.ghost_diagonal = ghost_diagonal.data();
    PetscCall(classical_strength(ex, D.view(), O.view(), part.ghosts_before, rule, S));
    PetscCall(download(ex, S.diag.data(), S.diag.size(), own));
    PetscCall(download(ex, S.offd.data(), S.offd.size(), other));
    for (std::size_t k = 0; k < own.size(); k++) marks[part.own[k]] = own[k];
    for (std::size_t k = 0; k < other.size(); k++) marks[part.other[k]] = other[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One row that is judged, and identity rows below it, with its entries in the first column if it is to be symmetric.
HostCsr row(const std::vector<double> &entries, bool symmetric = false)
{
  std::map<std::pair<int, int>, double> A;
  for (int j = 0; j < static_cast<int>(entries.size()); j++) {
    A[{j, j}] = 1;
    A[{0, j}] = entries[j];
    if (symmetric) A[{j, 0}] = entries[j];
  }
  return make_csr(static_cast<int>(entries.size()), static_cast<int>(entries.size()), A);
}
} // namespace

// The first row's marks, the diagonal's first; in two parts some of its couplings are ghosts.
TYPED_TEST(StrengthTest, ByHand)
{
  struct Case {
    std::vector<double> row;
    double theta, max_row_sum;
    Marks expected;
  };
  const std::vector<Case> cases = {
      {{4, -1, -1, -1, -1}, 0.25, 1, {0, 1, 1, 1, 1}},
      {{4, -1, -0.25, -0.26, 0}, 0.25, 1, {0, 1, 0, 1, 0}},      // the threshold itself is weak
      {{-4, 1, 0.25, 0.26, -1}, 0.25, 1, {0, 1, 0, 1, 0}},       // mirrored
      {{4, -1, 2, -0.5, 0.5}, 0.25, 1, {0, 1, 0, 1, 0}},         // positive couplings are weak
      {{-4, 1, -2, 0.5, -0.5}, 0.25, 1, {0, 1, 0, 1, 0}},        //
      {{4, 1, 2, 0.1, 0}, 0.25, 1, {0, 0, 0, 0, 0}},             // nothing to be measured by
      {{4, 1, 2, 0.1, 0}, 0, 1, {0, 0, 0, 0, 0}},                //
      {{4, -1, -1e-9, 1, 0}, 0, 1, {0, 1, 1, 0, 0}},             // theta 0: every negative one
      {{4, -1, -1, -0.5, -1}, 1, 1, {0, 0, 0, 0, 0}},            // theta 1: none is below the least
      {{4, -0.5, -0.5, -0.5, -0.5}, 0.25, 0.5, {0, 1, 1, 1, 1}}, // the sum is max_row_sum a_ii
      {{4, -0.5, -0.5, -0.5, -0.25}, 0.25, 0.5, {0, 0, 0, 0, 0}},
      {{4, -0.5, -0.5, -0.5, -0.25}, 0.25, 1, {0, 1, 1, 1, 1}},
      {{-4, 0.5, 0.5, 0.5, 0.25}, 0.25, 0.5, {0, 0, 0, 0, 0}},
      {{1, -1, -1, -1, -1}, 0.25, 0.9, {0, 0, 0, 0, 0}}, // far from dominant: |-3| > 0.9
  };
  for (const Case &c : cases) {
    for (int parts : {1, 2}) {
      Marks marks;
      const HostCsr A = row(c.row);
      OK(marks_of(this->ex, A, c.theta, c.max_row_sum, 1, parts, marks));
      EXPECT_EQ(Marks(marks.begin(), marks.begin() + A.ptr[1]), c.expected) << ::testing::PrintToString(c.row);
    }
  }
}

// A row that is far larger than some of its columns' depends on the others alone.
TYPED_TEST(StrengthTest, RowsOfDifferentSizesAreNotCoupled)
{
  for (const double size : {1.0, 1e4, 1e6, 1e150}) {
    for (const double sign : {1.0, -1.0}) {
      HostCsr A = row({4, -1, -1, -0.1, -1});
      for (double &value : A.val) value *= sign;
      for (int k : {0, 1, 2, 3, 4, A.ptr[2], A.ptr[4]}) A.val[k] *= size; // rows 0, 2 and 4
      for (int parts : {1, 2, 5}) {
        for (bool judged : {true, false}) {
          const int to_small = !judged || size < 1e5;
          Marks marks;
          OK(marks_of(this->ex, A, 0.25, 1, 1, parts, marks, judged));
          EXPECT_EQ(Marks(marks.begin(), marks.begin() + 5), (Marks{0, to_small, 1, 0, 1})) << size << " " << parts;
        }
      }
    }
  }
}

// Unknowns 0 2 4 and 1 3: row 0 sees nothing of the others, neither as couplings nor in its sum.
TYPED_TEST(StrengthTest, CouplingsBetweenUnknownsDoNotCount)
{
  for (int parts : {1, 2, 5}) {
    Marks marks;
    const HostCsr A = row({4, -100, -1, -100, -2.5});
    OK(marks_of(this->ex, A, 0.25, 0.5, 2, parts, marks));
    EXPECT_EQ(Marks(marks.begin(), marks.begin() + 5), (Marks{0, 0, 1, 0, 1}));
  }
}

// In every space and for every distribution of the rows: the formula.
TYPED_TEST(StrengthTest, IsTheFormula)
{
  std::vector<Named> matrices = gallery();
  matrices.push_back({"convection", convection_diffusion(2, 14, 0.8, Wind::rotating)});
  for (const Named &of_elements : with_positive_couplings()) matrices.push_back(of_elements);
  matrices.push_back({"random signs", random_signs(80, 4, 20)});
  matrices.push_back({"random signs, more sizes", random_signs(80, 100, 25)});
  matrices.push_back({"few positive", random_signs(80, 20, 5)});
  matrices.push_back({"rounded bricks", rounded(bricks(6, 1, 0.8, 0.1, 1, 0))});
  for (auto &[name, A] : matrices) {
    for (double sign : {1.0, -1.0}) {
      for (double &value : A.val) value *= sign;
      for (double theta : {0.0, 0.25, 0.5}) {
        for (double max_row_sum : {1.0, 0.9, 0.1}) {
          for (int bs : {1, 3}) {
            for (const auto &[cancel, coarse] : {std::pair(false, false), {true, false}, {true, true}}) {
              for (int parts : {1, 3, 4}) {
                const Marks expected = strong_entries(A, theta, max_row_sum, bs, cancel, parts, coarse);
                Marks marks;
                OK(marks_of(this->ex, A, theta, max_row_sum, bs, parts, marks, false, cancel, coarse));
                ASSERT_EQ(marks, expected) << name << " theta " << theta << " max_row_sum " << max_row_sum << " bs " << bs << " " << cancel
                                           << coarse;
              }
            }
          }
        }
      }
    }
  }
}

// The couplings up and down are left, which are strong without the rule as well; bricks that are no flatter than 2 to 1 keep all that were.
TYPED_TEST(StrengthTest, PositiveCouplingsCancelThoseOfDiagonals)
{
  constexpr int n = 6, middle = 2 + n * (2 + n * 2);
  for (const double flat : {0.001, 0.01, 0.1, 0.5, 1.0}) {
    for (const HostCsr &A : {bricks(n, 1, 1, flat, 1, 0), rounded(bricks(n, 1, 1, flat, 1, 0))}) {
      Marks marks, before;
      OK(marks_of(this->ex, A, 0.15, 0.9, 1, 3, marks, false, true));
      OK(marks_of(this->ex, A, 0.15, 0.9, 1, 3, before));
      const auto count = [&](const Marks &of) { return std::accumulate(of.begin() + A.ptr[middle], of.begin() + A.ptr[middle + 1], 0); };
      EXPECT_EQ(count(marks), flat < 0.3 ? 2 : count(before)) << flat;
      EXPECT_GE(count(before), flat < 0.3 ? 10 : 8) << flat;
      for (const int j : {middle - n * n, middle + n * n}) {
        const auto at = std::find(A.col.begin() + A.ptr[middle], A.col.begin() + A.ptr[middle + 1], j) - A.col.begin();
        EXPECT_EQ(marks[at], flat < 1) << flat; // cubes have none to their faces
      }
    }
  }
}

// Of stretched squares beside a boundary at their short sides P = N / 5, of quadratic ones N / 9, and there are two sizes. With more sizes
// nothing is cancelled, nor where the small couplings have a sum of much more than P, nor where P is at most N / 10.
TYPED_TEST(StrengthTest, FewPositiveCouplingsCancelOneOfTwoSizes)
{
  struct Case {
    std::vector<double> couplings;
    Marks strong;
  };
  for (const auto &[couplings, strong] :
       {Case{{1.99, -4, -4, -1, -1}, {0, 1, 1, 0, 0}}, Case{{1, -4, -4, -1}, {0, 1, 1, 0}}, Case{{0.99, -4.5, -4.5, -0.99}, {0, 1, 1, 1}},
        Case{{1.99, -3.5, -2.9, -1.9, -1.7}, {0, 1, 1, 1, 1}},
        Case{{2.5, -4, -4, -0.9, -0.9, -0.9, -0.9, -0.9}, {0, 1, 1, 1, 1, 1, 1, 1}}}) {
    std::vector<double> whole = {-std::accumulate(couplings.begin(), couplings.end(), 0.0)};
    whole.insert(whole.end(), couplings.begin(), couplings.end());
    Marks marks;
    OK(marks_of(this->ex, row(whole, true), 0.15, 1, 1, 1, marks, false, true));
    EXPECT_EQ(Marks(marks.begin() + 1, marks.begin() + static_cast<int>(whole.size())), strong);
  }
}

// -3.3 comes before -10 and uses up P. But -10 is half of -20, as 13.3 is half of the diagonal entry. It is cancelled where it alone has a
// sum of at most P.
TYPED_TEST(StrengthTest, ShadowsAreCancelled)
{
  struct Case {
    std::vector<double> row;
    Marks strong;
  };
  for (const auto &[whole, strong] : {Case{{26.7, 13.3, -20, -10, -3.3, -3.3, -1.7, -1.7}, {0, 0, 1, 0, 0, 0, 0, 0}},
                                      Case{{29.4, 10.6, -20, -10, -3.3, -3.3, -1.7, -1.7}, {0, 0, 1, 1, 0, 0, 0, 0}},
                                      Case{{36.7, 13.3, -20, -10, -10, -3.3, -3.3, -1.7, -1.7}, {0, 0, 1, 1, 1, 0, 0, 0, 0}}}) {
    Marks marks;
    OK(marks_of(this->ex, row(whole, true), 0.15, 1, 1, 1, marks, false, true));
    EXPECT_EQ(Marks(marks.begin(), marks.begin() + static_cast<int>(whole.size())), strong);
  }
}

// Also in rows beside a boundary at the short sides of the elements, whose P is smaller.
TYPED_TEST(StrengthTest, LongElementsAreCoupledAcrossThem)
{
  constexpr int n = 6;
  for (const double length : {10.0, 1000.0}) {
    const HostCsr A = bricks(n, 1, length, 1, 1, 0);
    Marks marks;
    OK(marks_of(this->ex, A, 0.15, 1, 1, 3, marks, false, true));
    expect_strong_across(A, n, length, [&](int k) { return marks[k] != 0; });
  }
}

// P of a row is both: the sum of its positive couplings and that of the means with the opposite ones. If either is at most N / 4, -1.2 is
// only cancelled where all that is left is twice as large.
TYPED_TEST(StrengthTest, OppositeCouplingsMayAskForTwoSizes)
{
  struct Case {
    double positive, opposite;
    bool two_sizes;
  };
  for (const auto &[positive, opposite, two_sizes] : {Case{2, 2, true}, Case{2, 4, true}, Case{3, 1, true}, Case{3, 3, false}}) {
    HostCsr A = row({6.5, positive, -4, -2.2, -2.1, -1.2}, true);
    for (int k = A.ptr[1]; k < A.ptr[2]; k++) A.val[k] = A.col[k] == 0 ? opposite : A.val[k];
    Marks marks;
    OK(marks_of(this->ex, A, 0.15, 1, 1, 1, marks, false, true));
    EXPECT_EQ(Marks(marks.begin(), marks.begin() + 6), (Marks{0, 0, 1, 1, 1, two_sizes})) << positive << " " << opposite;
  }
}

// Nothing is cancelled by couplings that are positive for convection alone, and never the largest ones.
TYPED_TEST(StrengthTest, WhatIsNotCancelled)
{
  HostCsr downstream = bricks(6, 1, 1, 1, 0.1, 0);
  for (int i = 0; i < downstream.rows; i++) {
    for (int k = downstream.ptr[i]; k < downstream.ptr[i + 1]; k++)
      downstream.val[k] += 0.04 * (downstream.col[k] > i) - 0.04 * (downstream.col[k] < i);
  }
  const HostCsr flat = row({3.8, -7.7, -0.27, -0.08, -0.05, 4.3}, true), even = row({1, -1, -1, -1, 2}, true);
  for (const HostCsr &A : {downstream, even}) {
    Marks marks, before;
    OK(marks_of(this->ex, A, 0.15, 1, 1, 1, marks, false, true));
    OK(marks_of(this->ex, A, 0.15, 1, 1, 1, before));
    EXPECT_EQ(marks, before);
  }
  Marks marks;
  OK(marks_of(this->ex, flat, 0.01, 1, 1, 1, marks, false, true));
  EXPECT_EQ(Marks(marks.begin(), marks.begin() + 6), (Marks{0, 1, 0, 0, 0, 0}));
}

// A sum that its order decides: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1, in whatever parts the row comes.
TYPED_TEST(StrengthTest, SumsDoNotDependOnTheDistribution)
{
  for (const int at : {0, 1, 2, 3}) { // the row with all entries
    std::map<std::pair<int, int>, double> entries;
    const std::vector<double> values = {0.1, 0.2, 0.3, -0.5};
    double sum = 0;
    for (int j = 0; j < 4; j++) {
      entries[{j, j}] = 1;
      entries[{at, j}] = values[j];
      sum += values[j];
    }
    const HostCsr A = make_csr(4, 4, entries);
    for (const double max_row_sum : {std::abs(sum / values[at]), std::nextafter(std::abs(sum / values[at]), 0)}) {
      const Marks expected = strong_entries(A, 0.25, max_row_sum, 1);
      for (int parts : {1, 2, 3, 4}) {
        Marks marks;
        OK(marks_of(this->ex, A, 0.25, max_row_sum, 1, parts, marks));
        EXPECT_EQ(marks, expected);
      }
    }
  }
}
} // namespace amgkit::test
