// What amgmatching allows where else coarsening would stall.
#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"
#include "support/hierarchy_shape.hpp"
#include "support/petsc_problems.hpp"
#include "support/positive_couplings.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace amgkit::test
{
template <class Ex> using ConcessionTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(ConcessionTest, Spaces, SpaceName);

namespace
{
// Leaves on the vertices of a path, whose matching leaves nearly all leaves single
HostCsr broom(int vertices, int leaves)
{
  std::map<std::pair<int, int>, double> edges;
  for (int v = 0; v < vertices; v++) {
    if (v > 0) edges[{(v - 1) * (leaves + 1), v * (leaves + 1)}] = 1;
    for (int l = 1; l <= leaves; l++) edges[{v * (leaves + 1), v * (leaves + 1) + l}] = 1;
  }
  return from_edges(vertices * (leaves + 1), edges, 0.01);
}

template <class Ex>
PetscErrorCode levels_of(Ex &ex, const HostCsr &M, const MatchingParameters &matching, std::vector<LevelStatistics> &out)
{
  OwnedMat A;
  Hierarchy<Ex> hierarchy;
  AmgParameters parameters;
  const auto prolongation = make_matching_prolongation<Ex>(matching);

  PetscFunctionBegin;
  parameters.coarse_eq_limit = 20 * size_of_world();
  PetscCall(distribute(M, Ex::on_device, A.out()));
  PetscCall(hierarchy.build(ex, A, parameters, *prolongation));
  out = hierarchy.statistics;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int concessions(const std::vector<LevelStatistics> &levels)
{
  int sum = 0;
  for (const LevelStatistics &level : levels) sum += level.single_rows + level.any_coupling;
  return sum;
}

// Each level has at most one row in `share` of the one above.
void expect_coarse(const std::vector<LevelStatistics> &levels, int share, const std::string &name)
{
  EXPECT_LE(levels.back().rows, 20 * size_of_world()) << name;
  for (std::size_t l = 1; l < levels.size(); l++) EXPECT_LE(share * levels[l].rows, levels[l - 1].rows + share * size_of_world()) << name;
}

// m x m squares of 2 x 2 cells each, cells of a square coupled by 1, of others by eps
HostCsr squares(int m, double eps)
{
  const int n = 2 * m;
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      const int place = (i / 2 * m + j / 2) * 4 + i % 2 * 2 + j % 2; // square after square
      if (i % 2 == 0) edges[{place, place + 2}] = 1;
      if (j % 2 == 0) edges[{place, place + 1}] = 1;
      if (i % 2 == 1 && i + 1 < n) edges[{place, place + 4 * m - 2}] = eps;
      if (j % 2 == 1 && j + 1 < n) edges[{place, place + 3}] = eps;
    }
  }
  return from_edges(n * n, edges, 0.01 * eps);
}
} // namespace

TYPED_TEST(ConcessionTest, NothingStalls)
{
  std::vector<Named> hard = with_positive_couplings(10);
  hard.push_back({"broom", broom(20, 40)});
  int made = 0;
  for (const auto &[name, A] : hard) {
    for (PetscInt steps : {2, 3}) {
      for (PetscReal kappa : {0.0, 60.0}) {
        std::vector<LevelStatistics> levels;
        MatchingParameters matching;
        matching.matching_steps = steps;
        matching.kappa = kappa;
        OK(levels_of(this->ex, A, matching, levels));
        expect_coarse(levels, 2, name);
        made += concessions(levels);
      }
    }
  }
  EXPECT_GT(made, 10);
}

// All pairs of a 27-point grid have a bound of 26.
TYPED_TEST(ConcessionTest, BoundGivesWay)
{
  for (PetscBool by_quality : {PETSC_FALSE, PETSC_TRUE}) {
    std::vector<LevelStatistics> levels;
    MatchingParameters matching;
    matching.kappa = 8;
    matching.quality_aware = by_quality;
    OK(levels_of(this->ex, grid27(12), matching, levels));
    expect_coarse(levels, 3, "27");
    EXPECT_EQ(levels[0].any_coupling, size_of_world());
    EXPECT_EQ(levels[0].single_rows, 0);
  }
}

// What coarsens well on one process is matched without concessions.
TYPED_TEST(ConcessionTest, NoneWhereItIsNotNeeded)
{
  for (const HostCsr &A : {grid7(12, 12, 12), grid27(12), grid7(12, 12, 12, 1, 100, 0.01)}) {
    for (PetscInt steps : {1, 2, 3}) {
      std::vector<LevelStatistics> levels;
      MatchingParameters matching;
      matching.matching_steps = steps;
      OK(levels_of(this->ex, A, matching, levels));
      if (size_of_world() == 1) {
        EXPECT_EQ(concessions(levels), 0) << A.rows << " " << steps;
      }
    }
  }
}

// Two squares could be joined in the third step for a level, but its smoother would leave their difference as it is.
TYPED_TEST(ConcessionTest, WeaklyCoupledAggregatesStayApart)
{
  for (const double eps : {1e-3, 1e-8}) {
    const int m = 16 * size_of_world(); // squares lie on one rank
    std::vector<LevelStatistics> levels;
    OK(levels_of(this->ex, squares(m, eps), {}, levels));
    ASSERT_GT(levels.size(), 2U);
    EXPECT_EQ(levels[1].rows, m * m);
    EXPECT_LE(4 * levels[2].rows, m * m);
    EXPECT_EQ(concessions(levels), 0);
  }
}

namespace
{
// The share of the finest level's aggregates of these n x n x n bricks that lie on one line along x. Rows are in a random order, but
// whole lines on one rank.
template <class Ex> PetscErrorCode share_on_lines(Ex &ex, const HostCsr &in_order, int n, bool cancel, double *share)
{
  const int rows = in_order.rows, of_rank = rows / size_of_world(), first = rank_of_world() * of_rank;
  std::vector<int> place(rows), line(rows);
  std::map<std::pair<int, int>, double> entries;
  std::mt19937 random(7);
  OwnedMat A;
  Hierarchy<Ex> hierarchy;
  AmgParameters parameters;
  MatchingParameters matching;
  HostRows P;
  std::map<PetscInt, std::set<int>> lines;

  PetscFunctionBegin;
  std::iota(place.begin(), place.end(), 0);
  for (int i = 0; i < rows; i += of_rank) std::shuffle(place.begin() + i, place.begin() + i + of_rank, random);
  for (const auto &[at, value] : entries_of(in_order)) entries[{place[at.first], place[at.second]}] = value;
  for (int i = 0; i < rows; i++) line[place[i]] = i / n;
  matching.cancel_positive = cancel ? PETSC_TRUE : PETSC_FALSE;
  parameters.coarse_eq_limit = 20 * size_of_world();
  PetscCall(distribute(make_csr(rows, rows, entries), Ex::on_device, A.out()));
  PetscCall(hierarchy.build(ex, A, parameters, *make_matching_prolongation<Ex>(matching)));
  PetscCall(hierarchy.levels[0]->transfer->rows(ex, 0, P));
  for (int i = 0; i < of_rank; i++)
    for (PetscInt k = P.ptr[i]; k < P.ptr[i + 1]; k++) lines[P.col[k]].insert(line[first + i]);
  const auto on_one = std::count_if(lines.begin(), lines.end(), [](const auto &of) { return of.second.size() == 1; });
  *share = static_cast<double>(on_one) / static_cast<double>(lines.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// In long bricks an error differs from line to line along the short edges. In a random order, pairs that find no partner on their line
// would take one beside it.
TYPED_TEST(ConcessionTest, LinesStayApart)
{
  const int n = 24;
  const HostCsr A = bricks(n, 0.01, 1, 1, 1, 0);
  double with = 0, without = 0;
  OK(share_on_lines(this->ex, A, n, true, &with));
  OK(share_on_lines(this->ex, A, n, false, &without));
  EXPECT_GE(with, 0.99);
  EXPECT_LE(without, 0.8);
}

// With several ranks, some have flat bricks, some a grid, and one may have both.
TYPED_TEST(ConcessionTest, RanksLookAtTheirOwnRows)
{
  const int n = 12;
  const HostCsr flat = bricks(n, 0.01, 1, 1, 1, 0), A = beside(grid7(n, n, n), flat);
  for (const PetscInt steps : {1, 2, 3, 4}) {
    MatchingParameters parameters;
    std::vector<LevelStatistics> levels;
    parameters.matching_steps = steps;
    OK(levels_of(this->ex, A, parameters, levels));
    expect_coarse(levels, steps == 1 ? 1 : 3, "grid beside flat bricks");
    EXPECT_EQ(levels[1].any_coupling, 0) << steps;
  }
}

// A row whose couplings are all cancelled for the matching is coupled all the same: it is not left to the smoother.
TYPED_TEST(ConcessionTest, RowsOfCancelledCouplingsStay)
{
  const int n = 8, last = n * n * n;
  auto entries = entries_of(bricks(n, 1, 1, 0.01, 1, 0));
  entries[{last, last}] = 1;
  for (const int j : {4 + n * (4 + n * 6), 3 + n * (4 + n * 6)}) entries[{last, j}] = entries[{j, last}] = 0.1; // inside, on the last rank
  OwnedMat A;
  Hierarchy<TypeParam> hierarchy;
  HostRows P;
  AmgParameters parameters;
  parameters.coarse_eq_limit = 20 * size_of_world();
  OK(distribute(make_csr(last + 1, last + 1, entries), TypeParam::on_device, A.out()));
  OK(hierarchy.build(this->ex, A, parameters, *make_matching_prolongation<TypeParam>({})));
  OK(hierarchy.levels[0]->transfer->rows(this->ex, 0, P));
  for (std::size_t i = 0; i + 1 < P.ptr.size(); i++) EXPECT_EQ(P.ptr[i + 1], P.ptr[i] + 1) << i;
}

TYPED_TEST(ConcessionTest, IsTheSameInEverySpace)
{
  for (const auto &[name, M] : with_positive_couplings(10)) {
    Host host;
    Shape expected, got;
    AmgParameters parameters;
    OwnedMat A, B;
    parameters.coarse_eq_limit = 30;
    parameters.storage = Storage::in_double;
    OK(distribute(M, false, A.out()));
    OK(distribute(M, TypeParam::on_device, B.out()));
    OK(shape_of(host, static_cast<Mat>(A), parameters, expected));
    OK(shape_of(this->ex, static_cast<Mat>(B), parameters, got));
    EXPECT_EQ(got.rows, expected.rows) << name;
    EXPECT_EQ(got.patterns, expected.patterns) << name;
    EXPECT_EQ(got.values, expected.values) << name;
  }
}
} // namespace amgkit::test
