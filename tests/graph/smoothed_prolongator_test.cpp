#include "graph/smoothed_prolongator.hpp"

#include "support/aggregated_problem.hpp"
#include "support/failing_allocations.hpp"

namespace amgkit::test
{
template <class Ex> using SmoothedProlongatorTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(SmoothedProlongatorTest, Spaces, SpaceName);

namespace
{
constexpr double rho = 3.1;        // more than Gershgorin's bound of some rows
constexpr double small_rho = 2.1;  // at most 2.2: the bounds do not count
constexpr double large_rho = 1e12; // all rows have their bounds
struct Case {
  bool filtered;
  int steps;
};
constexpr Case cases[] = {{false, 0}, {false, 1}, {true, 1}, {true, 2}};
SmoothingRule rule_of(int steps)
{
  SmoothingRule rule;
  rule.steps = steps;
  return rule;
}

template <class Ex> struct Smoothed {
  DistributedAggregates<Ex> problem;
  SmoothedProlongator<Ex> smoothed;
  CoarseBlocks<Ex> P;

  Smoothed(const AggregatedProblem &from, Split rows, Split points) : problem(from, rows, points) {}
  // near_null: of all rows; empty: translations
  PetscErrorCode smooth(Ex &ex, bool filtered, const SmoothingRule &rule, const std::vector<double> &near_null = {}, double radius = rho)
  {
    const auto first = near_null.begin() + (near_null.empty() ? 0 : problem.fine.first_row() * problem.bs);
    Array<double, Ex> b;

    PetscFunctionBegin;
    if (!near_null.empty()) PetscCall(upload(ex, std::vector<double>(first, first + problem.fine.A.rows * problem.bs), b));
    const StrongNodes<Ex> strong = {&problem.nodes.A, filtered ? &problem.strong : nullptr, problem.bs, near_null.empty() ? nullptr : &b};
    PetscCall(smoothed.create(ex, problem.fine.A, strong, radius, rule, std::move(problem.T), P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Ex>
void smooth(Ex &ex, const AggregatedProblem &problem, Split rows, Split points, bool filtered, const SmoothingRule &rule, Entries &P,
            double radius = rho)
{
  Smoothed<Ex> s(problem, rows, points);
  OK(s.problem.create(ex));
  OK(s.smooth(ex, filtered, rule, {}, radius));
  OK(s.problem.entries_of(ex, s.P, P));
}

// The formulas, entry by entry; an entry is there if any term is. radius: 0 stands for S = I.
Entries by_formula(const AggregatedProblem &problem, bool filtered, int steps, double radius)
{
  const int bs = problem.bs;
  const Entries A = entries_of(problem.matrices.A);
  Entries A_f = A, S, P = entries_of(problem.matrices.P);
  for (const auto &[where, a] : A) {
    const auto [i, j] = where;
    if (!filtered || i / bs == j / bs || strongly_coupled(i / bs, j / bs)) continue;
    A_f.erase(where);
    if (A.count({i, i / bs * bs + j % bs})) A_f[{i, i / bs * bs + j % bs}] += a;
  }
  for (int i = 0; i < problem.matrices.A.rows; i++) S[{i, i}] = 1;
  std::map<int, double> bound; // Gershgorin's, of each row of D^-1 A_f
  for (const auto &[where, a] : A_f) bound[where.first] += std::abs(a);
  for (const auto &[where, a] : A_f) {
    const auto diagonal = A.find({where.first, where.first});
    if (diagonal == A.end()) continue;
    const double a_ii = diagonal->second, s = bound[where.first] / std::abs(a_ii),
                 g = radius > 2.2 ? std::min(radius, std::max(2.0, s)) : radius;
    S[where] -= a_ii != 0 && radius != 0 ? 4.0 / 3 / g * a / a_ii : 0;
  }
  for (; steps > 0; steps--) {
    Entries product;
    for (const auto &[where, s] : S) {
      for (auto p = P.lower_bound({where.second, 0}); p != P.end() && p->first.first == where.second; ++p)
        product[{where.first, p->first.second}] += s * p->second;
    }
    P = product;
  }
  return P;
}

// A problem whose every row sums to 0 for each component: A of blocks C_e for the edges e, T = B B_c^-1 on aggregates of three nodes.
AggregatedProblem translations(int bs)
{
  const HostCsr graph = random_graph(40, 80, 5);
  std::mt19937 random(6);
  Entries A, T;
  for (int I = 0; I < graph.rows; I++) {
    for (int k = graph.ptr[I]; k < graph.ptr[I + 1]; k++) {
      for (int e = 0; e < bs * bs && graph.col[k] != I; e++) {
        const double c = e / bs == e % bs ? -1 - std::abs(random_value(random)) : 0.1 * random_value(random);
        A[{I * bs + e / bs, graph.col[k] * bs + e % bs}] = c;
        A[{I * bs + e / bs, I * bs + e % bs}] -= c;
      }
    }
  }
  const int aggregates = (graph.rows + 2) / 3;
  std::vector<double> B_c(static_cast<std::size_t>(aggregates) * bs * bs, 0);
  for (int i = 0; i < graph.rows * bs; i++) T[{i, i / bs / 3 * bs + i % bs}] = 1 / std::sqrt(3.0);
  for (int I = 0; I < graph.rows; I++) { // whole runs of columns
    for (int e = 0; e < bs * bs; e++) T.insert({{I * bs + e / bs, I / 3 * bs + e % bs}, 0});
  }
  for (int j = 0; j < aggregates * bs; j++) B_c[static_cast<std::size_t>(j) * bs + j % bs] = std::sqrt(3.0);
  const HostCsr matrix = make_csr(graph.rows * bs, graph.rows * bs, A);
  return {{"translations", matrix, make_csr(graph.rows * bs, aggregates * bs, T)}, bs, bs, nodes_of(matrix, bs), B_c};
}

// B_I = d_I (1 + c_I e_0 e_(bs-1)^T)
struct NearNullBlock {
  double d, c;
  NearNullBlock(int I, int bs) : d((I % 4 == 3 ? -1 : 1) * std::pow(2, I % 7 - 3)), c(bs > 1 ? I % 5 - 2 : 0) {}
};
std::vector<double> near_null_of(const AggregatedProblem &problem)
{
  const int bs = problem.bs;
  std::vector<double> B;
  for (int i = 0; i < problem.matrices.A.rows; i++) {
    const NearNullBlock block(i / bs, bs);
    for (int k = 0; k < bs; k++) B.push_back(block.d * ((i % bs == k ? 1 : 0) + (i % bs == 0 && k == bs - 1 ? block.c : 0)));
  }
  return B;
}
// translations() with A_IJ B_J^-1 in place of A_IJ, and B_I T_I in place of T_I
AggregatedProblem turned(AggregatedProblem problem)
{
  const int bs = problem.bs;
  Entries A, T;
  for (const auto &[where, a] : entries_of(problem.matrices.A)) {
    const auto [i, j] = where;
    const NearNullBlock block(j / bs, bs);
    A[{i, j}] += a / block.d;
    if (j % bs == 0 && bs > 1) A[{i, j + bs - 1}] -= block.c * a / block.d;
  }
  for (const auto &[where, t] : entries_of(problem.matrices.P)) {
    const auto [i, j] = where;
    const NearNullBlock block(i / bs, bs);
    T[{i, j}] += block.d * t;
    if (i % bs == bs - 1 && bs > 1) T[{i - bs + 1, j}] += block.c * block.d * t;
  }
  problem.matrices.A = make_csr(problem.matrices.A.rows, problem.matrices.A.cols, A);
  problem.matrices.P = make_csr(problem.matrices.P.rows, problem.matrices.P.cols, T);
  return problem;
}
} // namespace

TYPED_TEST(SmoothedProlongatorTest, IsTheFormula)
{
  for (const AggregatedProblem &problem : aggregated_problems()) {
    for (const auto &[filtered, steps] : cases) {
      for (const double radius : {small_rho, rho, large_rho}) {
        const Entries expected = by_formula(problem, filtered, steps, radius);
        const std::string name =
            problem.name() + (filtered ? ", filtered " : " ") + std::to_string(steps) + ", rho " + std::to_string(radius);
        for_splits([&, f = filtered, rule = rule_of(steps)](Split rows, Split points) {
          Entries got;
          smooth(this->ex, problem, rows, points, f, rule, got, radius);
          expect_same(got, expected, 1e-13, name);
        });
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// One of the distributions leaves all to one rank.
TYPED_TEST(SmoothedProlongatorTest, IsTheSameInEverySpaceAndDistribution)
{
  Host host;
  for (const AggregatedProblem &problem : aggregated_problems()) {
    Entries expected;
    smooth(host, problem, Split::last, Split::last, true, rule_of(2), expected);
    for_splits([&](Split rows, Split points) {
      Entries got;
      smooth(this->ex, problem, rows, points, true, rule_of(2), got);
      ASSERT_EQ(got, expected) << problem.name();
    });
    if (this->HasFatalFailure()) return;
  }
}

// A B = 0 and B = T B_c: P B_c = B, whatever is weak.
TYPED_TEST(SmoothedProlongatorTest, TranslationsAreInterpolated)
{
  for (const int bs : {1, 2, 3, 9}) {
    const AggregatedProblem problem = translations(bs);
    for (const bool filtered : {false, true}) {
      for (const int steps : {1, 3}) {
        for (const double radius : {rho, large_rho}) {
          Entries P;
          smooth(this->ex, problem, Split::even, Split::even, filtered, rule_of(steps), P, radius);
          const Entries B = times(P, problem.B_c, bs);
          ASSERT_EQ(static_cast<int>(B.size()), problem.matrices.A.rows * bs);
          for (const auto &[where, value] : B) ASSERT_NEAR(value, where.first % bs == where.second ? 1 : 0, 1e-13) << "bs " << bs;
        }
      }
    }
  }
}

// A B = 0 and B = T B_c, where B_I is d_I (1 + c_I e_0 e_(bs-1)^T), d_I of both signs: P B_c = B, whatever is weak, and after an update.
// With translations in place of B it is not.
TYPED_TEST(SmoothedProlongatorTest, NearNullSpaceIsInterpolated)
{
  for (const int bs : {1, 3, 9}) {
    const AggregatedProblem problem = turned(translations(bs));
    const std::vector<double> B = near_null_of(problem);
    for_splits([&](Split rows, Split points) {
      for (const bool given : {true, false}) {
        Smoothed<TypeParam> s(problem, rows, points);
        double largest = 0;
        const auto look = [&] {
          Entries P;
          OK(s.problem.entries_of(this->ex, s.P, P));
          const Entries got = times(P, problem.B_c, bs);
          ASSERT_EQ(got.size(), B.size());
          for (const auto &[where, value] : got)
            largest = std::max(largest, std::abs(value - B[static_cast<std::size_t>(where.first) * bs + where.second]));
        };
        OK(s.problem.create(this->ex));
        OK(s.smooth(this->ex, true, rule_of(2), given ? B : std::vector<double>{}));
        look();
        OK(s.smoothed.update(this->ex, s.problem.fine.A, rho, s.P));
        look();
        if (given)
          EXPECT_LT(largest, 1e-11);
        else
          EXPECT_GT(largest, 0.1);
      }
    });
  }
}

TYPED_TEST(SmoothedProlongatorTest, UpdateIsCreateForNewValues)
{
  for (const AggregatedProblem &problem : aggregated_problems()) {
    AggregatedProblem changed = problem;
    for (std::size_t k = 0; k < changed.matrices.A.val.size(); k++)
      changed.matrices.A.val[k] *= 1 + 0.5 * static_cast<double>(hash64(k) % 1000) / 1000;
    for (const Case &c : cases) {
      for_splits([&](Split rows, Split points) {
        Smoothed<TypeParam> s(problem, rows, points), fresh(changed, rows, points);
        Entries before, got, expected;
        const auto update = [&](const AggregatedProblem &to, double new_rho) {
          s.problem.fine.whole_A = to.matrices.A;
          OK(s.problem.fine.set_matrix(this->ex));
          OK(s.smoothed.update(this->ex, s.problem.fine.A, new_rho, s.P));
          OK(s.problem.entries_of(this->ex, s.P, got));
        };
        OK(s.problem.create(this->ex));
        OK(s.smooth(this->ex, c.filtered, rule_of(c.steps)));
        OK(s.problem.entries_of(this->ex, s.P, before));
        OK(fresh.problem.create(this->ex));
        OK(fresh.smooth(this->ex, c.filtered, rule_of(c.steps)));
        OK(fresh.problem.entries_of(this->ex, fresh.P, expected));
        update(changed, rho);
        ASSERT_EQ(got, expected) << problem.name();
        update(problem, rho);
        ASSERT_EQ(got, before) << problem.name();
        for (const double radius : {small_rho, 2 * rho}) {
          update(problem, radius);
          expect_same(got, by_formula(problem, c.filtered, c.steps, radius), 1e-13, problem.name());
        }
        update(problem, 0);
        expect_same(got, by_formula(problem, c.filtered, c.steps, 0), 0, problem.name());
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(SmoothedProlongatorTest, ByOtherProducts)
{
  for (const AggregatedProblem &problem : aggregated_problems()) {
    for (const SpgemmKind kind : {SpgemmKind::cusparse, SpgemmKind::kokkos}) {
      if (!spgemm_available<TypeParam>(kind)) continue;
      const Entries expected = by_formula(problem, true, 2, rho);
      Smoothed<TypeParam> s(problem, Split::even, Split::even);
      Entries got;
      SmoothingRule rule = rule_of(2);
      rule.spgemm.kind = kind;
      OK(s.problem.create(this->ex));
      OK(s.smooth(this->ex, true, rule));
      OK(s.problem.entries_of(this->ex, s.P, got));
      expect_same(got, expected, 1e-13, problem.name());
      OK(s.smoothed.update(this->ex, s.problem.fine.A, rho, s.P));
      OK(s.problem.entries_of(this->ex, s.P, got));
      expect_same(got, expected, 1e-13, problem.name());
      if (this->HasFatalFailure()) return;
    }
  }
}

// A path of four points, 2 on the diagonal and -1 beside it, but c between the first two. Aggregates {0, 1} and {2, 3}, T = 1, omega = 1.
// With c = -1 the bounds are 1.5 and 2, and 2 takes the place of rho: S is 1 / 2 on the diagonal and 1 / 4 beside it. With c = -3 / 2, row
// 1 has 9 / 4: 5 / 9 on the diagonal, 1 / 3 and 2 / 9 beside it.
TYPED_TEST(SmoothedProlongatorTest, ByHand)
{
  struct Case {
    double c, p_00, p_10, p_11;
  };
  for (const Case &expected : {Case{-1, 3.0 / 4, 3.0 / 4, 1.0 / 4}, Case{-1.5, 7.0 / 8, 8.0 / 9, 2.0 / 9}}) {
    Entries A, T = {{{0, 0}, 1}, {{1, 0}, 1}, {{2, 1}, 1}, {{3, 1}, 1}}, P;
    for (int i = 0; i < 4; i++) {
      A[{i, i}] = 2;
      if (i > 0) A[{i, i - 1}] = A[{i - 1, i}] = i == 1 ? expected.c : -1;
    }
    const HostCsr matrix = make_csr(4, 4, A);
    const AggregatedProblem problem = {{"path", matrix, make_csr(4, 2, T)}, 1, 1, matrix, {1, 1}};
    SmoothingRule rule;
    rule.omega = 1;
    smooth(this->ex, problem, Split::even, Split::even, false, rule, P);
    expect_same(P,
                {{{0, 0}, expected.p_00}, {{1, 0}, expected.p_10}, {{1, 1}, expected.p_11}, {{2, 0}, 0.25}, {{2, 1}, 0.75}, {{3, 1}, 0.75}},
                1e-15, "path");
  }
}

TYPED_TEST(SmoothedProlongatorTest, WrongBlocksAreRefused)
{
  AggregatedProblem problem = aggregated("grid", grid7(4, 4, 1), 1, 1, 3);
  for (const int bs : {0, 3, 129}) {
    Smoothed<TypeParam> s(problem, Split::last, Split::last);
    OK(s.problem.create(this->ex));
    s.problem.bs = bs;
    EXPECT_EQ(static_cast<int>(quietly([&] { return s.smooth(this->ex, false, {}); })), PETSC_ERR_ARG_SIZ) << bs;
  }
}

// The first update takes memory for S's values, and for the places of products if there is enough. The next one may succeed where it
// failed.
TEST(SmoothedProlongatorMemory, EveryAllocationOfAnUpdateMayFailOnOneRank)
{
  const AggregatedProblem problem = translations(2);
  Debug ex;
  FailingAllocations failing(true);
  for (bool more = true; more;) {
    Smoothed<Debug> s(problem, Split::even, Split::gap);
    OK(s.problem.create(ex));
    OK(s.smooth(ex, false, rule_of(2)));
    HostCsr expected, got;
    OK(download(ex, s.P.diag, expected));
    const auto update = [&] { return s.smoothed.update(ex, s.problem.fine.A, rho, s.P); };
    OK(memory_zero(ex, s.P.diag.val.data(), s.P.diag.val.bytes()));
    const int failures = failing.failures();
    more = failing.run(ex, update);
    if (failing.failures() > failures) {
      OK(update());
    }
    OK(download(ex, s.P.diag, got));
    EXPECT_EQ(got.val, expected.val);
  }
  EXPECT_EQ(failing.failures(), 1);
  EXPECT_GE(failing.gone_without(), 2);
}

TEST(SmoothedProlongatorMemory, LaterUpdatesAllocateNothing)
{
  const AggregatedProblem problem = translations(2);
  Debug ex;
  for (const bool filtered : {false, true}) {
    Smoothed<Debug> s(problem, Split::even, Split::gap);
    OK(s.problem.create(ex));
    OK(s.smooth(ex, filtered, rule_of(2)));
    OK(s.smoothed.update(ex, s.problem.fine.A, rho, s.P));
    const std::int64_t before = ex.allocations;
    OK(s.smoothed.update(ex, s.problem.fine.A, rho, s.P));
    EXPECT_EQ(ex.allocations, before);
  }
}

// Where there is no ghost the product is P's own block. T and the plan's rows are held, S's pattern if that is not A's, and no values of S.
TEST(SmoothedProlongatorMemory, HoldsNoMoreThanUpdateNeeds)
{
  const HostCsr A = grid7(8, 8, 8);
  Host ex;
  for (const bool filtered : {false, true}) {
    Smoothed<Host> s(aggregated("grid", A, 1, 1, 40), Split::last, Split::last);
    OK(s.problem.create(ex));
    OK(s.smooth(ex, filtered, rule_of(1)));
    if (s.problem.fine.A.rows == 0) continue;
    const std::size_t rows = A.rows, entries = A.col.size(), T = 12 * s.problem.fine.whole_P.col.size() + 4 * rows, plan = 4 * rows;
    const std::size_t diagonal = 4 * rows;
    const auto strong = [](const auto &e) { return e.first.first == e.first.second || strongly_coupled(e.first.first, e.first.second); };
    const Entries all = entries_of(A);
    const std::size_t kept = std::count_if(all.begin(), all.end(), strong);
    EXPECT_LT(kept, entries);
    EXPECT_LE(s.smoothed.bytes(), T + plan + diagonal + (filtered ? 4 * kept + 4 * rows + entries : 0) + 64);
  }
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(SmoothedProlongatorMemory, EveryAllocationMayFailOnOneRank)
{
  const AggregatedProblem problem = aggregated("random", random_blocks_on(random_graph(30, 60, 1), 2, 2), 2, 3, 9);
  Debug ex;
  DistributedAggregates<Debug> distributed(problem, Split::even, Split::even);
  OK(distributed.create(ex));
  FailingAllocations failing(true); // columns that are kept, see spgemm_columns.hpp
  for (bool more = true; more;) {
    SmoothedProlongator<Debug> smoothed;
    CoarseBlocks<Debug> P;
    ex.fail_at = -1;
    OK(distributed.take_prolongator(ex));
    more = failing.run(ex, [&] {
      return smoothed.create(ex, distributed.fine.A, {&distributed.nodes.A, &distributed.strong, 2}, rho, rule_of(2),
                             std::move(distributed.T), P);
    });
  }
  EXPECT_GE(failing.failures(), 20);
}
} // namespace amgkit::test
