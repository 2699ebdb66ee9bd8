#include "graph/interpolation.hpp"

#include "base/hash.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_allocations.hpp"
#include "support/prolongator_entries.hpp"
#include "support/random_matrices.hpp"

#include <array>
#include <cmath>

namespace amgkit::test
{
template <class Ex> using InterpolationTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(InterpolationTest, Spaces, SpaceName);

namespace
{
constexpr double theta = 0.25;
constexpr InterpolationKind all_kinds[] = {InterpolationKind::direct, InterpolationKind::ext, InterpolationKind::ext_i,
                                           InterpolationKind::ext_e};
const char *name_of(InterpolationKind kind)
{
  switch (kind) {
  case InterpolationKind::direct:
    return "direct";
  case InterpolationKind::ext:
    return "ext";
  case InterpolationKind::ext_i:
    return "ext+i";
  case InterpolationKind::ext_e:
    return "ext+e";
  }
  return "";
}
InterpolationRule rule_of(InterpolationKind kind, Truncation truncation = {0, 0})
{
  InterpolationRule rule;
  rule.kind = kind;
  rule.truncation = truncation;
  return rule;
}
InterpolationRule kept(InterpolationRule rule)
{
  rule.keep = true;
  return rule;
}
InterpolationRule sliced(InterpolationRule rule, std::int64_t slice_bytes)
{
  rule.slice_bytes = slice_bytes;
  return rule;
}

// A matrix with its splitting, and P on it.
template <class Ex> struct Interpolated {
  DistributedGraph<Ex> graph;
  CoarsePoints<Ex> points;
  Interpolation<Ex> interpolation;
  CoarseBlocks<Ex> P;
  Array<int, Ex> unknown, ghost_unknown;

  // Matrix, strength and splitting
  PetscErrorCode split(Ex &ex, const HostCsr &A, PetscInt local_rows, const Flags &coarse, double max_row_sum = 1, int unknowns = 1)
  {
    Array<unsigned char, Ex> mine;
    PetscFunctionBegin;
    PetscCall(graph.create(ex, A, local_rows));
    const PetscInt first = graph.A.range.first();
    PetscCall(unknown.allocate(ex, graph.A.rows));
    PetscCall(unknowns_of_blocks(ex, graph.A.rows, first, unknowns, unknown.data()));
    PetscCall(unknowns_of_blocks(ex, graph.A.ghosts, unknowns, ghost_unknown));
    PetscCall(graph.mark_strong(ex, {theta, max_row_sum, unknown.data(), ghost_unknown.data()}));
    PetscCall(amgkit::upload(ex, Flags(coarse.begin() + first, coarse.begin() + first + graph.A.rows), mine));
    PetscCall(number_coarse_points(ex, graph.G, mine.data(), points));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode interpolate(Ex &ex, InterpolationRule rule)
  {
    PetscFunctionBegin;
    rule.unknown = unknown.data();
    rule.ghost_unknown = ghost_unknown.data();
    PetscCall(interpolation.create(ex, graph.A, graph.S, points, rule, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The values of another matrix with the pattern of this one
  void take_values(const Interpolated &other)
  {
    graph.A.diag = other.graph.A.diag;
    graph.A.offd.val = other.graph.A.offd.val;
  }
};

template <class Ex> PetscErrorCode entries_of(Ex &ex, const Interpolated<Ex> &from, Entries &all)
{
  EXPECT_EQ(from.P.diag.rows, from.graph.A.rows);
  EXPECT_EQ(from.P.diag.cols, from.points.count);
  EXPECT_EQ(from.P.first, from.points.range[rank_of_world()]);
  return test::entries_of(ex, from.P, from.graph.A.range.first(), all);
}

// P of a matrix in one distribution
template <class Ex>
void interpolate(Ex &ex, const HostCsr &A, PetscInt local_rows, const Flags &coarse, const InterpolationRule &rule, Entries &P,
                 double max_row_sum = 1, int unknowns = 1)
{
  Interpolated<Ex> problem;
  OK(problem.split(ex, A, local_rows, coarse, max_row_sum, unknowns));
  OK(problem.interpolate(ex, rule));
  OK(entries_of(ex, problem, P));
}

// Few C points: many F points have no C neighbour. A small max_row_sum: many rows are weak.
struct Case {
  Flags coarse;
  double max_row_sum = 1;
};
std::vector<Case> cases(int n)
{
  return {{scattered(n, 2)}, {scattered(n, 4)}, {scattered(n, 3), 0.4}, {scattered(n, 9)}, {Flags(n, 0)}, {Flags(n, 1)}};
}

// Random M-matrices and others, small enough for the textbook.
std::vector<Named> matrices()
{
  std::vector<Named> all = gallery();
  for (unsigned seed = 1; all.size() < 34; seed++) {
    RandomMatrix random = random_matrix(seed, 1);
    if (random.tame && random.A.rows <= 120) all.push_back({random.description, random.A});
  }
  all.push_back({"one-sided grid", one_sided(grid7(7, 5, 3))});
  return all;
}

} // namespace

TYPED_TEST(InterpolationTest, IsTheTextbooks)
{
  for (const auto &[name, A] : matrices()) {
    for (const auto &[coarse, max_row_sum] : cases(A.rows)) {
      const Textbook textbook(A, theta, max_row_sum, coarse);
      for (const InterpolationKind kind : all_kinds) {
        Entries got;
        interpolate(this->ex, A, -1, coarse, rule_of(kind), got, max_row_sum);
        expect_near(got, textbook.prolongator(kind), name + " " + name_of(kind));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// One of the distributions leaves all rows to one rank.
TYPED_TEST(InterpolationTest, IsTheSameInEverySpaceAndDistribution)
{
  Host host;
  std::vector<Named> all = gallery();
  all.push_back({"larger grid", grid27(9)});
  for (const auto &[name, A] : all) {
    for (const InterpolationKind kind : all_kinds) {
      for (const Truncation truncation : {Truncation{0, 0}, Truncation{0.1, 3}}) {
        Entries expected;
        interpolate(host, A, -1, scattered(A.rows, 3), rule_of(kind, truncation), expected);
        for (const PetscInt local_rows : layouts(A.rows)) {
          Entries got;
          interpolate(this->ex, A, local_rows, scattered(A.rows, 3), rule_of(kind, truncation), got);
          ASSERT_EQ(got, expected) << name << " " << name_of(kind);
        }
      }
    }
  }
}

TYPED_TEST(InterpolationTest, CoarsePointsAreInjected)
{
  const HostCsr A = grid27(5);
  const Flags coarse = scattered(A.rows, 3);
  for (const InterpolationKind kind : all_kinds) {
    Entries P;
    interpolate(this->ex, A, -1, coarse, rule_of(kind, {0.1, 2}), P);
    for (int i = 0, next = 0; i < A.rows; i++) {
      if (!coarse[i]) continue;
      const auto row = P.lower_bound({i, 0});
      ASSERT_EQ(*row, (Entries::value_type{{i, next++}, 1}));
      ASSERT_TRUE(std::next(row) == P.end() || std::next(row)->first.first > i);
    }
  }
}

// Where A's row sums to 0 a row of P sums to 1, also after truncation, if all that it passes through can pass on.
TYPED_TEST(InterpolationTest, ConstantsAreInterpolated)
{
  for (auto [name, A] : gallery()) {
    for (int i = 0; i < A.rows; i++) {
      double sum = 0;
      int diagonal = -1;
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        if (A.col[k] == i)
          diagonal = k;
        else
          sum += A.val[k];
      }
      A.val[diagonal] = -sum;
    }
    const Flags coarse = scattered(A.rows, 3);
    const Textbook textbook(A, theta, 1, coarse);
    bool all_depend = true;
    for (int i = 0; i < A.rows; i++) all_depend = all_depend && !textbook.depends_on_nothing(i);
    if (name == "positive couplings") continue; // theta may be 0
    for (const InterpolationKind kind : all_kinds) {
      if (kind == InterpolationKind::ext_e && !all_depend) continue;
      for (const Truncation truncation : {Truncation{0, 0}, Truncation{0, 2}}) {
        Entries P;
        std::map<int, double> sum;
        interpolate(this->ex, A, -1, coarse, rule_of(kind, truncation), P);
        for (const auto &[where, value] : P) sum[where.first] += value;
        for (const auto &[i, s] : sum) ASSERT_NEAR(s, 1, 1e-12) << name << " row " << i << " " << name_of(kind);
      }
    }
  }
}

// What truncation leaves of P without it.
TYPED_TEST(InterpolationTest, TruncationIsOfTheProduct)
{
  for (const HostCsr &A : {random_graph(300, 900, 1), grid7(9, 8, 3), one_sided(grid27(5))}) {
    const Flags coarse = scattered(A.rows, 3);
    for (const InterpolationKind kind : all_kinds) {
      for (const Truncation truncation : {Truncation{0, 4}, Truncation{0.3, 0}, Truncation{0.2, 2}}) {
        Entries whole, got, expected;
        interpolate(this->ex, A, -1, coarse, rule_of(kind), whole);
        interpolate(this->ex, A, -1, coarse, rule_of(kind, truncation), got);
        for (auto row = whole.begin(); row != whole.end();) {
          const auto end = whole.lower_bound({row->first.first + 1, 0});
          std::vector<std::pair<std::pair<int, int>, double>> order(row, end), kept;
          double all = 0, sum = 0;
          std::stable_sort(order.begin(), order.end(), [](auto &a, auto &b) { return std::abs(a.second) > std::abs(b.second); });
          for (const auto &entry : order) {
            const bool stays = truncation.most == 0 || static_cast<int>(kept.size()) < truncation.most;
            if (stays && std::abs(entry.second) >= truncation.factor * std::abs(order[0].second)) kept.push_back(entry);
          }
          std::sort(kept.begin(), kept.end());
          for (; row != end; ++row) all += row->second;
          for (const auto &entry : kept) sum += entry.second;
          for (const auto &entry : kept) expected[entry.first] = entry.second * (sum != 0 ? all / sum : 1);
        }
        ASSERT_EQ(got, expected);
      }
    }
  }
}

// New values on the pattern: without truncation what a new object makes of them; with it its kept entries, rescaled.
TYPED_TEST(InterpolationTest, UpdateIsCreateForNewValues)
{
  for (const HostCsr &A : {random_graph(300, 900, 1, false), grid7(9, 8, 3), make_csr(0, 0, {})}) {
    HostCsr changed = A;
    for (std::size_t k = 0; k < A.val.size(); k++) changed.val[k] *= 1 + 0.5 * static_cast<double>(hash64(k) % 1000) / 1000;
    for (const InterpolationKind kind : all_kinds) {
      for (const PetscInt local_rows : layouts(A.rows)) {
        Interpolated<TypeParam> whole, truncated, fresh, other, original;
        Entries P, expected, of_truncated, before;
        for (Interpolated<TypeParam> *problem : {&whole, &truncated, &fresh}) {
          OK(problem->split(this->ex, A, local_rows, scattered(A.rows, 3)));
        }
        OK(whole.interpolate(this->ex, kept(rule_of(kind))));
        OK(truncated.interpolate(this->ex, kept(rule_of(kind, {0.1, 3}))));
        OK(entries_of(this->ex, truncated, before));
        OK(other.graph.create(this->ex, changed, local_rows));
        OK(original.graph.create(this->ex, A, local_rows));
        for (Interpolated<TypeParam> *problem : {&whole, &truncated, &fresh}) problem->take_values(other);
        OK(fresh.interpolate(this->ex, rule_of(kind)));
        OK(whole.interpolation.update(this->ex, whole.graph.A, whole.P));
        OK(truncated.interpolation.update(this->ex, truncated.graph.A, truncated.P));
        OK(entries_of(this->ex, fresh, expected));
        OK(entries_of(this->ex, whole, P));
        ASSERT_EQ(P, expected);
        OK(entries_of(this->ex, truncated, of_truncated));
        std::map<int, double> all, kept;
        for (const auto &[where, value] : P) all[where.first] += value;
        for (const auto &entry : before) kept[entry.first.first] += P[entry.first];
        for (const auto &entry : before) expected[entry.first] *= all[entry.first.first] / kept[entry.first.first];
        ASSERT_EQ(of_truncated.size(), before.size());
        for (const auto &[where, value] : of_truncated) ASSERT_NEAR(value, expected[where], 1e-13);
        truncated.take_values(original);
        OK(truncated.interpolation.update(this->ex, truncated.graph.A, truncated.P));
        OK(entries_of(this->ex, truncated, of_truncated));
        ASSERT_EQ(of_truncated, before);
      }
    }
  }
}

// The unknown approach: couplings between unknowns are as if they were not there.
TYPED_TEST(InterpolationTest, UnknownsAreInterpolatedApart)
{
  for (const auto &[name, scalar] : gallery()) {
    if (name == "positive couplings") continue; // theta may be 0
    Entries entries;
    for (int i = 0; i < scalar.rows; i++) {
      for (int k = scalar.ptr[i]; k < scalar.ptr[i + 1]; k++) {
        for (int c = 0; c < 4; c++) entries[{2 * i + c / 2, 2 * scalar.col[k] + c % 2}] = scalar.val[k] * (c == 1 ? -0.5 : 1 + 0.1 * c);
      }
    }
    const HostCsr A = make_csr(2 * scalar.rows, 2 * scalar.rows, entries);
    const Flags coarse = scattered(A.rows, 3);
    const Textbook textbook(A, theta, 1, coarse, 2);
    for (const InterpolationKind kind : all_kinds) {
      Entries got;
      interpolate(this->ex, A, -1, coarse, rule_of(kind), got, 1, 2);
      expect_near(got, textbook.prolongator(kind), name + " " + name_of(kind));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(InterpolationTest, ByOtherProducts)
{
  const HostCsr A = grid27(6);
  InterpolationRule rule = rule_of(InterpolationKind::ext_i);
  Entries expected;
  interpolate(this->ex, A, -1, scattered(A.rows, 3), rule, expected);
  for (const SpgemmKind kind : {SpgemmKind::cusparse, SpgemmKind::kokkos}) {
    if (!spgemm_available<TypeParam>(kind)) continue;
    Interpolated<TypeParam> problem;
    Entries got;
    rule.spgemm.kind = kind;
    OK(problem.split(this->ex, A, -1, scattered(A.rows, 3)));
    OK(problem.interpolate(this->ex, kept(rule)));
    OK(entries_of(this->ex, problem, got));
    expect_near(got, expected, "create");
    OK(problem.interpolation.update(this->ex, problem.graph.A, problem.P));
    OK(entries_of(this->ex, problem, got));
    expect_near(got, expected, "update");
  }
}

// Rows one by one, a few at once, or all; ranks may have different numbers of slices.
TYPED_TEST(InterpolationTest, IsTheSameInSlices)
{
  std::vector<Named> all = {{"grid", grid7(9, 8, 3)},
                            {"one-sided grid", one_sided(grid27(4))},
                            {"random", random_graph(90, 300, 1, false)},
                            {"isolated", make_csr(3, 3, {{{0, 0}, 1}, {{1, 1}, 2}, {{2, 2}, 3}})},
                            {"empty", make_csr(0, 0, {})}};
  for (const auto &[name, A] : all) {
    std::vector<int> wanted(A.rows);
    for (int i = 0; i < A.rows; i++) wanted[i] = i % 5 == 0 ? -1 : 0;
    for (const InterpolationKind kind : all_kinds) {
      for (const PetscInt local_rows : layouts(A.rows)) {
        Interpolated<TypeParam> problem;
        Entries expected, got;
        OK(problem.split(this->ex, A, local_rows, scattered(A.rows, 3)));
        const auto here = wanted.begin() + problem.graph.A.range.first();
        const auto mine = this->to_space(std::vector<int>(here, here + problem.graph.A.rows));
        InterpolationRule rule = rule_of(kind, {0.1, 3});
        rule.wanted = mine.data();
        OK(problem.interpolate(this->ex, kept(rule)));
        OK(entries_of(this->ex, problem, expected));
        for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{3000}, std::int64_t{20000}, std::int64_t{0}}) {
          Interpolation<TypeParam> interpolation;
          rule.slice_bytes = bytes;
          rule.unknown = problem.unknown.data();
          rule.ghost_unknown = problem.ghost_unknown.data();
          OK(interpolation.create(this->ex, problem.graph.A, problem.graph.S, problem.points, rule, problem.P));
          OK(entries_of(this->ex, problem, got));
          ASSERT_EQ(got, expected) << name << " " << name_of(kind) << " bytes " << bytes;
        }
      }
    }
  }
}

// A path of five points, -1 off the diagonal and 2 on it, C the first and the last. beta = -1, 0, -1 of the F points 1, 2, 3.
// ext: 2 has no C neighbour: row 1 is lumped to (2 - 1) x + (-1) c_0 = 0; row 2 takes half of each.
// ext+i: b_12 = 0 + a_21 = -1, theta_1 = 2 + a_21 w_12 = 1; w_12 A_2C = 0.
TYPED_TEST(InterpolationTest, ByHand)
{
  Entries entries, P;
  for (int i = 0; i < 5; i++) {
    entries[{i, i}] = 2;
    if (i > 0) entries[{i, i - 1}] = entries[{i - 1, i}] = -1;
  }
  const HostCsr A = make_csr(5, 5, entries);
  const Flags coarse = {1, 0, 0, 0, 1};
  interpolate(this->ex, A, -1, coarse, rule_of(InterpolationKind::direct), P);
  EXPECT_EQ(P, (Entries{{{0, 0}, 1}, {{1, 0}, 1}, {{3, 1}, 1}, {{4, 1}, 1}}));
  interpolate(this->ex, A, -1, coarse, rule_of(InterpolationKind::ext), P);
  EXPECT_EQ(P, (Entries{{{0, 0}, 1}, {{1, 0}, 1}, {{2, 0}, 0.5}, {{2, 1}, 0.5}, {{3, 1}, 1}, {{4, 1}, 1}}));
  interpolate(this->ex, A, -1, coarse, rule_of(InterpolationKind::ext_i), P);
  EXPECT_EQ(P, (Entries{{{0, 0}, 1}, {{1, 0}, 1}, {{2, 0}, 0.5}, {{2, 1}, 0.5}, {{3, 1}, 1}, {{4, 1}, 1}}));
  // mu = -1 everywhere; lambda_2 = -1, tau_1 = -1; lambda_1 = -2, tau_2 = -1
  interpolate(this->ex, A, -1, coarse, rule_of(InterpolationKind::ext_e), P);
  EXPECT_EQ(P, (Entries{{{0, 0}, 1}, {{1, 0}, 1}, {{2, 0}, 0.5}, {{2, 1}, 0.5}, {{3, 1}, 1}, {{4, 1}, 1}}));
}

TEST(InterpolationFailure, UpdateAllocatesNothing)
{
  const HostCsr A = grid7(6, 5, 2);
  Debug ex;
  for (const InterpolationKind kind : all_kinds) {
    Interpolated<Debug> problem;
    OK(problem.split(ex, A, -1, scattered(A.rows, 3)));
    OK(problem.interpolate(ex, kept(rule_of(kind, {0, 2}))));
    const std::int64_t before = ex.allocations;
    OK(problem.interpolation.update(ex, problem.graph.A, problem.P));
    EXPECT_EQ(ex.allocations, before);
  }
}

TEST(InterpolationFailure, WhatIsNotKeptHasNoUpdate)
{
  Debug ex;
  Interpolated<Debug> problem;
  OK(problem.split(ex, grid7(4, 4, 1), -1, scattered(16, 2)));
  OK(problem.interpolate(ex, rule_of(InterpolationKind::ext)));
  const auto update = [&] { return problem.interpolation.update(ex, problem.graph.A, problem.P); };
  EXPECT_EQ(static_cast<int>(quietly(update)), PETSC_ERR_ARG_WRONGSTATE);
}

#if defined(PETSC_USE_LOG)
// 8 slices or so, besides the factor, of which ranks hold a second copy with the rows of others.
TEST(InterpolationMemory, IsBoundedBySlices)
{
  const HostCsr A = grid7(24, 24, 24);
  Host ex;
  std::array<PetscLogDouble, 2> most{};
  PetscBool counting = PETSC_FALSE;
  Interpolated<Host> problem;
  OK(PetscMallocGetDebug(&counting, nullptr, nullptr));
  if (!counting) GTEST_SKIP() << "memory is counted with -malloc_dump alone";
  PetscLogMemory = PETSC_TRUE; // for PetscMallocPushMaximumUsage()
  OK(problem.split(ex, A, -1, scattered(A.rows, 3)));
  for (const bool in_slices : {false, true}) {
    Interpolation<Host> interpolation;
    CoarseBlocks<Host> P;
    PetscLogDouble before;
    OK(PetscMallocGetCurrentUsage(&before));
    OK(PetscMallocPushMaximumUsage(0));
    const InterpolationRule rule = rule_of(InterpolationKind::ext_i, {0, 4});
    OK(interpolation.create(ex, problem.graph.A, problem.graph.S, problem.points, in_slices ? sliced(rule, 300000 / size_of_world()) : rule,
                            P));
    OK(PetscMallocPopMaximumUsage(0, &most[in_slices]));
    most[in_slices] -= before + static_cast<double>(P.bytes());
  }
  PetscLogMemory = PETSC_FALSE;
  EXPECT_GT(most[1], 0);
  EXPECT_LT(most[1], 0.7 * most[0]);
}
#endif

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(InterpolationFailure, EveryAllocationMayFailOnOneRank)
{
  const HostCsr A = grid7(6, 5, 2);
  Debug ex;
  for (const InterpolationKind kind : all_kinds) {
    for (const InterpolationRule &rule : {kept(rule_of(kind, {0, 2})), sliced(rule_of(kind, {0, 2}), 8000)}) {
      Interpolated<Debug> problem;
      OK(problem.split(ex, A, -1, scattered(A.rows, 3)));
      FailingAllocations failing(true); // columns that are kept, see spgemm_columns.hpp
      for (bool more = true; more;) {
        Interpolation<Debug> interpolation;
        CoarseBlocks<Debug> P;
        more = failing.run(ex, [&] { return interpolation.create(ex, problem.graph.A, problem.graph.S, problem.points, rule, P); });
      }
      EXPECT_GE(failing.failures(), 20);
      ex.fail_at = -1;
    }
  }
}
} // namespace amgkit::test
