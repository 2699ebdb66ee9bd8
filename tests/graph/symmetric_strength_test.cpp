#include "graph/symmetric_strength.hpp"

#include "graph/mis.hpp"
#include "support/convection.hpp"
#include "support/failing_allocations.hpp"
#include "support/symmetric_marks.hpp"

#include <cmath>
#include <random>

namespace amgkit::test
{
template <class Ex> using SymmetricStrength = SpaceTest<Ex>;
TYPED_TEST_SUITE(SymmetricStrength, Spaces, SpaceName);

namespace
{
using Entries = std::map<std::pair<int, int>, double>;
constexpr StrengthKind kinds[] = {StrengthKind::relative, StrengthKind::symmetric};

// Without weak_coupling
template <class Ex>
PetscErrorCode marks_of(Ex &ex, const HostCsr &A, const SymmetricRule &rule, PetscInt local_rows, Marks &all,
                        const Exponents &exponents = {})
{
  PetscFunctionBegin;
  PetscCall(all_marks_of(ex, A, rule, local_rows, all, exponents));
  for (auto &mark : all) mark &= smoothing_couplings;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void marks_everywhere(Ex &ex, const HostCsr &A, const SymmetricRule &rule, Marks &out, const Exponents &exponents = {})
{
  for (const PetscInt local_rows : layouts(A.rows)) {
    Marks all;
    OK(marks_of(ex, A, rule, local_rows, all, exponents));
    if (out.empty()) out = all;
    ASSERT_EQ(all, out);
  }
}

// d_i of the header, without cancel_positive
std::vector<double> scales_of(const HostCsr &A, StrengthKind kind)
{
  std::vector<double> d(A.rows, 0);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if ((A.col[k] == i) == (kind == StrengthKind::symmetric)) d[i] = std::max(d[i], std::abs(A.val[k]));
    }
  }
  return d;
}

// Entries of any size and sign; where |a_ij| and |a_ji| differ, by much.
HostCsr random_entries(int n, int count, unsigned seed, bool symmetric)
{
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> vertex(0, n - 1);
  std::uniform_real_distribution<double> value(-1, 1);
  Entries entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 2 * value(random);
  for (int e = 0; e < count; e++) {
    const int i = vertex(random), j = vertex(random);
    if (i == j) continue;
    entries[{i, j}] = std::pow(value(random), 3);
    if (symmetric) entries[{j, i}] = -entries[{i, j}];
  }
  return make_csr(n, n, entries);
}

bool are_symmetric(const HostCsr &A, const Marks &marks)
{
  Entries mark;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) mark[{i, A.col[k]}] = marks[k];
  }
  return std::all_of(mark.begin(), mark.end(), [&](const auto &m) { return mark.at({m.first.second, m.first.first}) == m.second; });
}

bool is_symmetric(const HostCsr &A)
{
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.at(A.col[k], i) != A.val[k]) return false;
    }
  }
  return true;
}

// most, -most, 0 by turns
Exponents by_turns(int most)
{
  return [=](int i) { return i % 3 == 2 ? 0 : i % 3 == 1 ? -most : most; };
}

// Entry (i, j) times 2^(e_i + e_j), e = by_turns(most)
HostCsr scaled(const HostCsr &A, int most)
{
  const Exponents exponent = by_turns(most);
  HostCsr B = A;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) B.val[k] = std::ldexp(A.val[k], exponent(i) + exponent(A.col[k]));
  }
  return B;
}
} // namespace

// What is large beside the row's own scale is kept, in this row alone, if the other row is much stiffer. It is no edge.
TYPED_TEST(SymmetricStrength, SoftRowsKeepStiffOnes)
{
  const double theta = 0.5, soft = 1.0 / 6;
  int kept = 0, one_sided = 0;
  std::vector<Named> matrices = gallery();
  matrices.push_back({"scaled", scaled(random_entries(150, 1200, 31, true), 4)});
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      const std::vector<double> d = scales_of(A, kind);
      Marks marks, expected;
      marks_everywhere(this->ex, A, {kind, theta, theta}, expected);
      marks_everywhere(this->ex, A, {kind, theta, theta, false, 0, soft}, marks);
      for (int i = 0; i < A.rows; i++) {
        for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
          const double a = std::abs(A.val[k]), mean = std::sqrt(d[i] * d[A.col[k]]);
          if (A.col[k] == i || expected[k] != 0 || a <= theta * d[i] || a > comparable * mean || d[i] >= soft * d[A.col[k]]) continue;
          expected[k] = kept_coupling;
          kept++;
          one_sided += a <= theta * d[A.col[k]];
        }
      }
      EXPECT_EQ(marks, expected) << name;
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(one_sided, 100);
}

// In long elements nothing is strong along them, also in rows beside a boundary, whose positive couplings are fewer.
TYPED_TEST(SymmetricStrength, LongElementsAreCoupledAcrossThem)
{
  constexpr int n = 6;
  for (const double length : {10.0, 1000.0}) {
    const HostCsr A = bricks(n, 1, length, 1, 1, 0);
    Marks marks;
    marks_everywhere(this->ex, A, {StrengthKind::relative, 0.25, 0.25, true}, marks);
    expect_strong_across(A, n, length, [&](int k) { return marks[k] == strong_coupling; });
  }
}

// Weak couplings above a second threshold have a mark of their own, and are no edges. On coarse levels, rows that cancel have none.
TYPED_TEST(SymmetricStrength, KeptCouplingsAreNoEdges)
{
  int kept = 0, lumped = 0;
  std::vector<Named> matrices = gallery();
  matrices.push_back({"symmetric", random_entries(150, 1200, 31, true)});
  for (const Named &of_elements : with_positive_couplings()) matrices.push_back(of_elements);
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      const bool cancel = is_symmetric(A);
      const Marks lasting = strong_entries(A, kind, 0.05);
      for (const bool coarse : {false, true}) {
        std::vector<double> sizes;
        Marks marks, expected = strong_entries(A, kind, 0.5, cancel, coarse, {}, &sizes);
        marks_everywhere(this->ex, A, {kind, 0.5, 0.05, cancel, 0, 0, coarse}, marks);
        for (int i = 0; i < A.rows; i++) {
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            if (!lasting[k] || expected[k]) continue;
            if (coarse && (sizes[i] > 0 || sizes[A.col[k]] > 0))
              lumped++;
            else
              expected[k] = kept_coupling, kept++;
          }
        }
        EXPECT_EQ(marks, expected) << name;
      }
      DistributedGraph<TypeParam> problem;
      Flags with, without;
      OK(problem.create(this->ex, A, -1));
      for (Flags *flags : {&with, &without}) {
        OK(symmetric_strength(this->ex, problem.A, {kind, 0.5, flags == &with ? 0.05 : 0.5, cancel}, nullptr, problem.S));
        OK(flags_of(
            this->ex, graph_of(problem.A, problem.S.diag.data(), problem.S.offd.data()),
            [&](const auto &G, auto &roots) { return mis(this->ex, G, 2, roots); }, *flags));
      }
      EXPECT_EQ(with, without) << name;
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(lumped, 100);
}

// Strong ones are kept where they are small beside the larger d.
TYPED_TEST(SymmetricStrength, CouplingsToMuchStifferNodesAreNoEdges)
{
  constexpr double theta = 0.1, least = 0.3;
  std::vector<Named> matrices = gallery();
  matrices.push_back({"symmetric", random_entries(150, 1200, 31, true)});
  matrices.push_back({"non-symmetric", random_entries(150, 1200, 32, false)});
  matrices.push_back({"entries of all sizes", scaled(random_entries(150, 1200, 33, true), 3)});
  int edges = 0, kept = 0;
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      for (const double kept_from : {0.02, theta}) {
        const std::vector<double> d = scales_of(A, kind);
        Marks marks, expected = strong_entries(A, kind, theta);
        const Marks lasting = strong_entries(A, kind, kept_from);
        for (int i = 0; i < A.rows; i++) {
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const bool small = std::abs(A.val[k]) <= least * std::max(d[i], d[A.col[k]]);
            if (expected[k] ? small : lasting[k] != 0) expected[k] = kept_coupling, kept++;
            if (expected[k] == strong_coupling) edges++;
          }
        }
        marks_everywhere(this->ex, A, {kind, theta, kept_from, false, least}, marks);
        ASSERT_EQ(marks, expected) << name;
      }
    }
  }
  EXPECT_GT(edges, 1000);
  EXPECT_GT(kept, 1000);
}

// All that theta = 0 would make strong
TYPED_TEST(SymmetricStrength, WeakCouplingsAreMarkedToo)
{
  std::vector<Named> matrices = gallery();
  matrices.push_back({"non-symmetric", random_entries(150, 1200, 32, false)});
  matrices.push_back({"rows of all sizes", make_csr(2, 2, {{{0, 0}, 2e30}, {{0, 1}, -1e30}, {{1, 0}, -1}, {{1, 1}, 2}})});
  int weak = 0, none = 0;
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      const Marks strong = strong_entries(A, kind, 0.3), any = strong_entries(A, kind, 0);
      for (const PetscInt local_rows : layouts(A.rows)) {
        Marks marks;
        OK(all_marks_of(this->ex, A, {kind, 0.3, 0.3}, local_rows, marks));
        for (std::size_t k = 0; k < marks.size(); k++) {
          ASSERT_EQ(marks[k], strong[k] ? strong_coupling : any[k] ? weak_coupling : 0) << name;
          (marks[k] == 0 ? none : weak) += marks[k] != strong_coupling;
        }
      }
    }
  }
  EXPECT_GT(weak, 1000);
  EXPECT_GT(none, 500);
}

TYPED_TEST(SymmetricStrength, IsTheFormula)
{
  std::vector<Named> matrices = gallery();
  matrices.push_back({"symmetric", random_entries(150, 1200, 31, true)});
  matrices.push_back({"non-symmetric", random_entries(150, 1200, 32, false)});
  matrices.push_back({"entries of all sizes", scaled(random_entries(150, 1200, 33, true), 480)});
  for (const Named &of_elements : with_positive_couplings()) matrices.push_back(of_elements);
  matrices.push_back({"rounded bricks", rounded(bricks(6, 1, 0.8, 0.1, 1, 0))});
  for (const int positive : {5, 10, 20}) matrices.push_back({"random signs", random_signs(80, 20, positive)});
  matrices.push_back({"convection", convection_diffusion(2, 14, 0.8, Wind::rotating)});
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      for (const double theta : {0.0, 0.08, 0.25, 0.5}) {
        for (const auto &[cancel, coarse] : {std::pair(false, false), {true, false}, {true, true}}) {
          if (cancel && size_of_world() > 1 && !is_symmetric(A)) continue; // of ghosts a_ji is not known
          Marks marks;
          marks_everywhere(this->ex, A, {kind, theta, theta, cancel, 0, 0, coarse}, marks);
          ASSERT_EQ(marks, strong_entries(A, kind, theta, cancel, coarse)) << name << ", theta " << theta << " " << cancel << coarse;
        }
      }
    }
  }
}

// With B, b_ij = a_ij (B_i B_j) decides what cancels, and nothing else.
TYPED_TEST(SymmetricStrength, WhatCancelsIsJudgedByTheBasis)
{
  int differ = 0;
  for (const Named &of_elements : with_positive_couplings()) {
    for (const StrengthKind kind : kinds) {
      for (const bool cancel : {false, true}) {
        const SymmetricRule rule = {kind, 0.1, 0.1, cancel, 0, 0, true};
        const Exponents exponents = by_turns(1);
        Marks marks, without;
        marks_everywhere(this->ex, of_elements.A, rule, marks, exponents);
        marks_everywhere(this->ex, of_elements.A, rule, without);
        EXPECT_EQ(marks, strong_entries(of_elements.A, kind, 0.1, cancel, true, exponents)) << of_elements.name;
        EXPECT_TRUE(cancel || marks == without) << of_elements.name;
        differ += marks != without;
      }
    }
  }
  EXPECT_GT(differ, 0);
}

namespace
{
// The marks of a matrix of nodes with the sizes of A's entries, and with 1/32 of A's entries as the couplings along vectors
template <class Ex> PetscErrorCode marks_by_couplings(Ex &ex, const HostCsr &A, const SymmetricRule &rule, PetscInt local_rows, Marks &all)
{
  HostCsr sizes = A, along = A;
  for (double &value : along.val) value /= 32;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) sizes.val[k] = A.col[k] == i ? std::abs(A.val[k]) : -std::abs(A.val[k]);
  }
  return all_marks_of(ex, sizes, rule, local_rows, all, {}, &along);
}
} // namespace

// Of nodes, the couplings along vectors have the signs. Where they also have the ratios, the marks are those of a scalar matrix.
TYPED_TEST(SymmetricStrength, WhatCancelsIsJudgedByCouplingsAlongVectors)
{
  int differ = 0;
  std::vector<Named> matrices = with_positive_couplings();
  for (const int positive : {5, 10, 20}) matrices.push_back({"random signs", random_signs(80, 20, positive)});
  for (const auto &[name, A] : matrices) {
    for (const StrengthKind kind : kinds) {
      for (const auto &[cancel, coarse] : {std::pair(false, false), {true, false}, {true, true}}) {
        const SymmetricRule rule = {kind, 0.1, 0.1, cancel, 0, 0, coarse};
        for (const PetscInt local_rows : layouts(A.rows)) {
          Marks marks, expected;
          OK(marks_by_couplings(this->ex, A, rule, local_rows, marks));
          OK(all_marks_of(this->ex, A, rule, local_rows, expected));
          EXPECT_EQ(marks, expected) << name << cancel << coarse;
          differ += cancel && marks != strong_entries(A, kind, 0.1);
        }
      }
    }
  }
  EXPECT_GT(differ, 0);
}

TYPED_TEST(SymmetricStrength, IsSymmetricWhereTheMatrixIs)
{
  const HostCsr A = random_entries(400, 4000, 41, true);
  const HostCsr flat = bricks(9, 1, 0.5, 0.2, 1, 0);
  ASSERT_TRUE(is_symmetric(flat));
  for (const auto &[B, cancel] : {std::pair(A, false), {scaled(A, 300), false}, {flat, true}}) {
    for (const StrengthKind kind : kinds) {
      for (const double theta : {0.0, 0.1, 0.3}) {
        Marks marks;
        marks_everywhere(this->ex, B, {kind, theta, theta, cancel}, marks);
        EXPECT_TRUE(are_symmetric(B, marks));
        const auto strong = std::count(marks.begin(), marks.end(), 1);
        EXPECT_GT(strong, 100);
        if (theta > 0) {
          EXPECT_LT(strong, static_cast<std::ptrdiff_t>(marks.size()) - 500);
        }
      }
    }
  }
}

// Whatever the size of the entries, whose mean is rounded; and neither all nor nothing where d_i d_j is no double.
TYPED_TEST(SymmetricStrength, TheThresholdItselfIsWeak)
{
  constexpr double theta = 0.25;
  const Marks without{0, 0, 1, 0, 0, 1, 1, 0, 1, 0}, with{0, 1, 1, 1, 0, 1, 1, 0, 1, 0};
  for (const double m : {1.0, 3.0, 0.1, 1.0 / 7, 1e-3 / 9, 7e150, 3e-170}) {
    for (const double ratio : {1.0, 4.0, 0.3}) {
      // rows 0 and 1 have the largest entries m and `ratio` m; their coupling is theta times the mean
      const double other = ratio * m, coupling = theta * std::sqrt(ratio) * m;
      const HostCsr A = make_csr(4, 4,
                                 {{{0, 0}, m},
                                  {{0, 1}, coupling},
                                  {{0, 2}, -m},
                                  {{1, 0}, coupling},
                                  {{1, 1}, other},
                                  {{1, 3}, other},
                                  {{2, 0}, -m},
                                  {{2, 2}, m},
                                  {{3, 1}, other},
                                  {{3, 3}, other}});
      for (const StrengthKind kind : kinds) {
        for (const double factor : {1.04, 1.0, 1 - 1e-11, 0.96}) {
          Marks marks;
          marks_everywhere(this->ex, A, {kind, factor * theta, factor * theta}, marks);
          EXPECT_EQ(marks, factor < 1 ? with : without) << m << ' ' << ratio << ' ' << factor;
        }
      }
    }
  }
}

// Where one row is far larger than the other, or one column; not where row and column are.
TYPED_TEST(SymmetricStrength, RowsOfDifferentSizesAreNotCoupled)
{
  for (const double size : {0x1p20, 0x1p30, 0x1p500}) {
    const bool comparable_rows = size < 1e8;
    const HostCsr rows = make_csr(2, 2, {{{0, 0}, 2 * size}, {{0, 1}, -size}, {{1, 0}, -1}, {{1, 1}, 2}}),
                  columns = make_csr(2, 2, {{{0, 0}, 2 * size}, {{0, 1}, -1}, {{1, 0}, -size}, {{1, 1}, 2}}),
                  both = make_csr(2, 2, {{{0, 0}, 2 * size}, {{0, 1}, -std::sqrt(size)}, {{1, 0}, -std::sqrt(size)}, {{1, 1}, 2}});
    Marks of_rows, of_columns, of_both;
    marks_everywhere(this->ex, rows, {StrengthKind::symmetric, 0, 0}, of_rows);
    marks_everywhere(this->ex, columns, {StrengthKind::symmetric, 0, 0}, of_columns);
    marks_everywhere(this->ex, both, {StrengthKind::symmetric, 0, 0}, of_both);
    EXPECT_EQ(of_rows, (Marks{0, comparable_rows, 1, 0}));
    EXPECT_EQ(of_columns, (Marks{0, 1, comparable_rows, 0}));
    EXPECT_EQ(of_both, (Marks{0, 1, 1, 0}));
  }
}

// theta = 0: all that is not 0, but the diagonal.
TYPED_TEST(SymmetricStrength, ZeroKeepsAll)
{
  const HostCsr A =
      make_csr(3, 3, {{{0, 0}, 4}, {{0, 1}, 1e-300}, {{0, 2}, 0}, {{1, 0}, 1e-297}, {{1, 1}, 1}, {{2, 2}, 1e300}, {{2, 1}, -5e-324}});
  for (const StrengthKind kind : kinds) {
    Marks marks;
    marks_everywhere(this->ex, A, {kind, 0, 0}, marks);
    EXPECT_EQ(marks, (Marks{0, 1, 0, 1, 0, 1, 0}));
  }
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(SymmetricStrengthFailure, EveryAllocationMayFailOnOneRank)
{
  Debug ex;
  DistributedGraph<Debug> problem;
  OK(problem.create(ex, grid7(6, 5, 2), -1));
  Array<double, Debug> B;
  OK(upload(ex, std::vector<double>(problem.A.rows, 1.5), B));
  FailingAllocations failing;
  for (bool more = true; more;) {
    Strength<Debug> S;
    more = failing.run(ex, [&] { return symmetric_strength(ex, problem.A, {StrengthKind::relative, 0.25, 0.25, true}, &B, S); });
  }
  EXPECT_GE(failing.failures(), size_of_world() > 1 ? 6 : 3);
}
} // namespace amgkit::test
