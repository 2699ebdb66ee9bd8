#include "graph/two_stage.hpp"

#include "graph/second_strength.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_allocations.hpp"
#include "support/prolongator_entries.hpp"

namespace amgkit::test
{
template <class Ex> using TwoStage = SpaceTest<Ex>;
TYPED_TEST_SUITE(TwoStage, Spaces, SpaceName);

namespace
{
constexpr double theta = 0.25;
constexpr InterpolationKind kinds[] = {InterpolationKind::ext, InterpolationKind::ext_i, InterpolationKind::ext_e};

Flags both(const Flags &a, const Flags &b)
{
  Flags c(a.size());
  for (std::size_t i = 0; i < a.size(); i++) c[i] = a[i] && b[i];
  return c;
}
std::vector<int> numbers(const Flags &coarse)
{
  std::vector<int> number(coarse.size());
  for (std::size_t i = 0, next = 0; i < coarse.size(); i++) number[i] = coarse[i] ? static_cast<int>(next++) : -1;
  return number;
}
TwoStageRule rule_of(InterpolationKind kind, Truncation of_factors = {0, 0}, Truncation truncation = {0, 0}, bool keep = false)
{
  TwoStageRule rule;
  rule.interpolation.keep = keep;
  rule.interpolation.kind = kind;
  rule.interpolation.truncation = truncation;
  rule.of_factors = of_factors;
  return rule;
}

// Small matrices are cut into rows too.
const std::int64_t slice_bytes[] = {1, 4000, std::int64_t{0}};

// A matrix with one splitting or two
template <class Ex> struct Split {
  DistributedGraph<Ex> graph;
  CoarsePoints<Ex> first, second;

  PetscErrorCode create(Ex &ex, const HostCsr &A, PetscInt local_rows, const Flags &in_first, const Flags &in_second)
  {
    PetscFunctionBegin;
    PetscCall(graph.create(ex, A, local_rows));
    PetscCall(graph.mark_strong(ex, {theta, 1}));
    PetscCall(number(ex, in_first, first));
    PetscCall(number(ex, in_second, second));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt first_row() const { return graph.A.range.first(); }

private:
  PetscErrorCode number(Ex &ex, const Flags &coarse, CoarsePoints<Ex> &points)
  {
    Array<unsigned char, Ex> mine;
    const auto begin = coarse.begin() + first_row();
    PetscFunctionBegin;
    PetscCall(amgkit::upload(ex, Flags(begin, begin + graph.A.rows), mine));
    PetscCall(number_coarse_points(ex, graph.G, mine.data(), points));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Ex>
void interpolate(Ex &ex, const HostCsr &A, PetscInt local_rows, const Flags &first, const Flags &second, const TwoStageRule &rule,
                 Entries &P)
{
  Split<Ex> split;
  TwoStageInterpolation<Ex> interpolation;
  CoarseBlocks<Ex> prolongator;
  OK(split.create(ex, A, local_rows, first, second));
  OK(interpolation.create(ex, split.graph.A, split.graph.S, split.first, split.second, rule, prolongator));
  OK(entries_of(ex, prolongator, split.first_row(), P));
}

// Where (S_C: + 2 I) S_:C without its diagonal has so much, entry by entry; 1 there
Entries counted(const Textbook &textbook, const Flags &coarse, int least)
{
  const std::vector<int> number = numbers(coarse);
  const int n = static_cast<int>(coarse.size());
  Entries counts;
  for (int i = 0; i < n; i++) {
    for (int k = 0; coarse[i] && k < n; k++) {
      const int steps = k == i ? 2 : textbook.strong(i, k);
      for (int j = 0; steps > 0 && j < n; j++) {
        if (coarse[j] && j != i && textbook.strong(k, j)) counts[{number[i], number[j]}] += steps;
      }
    }
  }
  std::erase_if(counts, [=](const auto &entry) { return entry.second < least; });
  for (auto &entry : counts) entry.second = 1;
  return counts;
}
} // namespace

TYPED_TEST(TwoStage, GraphCountsPathsOfTwoSteps)
{
  std::vector<Named> all = gallery();
  int n_th = 0;
  all.push_back({"one-sided grid", one_sided(grid7(7, 5, 3))});
  for (const auto &[name, A] : all) {
    for (const unsigned one_in : {1, 2, 4}) {
      const Flags coarse = scattered(A.rows, one_in);
      const Textbook textbook(A, theta, 1, coarse);
      for (const PetscInt local_rows : layouts(A.rows)) {
        Split<TypeParam> split;
        OK(split.create(this->ex, A, local_rows, coarse, coarse));
        for (const auto &[kind, least] : {std::pair{SecondStrengthKind::a1, 1}, {SecondStrengthKind::a2, 2}}) {
          SecondStrength<TypeParam> S2;
          Entries got;
          const std::int64_t bytes = slice_bytes[n_th++ % 3];
          OK(second_strength(this->ex, split.graph.A, split.graph.S, split.first, {kind, {}, bytes}, S2));
          EXPECT_EQ(S2.edges.diag.rows, split.first.count);
          for (auto *block : {&S2.edges.diag, &S2.edges.offd}) {
            EXPECT_EQ(block->val.size(), 0);
            block->val = this->to_space(std::vector<double>(block->col.size(), 1));
          }
          OK(entries_of(this->ex, S2.edges, split.first.range[rank_of_world()], got));
          ASSERT_EQ(got, counted(textbook, coarse, least)) << name << " bytes " << bytes;
        }
      }
    }
  }
}

// PMIS on the graph: C points of both coarsenings have no edge of S2 between them, and distributions agree.
TYPED_TEST(TwoStage, SecondCoarseningIsOfTheGraph)
{
  const HostCsr A = grid7(9, 8, 5);
  const Flags coarse = scattered(A.rows, 2);
  const Entries edges = counted(Textbook(A, theta, 1, coarse), coarse, 2);
  const std::vector<int> number = numbers(coarse);
  Flags expected;
  for (const PetscInt local_rows : layouts(A.rows)) {
    Split<TypeParam> split;
    SecondStrength<TypeParam> S2;
    Array<unsigned char, TypeParam> among_coarse, second;
    OK(split.create(this->ex, A, local_rows, coarse, coarse));
    OK(second_strength(this->ex, split.graph.A, split.graph.S, split.first, {SecondStrengthKind::a2, {}}, S2));
    OK(pmis(this->ex, S2.graph(split.graph.A.comm), Isolated::coarse, among_coarse));
    OK(second.allocate(this->ex, split.graph.A.rows));
    OK(spread_coarse(this->ex, split.graph.A.rows, split.first.number.data(), among_coarse.data(), second.data()));
    Flags mine = this->to_host(second), all(A.rows, 0);
    std::copy(mine.begin(), mine.end(), all.begin() + split.first_row());
    MPI_Allreduce(MPI_IN_PLACE, all.data(), A.rows, MPI_UNSIGNED_CHAR, MPI_MAX, PETSC_COMM_WORLD);
    if (expected.empty()) expected = all;
    EXPECT_EQ(all, expected);
    Flags in_second;
    for (int i = 0; i < A.rows; i++) {
      EXPECT_TRUE(coarse[i] || !all[i]);
      if (coarse[i]) in_second.push_back(all[i]);
    }
    EXPECT_GT(std::count(in_second.begin(), in_second.end(), 1), 5);
    EXPECT_LT(std::count(in_second.begin(), in_second.end(), 1), static_cast<std::ptrdiff_t>(in_second.size()) / 2);
    for (const auto &entry : edges) EXPECT_FALSE(in_second[entry.first.first] && in_second[entry.first.second]);
  }
}

TYPED_TEST(TwoStage, IsTheProductOfTheTextbooks)
{
  for (const auto &[name, A] : gallery()) {
    if (name == "positive couplings") continue; // theta may be 0
    const Flags first = scattered(A.rows, 2), second = both(first, scattered(A.rows + 1, 3));
    const std::vector<int> number = numbers(first);
    for (const InterpolationKind kind : kinds) {
      const InterpolationKind partial = kind == InterpolationKind::ext_i ? InterpolationKind::ext : kind;
      const Entries P1 = Textbook(A, theta, 1, first).prolongator(kind), P2 = Textbook(A, theta, 1, second).prolongator(partial);
      Entries expected, got;
      std::map<int, std::vector<std::pair<int, double>>> row_of_coarse;
      for (const auto &[where, value] : P2) {
        if (first[where.first]) row_of_coarse[number[where.first]].push_back({where.second, value});
      }
      for (const auto &[where, value] : P1) {
        for (const auto &[j, p] : row_of_coarse[where.second]) expected[{where.first, j}] += value * p;
      }
      interpolate(this->ex, A, -1, first, second, rule_of(kind), got);
      expect_near(got, expected, name);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(TwoStage, IsTheSameInEverySpaceAndDistribution)
{
  Host host;
  int n_th = 0;
  for (const auto &[name, A] : gallery()) {
    const Flags first = scattered(A.rows, 2), second = both(first, scattered(A.rows + 1, 3));
    for (const InterpolationKind kind : kinds) {
      Entries expected, got;
      interpolate(host, A, -1, first, second, rule_of(kind, {0, 2}, {0, 4}), expected);
      for (const PetscInt local_rows : layouts(A.rows)) {
        TwoStageRule rule = rule_of(kind, {0, 2}, {0, 4});
        rule.interpolation.slice_bytes = slice_bytes[n_th++ % 3];
        interpolate(this->ex, A, local_rows, first, second, rule, got);
        ASSERT_EQ(got, expected) << name << " bytes " << rule.interpolation.slice_bytes;
      }
    }
  }
}

TYPED_TEST(TwoStage, UpdateIsCreateForNewValues)
{
  const HostCsr A = grid27(6);
  HostCsr changed = A;
  for (std::size_t k = 0; k < A.val.size(); k++) changed.val[k] *= 1 + 0.01 * static_cast<double>(k % 37);
  const Flags first = scattered(A.rows, 2), second = both(first, scattered(A.rows + 1, 3));
  for (const InterpolationKind kind : kinds) {
    Split<TypeParam> split, other;
    TwoStageInterpolation<TypeParam> interpolation, fresh;
    CoarseBlocks<TypeParam> P, fresh_P;
    Entries before, got, expected;
    OK(split.create(this->ex, A, -1, first, second));
    OK(other.create(this->ex, changed, -1, first, second));
    OK(interpolation.create(this->ex, split.graph.A, split.graph.S, split.first, split.second, rule_of(kind, {0, 0}, {0, 0}, true), P));
    OK(entries_of(this->ex, P, split.first_row(), before));
    OK(interpolation.update(this->ex, other.graph.A, P));
    OK(entries_of(this->ex, P, split.first_row(), got));
    OK(fresh.create(this->ex, other.graph.A, split.graph.S, split.first, split.second, rule_of(kind), fresh_P));
    OK(entries_of(this->ex, fresh_P, split.first_row(), expected));
    EXPECT_EQ(got, expected);
    EXPECT_NE(got, before);
    OK(interpolation.update(this->ex, split.graph.A, P));
    OK(entries_of(this->ex, P, split.first_row(), got));
    EXPECT_EQ(got, before);
  }
}

TYPED_TEST(TwoStage, DirectIsRefused)
{
  Split<TypeParam> split;
  TwoStageInterpolation<TypeParam> interpolation;
  CoarseBlocks<TypeParam> P;
  const HostCsr A = grid7(4, 4, 1);
  OK(split.create(this->ex, A, -1, scattered(16, 2), Flags(16, 0)));
  const auto create = [&] {
    return interpolation.create(this->ex, split.graph.A, split.graph.S, split.first, split.second, rule_of(InterpolationKind::direct), P);
  };
  EXPECT_EQ(static_cast<int>(quietly(create)), PETSC_ERR_SUP);
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(TwoStageFailure, EveryAllocationMayFailOnOneRank)
{
  const HostCsr A = grid7(6, 5, 2);
  const Flags first = scattered(A.rows, 2), second = both(first, scattered(A.rows + 1, 3));
  Debug ex;
  Split<Debug> split;
  OK(split.create(ex, A, -1, first, second));
  for (const bool keep : {false, true}) {
    TwoStageRule rule = rule_of(InterpolationKind::ext_i, {0, 0}, {0, 0}, keep);
    rule.interpolation.slice_bytes = 8000;
    FailingAllocations failing(true); // columns that are kept, see spgemm_columns.hpp
    for (bool more = true; more;) {
      TwoStageInterpolation<Debug> interpolation;
      SecondStrength<Debug> S2;
      CoarseBlocks<Debug> P;
      more = failing.run(ex, [&] {
        PetscFunctionBegin;
        PetscCall(second_strength(ex, split.graph.A, split.graph.S, split.first, {SecondStrengthKind::a2, {}, 8000}, S2));
        PetscCall(interpolation.create(ex, split.graph.A, split.graph.S, split.first, split.second, rule, P));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
    }
    EXPECT_GE(failing.failures(), 50);
    ex.fail_at = -1;
  }
}
} // namespace amgkit::test
