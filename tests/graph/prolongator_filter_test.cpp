#include "graph/prolongator_filter.hpp"

#include "support/aggregated_problem.hpp"
#include "support/failing_allocations.hpp"

#include <set>

namespace amgkit::test
{
template <class Ex> using ProlongatorFilterTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(ProlongatorFilterTest, Spaces, SpaceName);

namespace
{
constexpr double threshold = 0.3;

// A prolongator with several blocks a node; the matrix is only there for its rows.
AggregatedProblem several_blocks(int nodes, int aggregates, int bs, int m, unsigned seed, bool even = false)
{
  const HostCsr P = random_blocks(nodes, aggregates, bs, m, 6, even, seed);
  return {{"random", make_csr(nodes * bs, nodes * bs, {}), P}, bs, m, make_csr(nodes, nodes, {}), random_near_null(aggregates, m, seed)};
}

std::vector<AggregatedProblem> problems()
{
  std::vector<AggregatedProblem> all;
  for (const int bs : {1, 2, 3}) {
    for (const int m : {1, 2, 3, 6}) all.push_back(several_blocks(60, 15, bs, m, static_cast<unsigned>(10 * bs + m), m == 2));
  }
  all.push_back(several_blocks(30, 12, 2, 9, 3));
  all.push_back(several_blocks(20, 10, 1, 32, 4));
  all.push_back(several_blocks(1, 1, 1, 1, 5));
  all.push_back(several_blocks(12, 0, 1, 2, 6));
  all.push_back(several_blocks(0, 0, 2, 3, 7));
  AggregatedProblem dense = several_blocks(20, 40, 2, 3, 8);
  Entries entries = entries_of(dense.matrices.P);
  std::mt19937 random(9);
  for (int j = 0; j < dense.matrices.P.cols; j++) entries[{6, j}] = random_value(random);
  dense.matrices.P = make_csr(40, 120, entries);
  dense.matrices.name = "dense row";
  all.push_back(dense);
  return all;
}

template <class Ex> struct Filtered {
  DistributedAggregates<Ex> problem; // T is what is filtered
  ProlongatorFilter<Ex> filter;
  CoarseBlocks<Ex> F;

  Filtered(const AggregatedProblem &from, Split rows, Split points) : problem(from, rows, points) {}
  PetscErrorCode create(Ex &ex, double t, double least_share = 0)
  {
    PetscFunctionBegin;
    PetscCall(problem.create(ex));
    PetscCall(filter.create(ex, PETSC_COMM_WORLD, problem.T, problem.B_c.data(), {t, problem.bs, problem.m, least_share}, F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Ex> void filter(Ex &ex, const AggregatedProblem &problem, Split rows, Split points, double t, Entries &F)
{
  Filtered<Ex> f(problem, rows, points);
  OK(f.create(ex, t));
  OK(f.problem.entries_of(ex, f.F, F));
}

// x with G x = r by elimination with the largest pivots, in long double; whether no pivot of Cholesky's is small: those are ratios of
// leading minors.
using Real = long double;
bool solve(std::vector<std::vector<Real>> G, std::vector<Real> &r)
{
  const std::size_t m = r.size();
  std::vector<std::vector<Real>> L = G;
  for (std::size_t k = 0; k < m; k++) {
    if (!(L[k][k] > 1e-10L * G[k][k])) return false;
    for (std::size_t i = k + 1; i < m; i++) {
      for (std::size_t j = k + 1; j < m; j++) L[i][j] -= L[i][k] * L[k][j] / L[k][k];
    }
  }
  for (std::size_t k = 0; k < m; k++) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < m; i++) best = std::abs(G[i][k]) > std::abs(G[best][k]) ? i : best;
    std::swap(G[k], G[best]);
    std::swap(r[k], r[best]);
    for (std::size_t i = 0; i < m; i++) {
      const Real factor = i == k ? 0 : G[i][k] / G[k][k];
      for (std::size_t j = k; j < m; j++) G[i][j] -= factor * G[k][j];
      r[i] -= factor * r[k];
    }
  }
  for (std::size_t k = 0; k < m; k++) r[k] /= G[k][k];
  return true;
}

// The definition, row by row; cases: how many rows were cut, and how many could not be.
struct Definition {
  Entries F;
  std::set<int> cut, uncut;

  Definition(const AggregatedProblem &problem, double t)
  {
    const int bs = problem.bs, m = problem.m;
    std::map<std::pair<int, int>, double> square;
    std::map<int, double> largest;
    for (const auto &[where, p] : entries_of(problem.matrices.P)) square[{where.first / bs, where.second / m}] += p * p;
    for (const auto &[where, s] : square) largest[where.first] = std::max(largest[where.first], s);
    std::map<int, Entries> rows;
    for (const auto &[where, p] : entries_of(problem.matrices.P)) rows[where.first][where] = p;
    for (const auto &[i, row] : rows) {
      Entries stays;
      for (const auto &[where, p] : row) {
        if (std::sqrt(square[{i / bs, where.second / m}]) >= t * std::sqrt(largest[i / bs])) stays[where] = p;
      }
      if (stays.size() == row.size())
        F.insert(row.begin(), row.end());
      else
        correct(problem, i, row, stays);
    }
  }

private:
  void correct(const AggregatedProblem &problem, int i, const Entries &row, Entries stays)
  {
    const auto m = static_cast<std::size_t>(problem.m);
    const auto b = [&](const Entries::value_type &e, std::size_t c) { return Real{problem.B_c[e.first.second * m + c]}; };
    std::vector<Real> r(m, 0);
    std::vector<std::vector<Real>> G(m, r);
    Real old = 0, size = 0, change = 0;
    for (const auto &e : row) {
      for (std::size_t c = 0; c < m && !stays.count(e.first); c++) r[c] += e.second * b(e, c);
      old += e.second * b(e, 0);
    }
    for (const auto &e : stays) {
      for (std::size_t c = 0; c < m * m; c++) G[c / m][c % m] += b(e, c / m) * b(e, c % m);
      size += Real{e.second} * e.second;
    }
    bool possible = true;
    if (m == 1) {
      const Real f = old - r[0] != 0 ? old / (old - r[0]) : 0;
      possible = f >= 0.1L && f <= 10;
      for (auto &e : stays) e.second *= static_cast<double>(f);
    } else {
      possible = solve(G, r);
      for (auto &e : stays) {
        Real x = 0;
        for (std::size_t c = 0; c < m; c++) x += r[c] * b(e, c);
        change += x * x;
        e.second += static_cast<double>(x);
      }
      possible = possible && change <= 100 * size;
    }
    F.insert(possible ? stays.begin() : row.begin(), possible ? stays.end() : row.end());
    (possible ? cut : uncut).insert(i);
  }
};
} // namespace

TYPED_TEST(ProlongatorFilterTest, IsTheDefinition)
{
  std::size_t cut = 0, uncut = 0;
  for (const AggregatedProblem &problem : problems()) {
    const Definition expected(problem, threshold);
    cut += expected.cut.size();
    uncut += expected.uncut.size();
    for_splits([&](Split rows, Split points) {
      Entries F;
      filter(this->ex, problem, rows, points, threshold, F);
      expect_same(F, expected.F, 1e-11, problem.name());
    });
    if (this->HasFatalFailure()) return;
  }
  EXPECT_GE(cut, 300);
  EXPECT_GE(uncut, 20);
}

// F B_c = P B_c; rows that are not cut are as they were.
TYPED_TEST(ProlongatorFilterTest, KeepsTheNearNullSpace)
{
  for (const AggregatedProblem &problem : problems()) {
    const Entries P = entries_of(problem.matrices.P);
    const Definition definition(problem, threshold);
    Entries F;
    filter(this->ex, problem, Split::even, Split::even, threshold, F);
    expect_same(times(F, problem.B_c, problem.m), times(P, problem.B_c, problem.m), 1e-12, problem.name());
    for (const auto &[where, p] : P) {
      if (definition.cut.count(where.first)) continue;
      ASSERT_EQ(F.at(where), p);
    }
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ProlongatorFilterTest, IsTheSameInEverySpaceAndDistribution)
{
  Host host;
  for (const AggregatedProblem &problem : problems()) {
    Entries expected;
    filter(host, problem, Split::last, Split::last, threshold, expected);
    for_splits([&](Split rows, Split points) {
      Entries F;
      filter(this->ex, problem, rows, points, threshold, F);
      ASSERT_EQ(F, expected) << problem.name();
    });
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ProlongatorFilterTest, ZeroKeepsAll)
{
  for (const AggregatedProblem &problem : problems()) {
    Entries F;
    filter(this->ex, problem, Split::even, Split::gap, 0, F);
    ASSERT_EQ(F, entries_of(problem.matrices.P)) << problem.name();
  }
}

// On all ranks alike, and F is made only then.
TYPED_TEST(ProlongatorFilterTest, PaysWhereTheLeastShareGoes)
{
  constexpr double t = 0.3;
  const AggregatedProblem problem = several_blocks(60, 20, 1, 1, 11);
  const auto all = static_cast<double>(entries_of(problem.matrices.P).size());
  Entries stays;
  filter(this->ex, problem, Split::even, Split::gap, t, stays);
  const double gone = 1 - static_cast<double>(stays.size()) / all;
  ASSERT_GT(gone, 0.05);
  ASSERT_LT(gone, 0.95);
  for (const double beyond : {-0.01, 0.01}) {
    Filtered<TypeParam> f(problem, Split::even, Split::gap);
    OK(f.create(this->ex, t, gone + beyond));
    EXPECT_EQ(f.filter.pays(), beyond < 0);
    EXPECT_EQ(f.F.diag.rows, beyond < 0 ? f.problem.T.diag.rows : 0);
  }
}

// A third of the entries is small. In every second row it stays, as f would be infinite there.
TYPED_TEST(ProlongatorFilterTest, PaysByWhatGoesInTheEnd)
{
  constexpr int rows = 40;
  Entries P;
  for (int i = 0; i < rows; i++) P.insert({{{i, 0}, 0.1}, {{i, 1}, 1}, {{i, 2}, i % 2 == 0 ? 1.0 : -1.0}});
  const AggregatedProblem problem{{"hand", make_csr(rows, rows, {}), make_csr(rows, 3, P)}, 1, 1, make_csr(rows, rows, {}), {2, 1, 1}};
  for (const double least_share : {0.15, 0.2, 0.3, 0.35}) {
    Filtered<TypeParam> f(problem, Split::even, Split::even);
    OK(f.create(this->ex, 0.2, least_share));
    EXPECT_EQ(f.filter.pays(), least_share < 1.0 / 6) << least_share;
    EXPECT_EQ(f.F.diag.rows, f.filter.pays() ? f.problem.T.diag.rows : 0);
  }
}

// New values that the definition treats as the old: what create() makes of them. Any values: the same entries, and P B_c again.
TYPED_TEST(ProlongatorFilterTest, ValuesAreThoseOfTheSameEntries)
{
  for (const AggregatedProblem &problem : problems()) {
    AggregatedProblem scaled = problem, other = problem;
    for (double &p : scaled.matrices.P.val) p *= -4;
    for (std::size_t k = 0; k < other.matrices.P.val.size(); k++)
      other.matrices.P.val[k] *= 1 - 3 * static_cast<double>(hash64(k) % 1000) / 1000;
    for (const Split split : {Split::even, Split::gap}) {
      Filtered<TypeParam> f(problem, split, Split::even);
      Entries before, got, expected;
      const auto take = [&](const AggregatedProblem &values) {
        f.problem.fine.whole_P = values.matrices.P;
        OK(f.problem.take_prolongator(this->ex));
        OK(f.filter.values(this->ex, f.problem.T, f.F));
        OK(f.problem.entries_of(this->ex, f.F, got));
      };
      OK(f.create(this->ex, threshold));
      OK(f.problem.entries_of(this->ex, f.F, before));
      take(scaled);
      filter(this->ex, scaled, split, Split::even, threshold, expected);
      ASSERT_EQ(got, expected) << problem.name();
      take(other);
      ASSERT_EQ(got.size(), before.size());
      ASSERT_TRUE(std::equal(got.begin(), got.end(), before.begin(), [](const auto &a, const auto &b) { return a.first == b.first; }));
      expect_same(times(got, problem.B_c, problem.m), times(entries_of(other.matrices.P), problem.B_c, problem.m), 1e-11, problem.name());
      take(problem);
      ASSERT_EQ(got, before);
    }
    if (this->HasFatalFailure()) return;
  }
}

// m = 1, b = 2, 1, 1. Row 0: 3 b_0 + 0.1 b_1 is kept by 3.05 b_0. Row 1 keeps nothing of its sum: 1 b_1 - 1 b_2 + 0.1 b_0.
// m = 2, B_c = I for both aggregates: the row takes what it loses in each component.
TYPED_TEST(ProlongatorFilterTest, ByHand)
{
  const auto hand = [](const Entries &P, int rows, int aggregates, int m, const std::vector<double> &B_c) {
    return AggregatedProblem{{"hand", make_csr(rows, rows, {}), make_csr(rows, aggregates * m, P)}, 1, m, make_csr(rows, rows, {}), B_c};
  };
  const Entries untouched = {{{1, 0}, 0.1}, {{1, 1}, 1}, {{1, 2}, -1}};
  Entries P = untouched, expected = untouched, F;
  P.insert({{{0, 0}, 3}, {{0, 1}, 0.1}});
  expected[{0, 0}] = 3.05;
  filter(this->ex, hand(P, 2, 3, 1, {2, 1, 1}), Split::even, Split::even, 0.2, F);
  expect_same(F, expected, 1e-15, "m = 1");
  const std::vector<double> identities = {1, 0, 0, 1, 1, 0, 0, 1};
  filter(this->ex, hand({{{0, 0}, 3}, {{0, 1}, 1}, {{0, 2}, 0.1}, {{0, 3}, 0.2}}, 1, 2, 2, identities), Split::even, Split::even, 0.2, F);
  expect_same(F, {{{0, 0}, 3.1}, {{0, 1}, 1.2}}, 1e-15, "m = 2");

  // f would be 21, and -19; the change 0.2 / 1e-3
  const Entries scaled = {{{0, 0}, 1}, {{0, 1}, -0.99}, {{0, 2}, 0.2}, {{1, 0}, 1}, {{1, 1}, -0.99}, {{1, 2}, -0.2}};
  filter(this->ex, hand(scaled, 2, 3, 1, {1, 1, 1}), Split::even, Split::even, 0.3, F);
  EXPECT_EQ(F, scaled);
  const Entries added = {{{0, 0}, 3}, {{0, 1}, 1}, {{0, 2}, 0}, {{0, 3}, 0.2}};
  filter(this->ex, hand(added, 1, 2, 2, {1, 0, 1, 1e-3, 1, 0, 0, 1}), Split::even, Split::even, 0.2, F);
  EXPECT_EQ(F, added);
}

TYPED_TEST(ProlongatorFilterTest, WrongBlocksAreRefused)
{
  const AggregatedProblem problem = several_blocks(12, 4, 2, 3, 1);
  for (const FilterRule &rule : {FilterRule{0.1, 0, 3}, FilterRule{0.1, 2, 0}, FilterRule{0.1, 2, 5}, FilterRule{0.1, 7, 3}}) {
    Filtered<TypeParam> f(problem, Split::last, Split::last);
    OK(f.problem.create(this->ex));
    const auto create = [&] { return f.filter.create(this->ex, PETSC_COMM_WORLD, f.problem.T, f.problem.B_c.data(), rule, f.F); };
    EXPECT_EQ(static_cast<int>(quietly(create)), rule.m == 0 ? PETSC_ERR_SUP : PETSC_ERR_ARG_SIZ);
  }
  Filtered<TypeParam> f(several_blocks(2, 1, 1, 33, 1), Split::even, Split::even);
  EXPECT_EQ(static_cast<int>(quietly([&] { return f.create(this->ex, threshold); })), PETSC_ERR_SUP);
}

TEST(ProlongatorFilterMemory, ValuesAllocateNothing)
{
  Debug ex;
  for (const AggregatedProblem &problem : problems()) {
    Filtered<Debug> f(problem, Split::even, Split::gap);
    OK(f.create(ex, threshold));
    const std::int64_t before = ex.allocations;
    OK(f.filter.values(ex, f.problem.T, f.F));
    EXPECT_EQ(ex.allocations, before);
  }
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(ProlongatorFilterMemory, EveryAllocationMayFailOnOneRank)
{
  Debug ex;
  DistributedAggregates<Debug> distributed(several_blocks(30, 10, 2, 3, 1), Split::even, Split::even);
  OK(distributed.create(ex));
  FailingAllocations failing;
  for (bool more = true; more;) {
    ProlongatorFilter<Debug> filter;
    CoarseBlocks<Debug> F;
    more = failing.run(ex, [&] {
      return filter.create(ex, PETSC_COMM_WORLD, distributed.T, distributed.B_c.data(), {threshold, 2, 3}, F);
    });
  }
  EXPECT_GE(failing.failures(), 15);
}
} // namespace amgkit::test
