#include "graph/root_aggregates.hpp"

#include "base/hash.hpp"
#include "graph/mis.hpp"
#include "graph/symmetric_strength.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_allocations.hpp"
#include "support/neighbours.hpp"

#include <cmath>
#include <random>

namespace amgkit::test
{
template <class Ex> using RootAggregates = SpaceTest<Ex>;
TYPED_TEST_SUITE(RootAggregates, Spaces, SpaceName);

namespace
{
using Ids = std::vector<PetscInt>; // global numbers of aggregates, -1: none

// What is left in no aggregate joins by S where may_join(i).
template <class F> Ids after_a_round(const HostCsr &A, const Neighbours &S, const Ids &before, F may_join)
{
  Ids id = before;
  for (int i = 0; i < A.rows; i++) {
    std::pair<double, std::uint64_t> best = {-1, 0};
    for (int j : S[i]) {
      const std::pair<double, std::uint64_t> offer = {std::abs(A.at(i, j)), hash64(static_cast<std::uint64_t>(j))};
      if (before[i] >= 0 || before[j] < 0 || offer < best || !may_join(i)) continue;
      best = offer;
      id[i] = before[j];
    }
  }
  return id;
}

// The rounds of the header, read literally. S: the edges.
Ids by_rounds(const HostCsr &A, const Neighbours &S, const Flags &root, int k)
{
  Ids id;
  PetscInt count = 0;
  for (int i = 0; i < A.rows; i++) id.push_back(root[i] ? count++ : -1);
  for (int round = 0; round < k; round++) id = after_a_round(A, S, id, [](int) { return true; });
  const Neighbours coupled = neighbours_of(A);
  for (int round = 0; round < k; round++) {
    id = after_a_round(A, coupled, id, [&](int i) {
      double others = 0;
      for (int j : coupled[i]) others += std::abs(A.at(i, j));
      return std::abs(A.at(i, i)) <= 2 * others;
    });
  }
  return id;
}

// What the header promises of the roots of mis().
void expect_aggregates(const Neighbours &S, const Flags &root, const Ids &id)
{
  std::vector<int> roots_of, members;
  for (std::size_t i = 0; i < S.size(); i++) {
    EXPECT_EQ(id[i] < 0, S[i].empty());
    if (id[i] < 0) continue;
    roots_of.resize(std::max(roots_of.size(), static_cast<std::size_t>(id[i]) + 1), 0);
    roots_of[id[i]] += root[i];
  }
  for (const int roots : roots_of) EXPECT_EQ(roots, 1);
  std::vector<bool> connected(S.size()); // to its root, by edges within the aggregate
  for (std::size_t i = 0; i < S.size(); i++) connected[i] = root[i] || id[i] < 0;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < S.size(); i++) {
      const auto leads_there = [&](int j) { return id[j] == id[i] && connected[j]; };
      if (connected[i] || std::none_of(S[i].begin(), S[i].end(), leads_there)) continue;
      connected[i] = more = true;
    }
  }
  EXPECT_EQ(std::count(connected.begin(), connected.end(), false), 0);
}

// Global numbers of all ranks' vertices, and that the object is as promised.
template <class Ex> PetscErrorCode global_ids(Ex &ex, const NodeAggregates<Ex> &aggregates, Ids &all)
{
  const int rank = rank_of_world();
  const PetscInt first = aggregates.range[rank];
  const Ids &ghosts = aggregates.ghosts;
  std::vector<int> id, used(ghosts.size(), 0);
  Ids mine;

  PetscFunctionBegin;
  EXPECT_EQ(aggregates.range[rank + 1] - first, aggregates.count);
  EXPECT_TRUE(std::adjacent_find(ghosts.begin(), ghosts.end(), std::greater_equal<>()) == ghosts.end());
  for (const PetscInt g : ghosts) EXPECT_TRUE(g < first || g >= first + aggregates.count);
  PetscCall(download(ex, aggregates.id.data(), aggregates.id.size(), id));
  for (const int here : id) {
    if (here >= aggregates.count) used[here - aggregates.count] = 1;
    mine.push_back(here < 0 ? -1 : here < aggregates.count ? first + here : ghosts[here - aggregates.count]);
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0);
  all = all_of(mine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Aggregates of A's couplings around given roots; all ranks' ids.
template <class Ex> PetscErrorCode aggregate(Ex &ex, DistributedGraph<Ex> &problem, const Flags &root, int k, Ids &all)
{
  const PetscInt first = problem.A.range.first();
  const Flags mine(root.begin() + first, root.begin() + first + problem.A.rows);
  Array<unsigned char, Ex> own_root;
  NodeAggregates<Ex> aggregates;

  PetscFunctionBegin;
  PetscCall(upload(ex, mine, own_root));
  PetscCall(root_aggregates(ex, problem.G, problem.A, own_root.data(), k, aggregates));
  PetscCall(global_ids(ex, aggregates, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> void aggregate_everywhere(Ex &ex, const HostCsr &A, const Flags &root, int k, Ids &out)
{
  for (const PetscInt local_rows : layouts(A.rows)) {
    DistributedGraph<Ex> problem;
    Ids all;
    OK(problem.create(ex, A, local_rows));
    OK(problem.mark_couplings(ex));
    OK(aggregate(ex, problem, root, k, all));
    if (out.empty()) out = all;
    ASSERT_EQ(all, out);
  }
}

template <class Ex> PetscErrorCode roots_of(Ex &ex, const HostCsr &A, int k, Flags &all)
{
  DistributedGraph<Ex> problem;
  Array<unsigned char, Ex> root;
  Flags mine;

  PetscFunctionBegin;
  PetscCall(problem.create(ex, A, -1));
  PetscCall(problem.mark_couplings(ex));
  PetscCall(mis(ex, problem.G, k, root));
  PetscCall(download(ex, root.data(), root.size(), mine));
  all = all_of(mine);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

TYPED_TEST(RootAggregates, AreTheirDefinitionOnAnyNumberOfRanks)
{
  for (const auto &[name, A] : graphs()) {
    for (const int k : {1, 2, 4}) {
      SCOPED_TRACE(name + ", k = " + std::to_string(k));
      Flags root;
      Ids all;
      OK(roots_of(this->ex, A, k, root));
      aggregate_everywhere(this->ex, A, root, k, all);
      EXPECT_EQ(all, by_rounds(A, neighbours_of(A), root, k));
      expect_aggregates(neighbours_of(A), root, all);
    }
  }
}

// 0 -1- 1 -5- 2 -1- 3 -1- 4 -9- 5, 6 alone, roots 0 and 3: 1 joins 0 and 2 joins 3 in the first round, whatever 1 and 2 are to each other.
// 5 joins in the second round, or in the one of all couplings.
TYPED_TEST(RootAggregates, ByHand)
{
  std::map<std::pair<int, int>, double> weights = {{{0, 1}, 1}, {{1, 2}, 5}, {{2, 3}, 1}, {{3, 4}, 1}, {{4, 5}, 9}};
  const HostCsr A = from_edges(7, weights);
  const Flags root = {1, 0, 0, 1, 0, 0, 0};
  Ids one, two;
  aggregate_everywhere(this->ex, A, root, 1, one);
  EXPECT_EQ(one, (Ids{0, 0, 1, 1, 1, 1, -1}));
  aggregate_everywhere(this->ex, A, root, 2, two);
  EXPECT_EQ(two, (Ids{0, 0, 1, 1, 1, 1, -1}));
}

// 0 is between the roots 1, 2, 3: it joins the one with the largest |a_0j|, of two equal ones that of the larger key.
TYPED_TEST(RootAggregates, TheStrongestCouplingWinsThenTheKey)
{
  const auto joins = [&](double a, double b, double c) {
    std::map<std::pair<int, int>, double> entries = {{{0, 1}, a}, {{0, 2}, b}, {{0, 3}, c}};
    for (int i = 0; i < 4; i++) {
      entries[{i, i}] = 9;
      if (i > 0) entries[{i, 0}] = -7; // says nothing of 0's choice
    }
    Ids all;
    aggregate_everywhere(this->ex, make_csr(4, 4, entries), {0, 1, 1, 1}, 2, all);
    return all[0];
  };
  EXPECT_EQ(joins(-1, -3, -2), 1);
  EXPECT_EQ(joins(-1, -3, 4), 2);
  EXPECT_EQ(joins(-5, -3, 4), 0);
  std::vector<int> order = {1, 2, 3};
  std::sort(order.begin(), order.end(),
            [](int i, int j) { return hash64(static_cast<std::uint64_t>(i)) > hash64(static_cast<std::uint64_t>(j)); });
  EXPECT_EQ(joins(2, -2, 2), order[0] - 1);
  EXPECT_EQ(joins(order[0] == 1 ? 1 : 2, order[0] == 2 ? 1 : -2, order[0] == 3 ? 1 : 2), order[1] - 1);
}

// A coupling that is no edge leads into no aggregate where there are edges, however large it is: the positive one is weak.
TYPED_TEST(RootAggregates, EdgesGoFirst)
{
  const HostCsr A = make_csr(3, 3, {{{0, 0}, 1}, {{0, 1}, 8}, {{0, 2}, -1}, {{1, 0}, -8}, {{1, 1}, 1}, {{2, 0}, -1}, {{2, 2}, 1}});
  for (const PetscInt local_rows : layouts(3)) {
    DistributedGraph<TypeParam> problem;
    Ids all;
    OK(problem.create(this->ex, A, local_rows));
    OK(problem.mark_strong(this->ex, {0.25, 1}));
    OK(aggregate(this->ex, problem, {0, 1, 1}, 1, all));
    EXPECT_EQ(all, (Ids{1, 0, 1}));
  }
}

namespace
{
// Edges are strong relative to the largest couplings of both rows. S: these edges, read literally.
template <class Ex> PetscErrorCode mark_relative(Ex &ex, double theta, const HostCsr &A, DistributedGraph<Ex> &problem, Neighbours &S)
{
  std::vector<double> most(A.rows, 0);
  PetscFunctionBegin;
  S = neighbours_of(A);
  for (int i = 0; i < A.rows; i++) {
    for (int j : S[i]) most[i] = std::max(most[i], std::abs(A.at(i, j)));
  }
  for (int i = 0; i < A.rows; i++) {
    S[i].erase(
        std::remove_if(S[i].begin(), S[i].end(), [&](int j) { return std::abs(A.at(i, j)) <= theta * std::sqrt(most[i] * most[j]); }),
        S[i].end());
  }
  PetscCall(symmetric_strength(ex, problem.A, {StrengthKind::relative, theta, theta, false}, nullptr, problem.S));
  problem.G = graph_of(problem.A, problem.S.diag.data(), problem.S.offd.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// 0 -100- 1 and 2 -90- 3 are edges. 4 has none, as its couplings to 1 and 2 are weak beside theirs: it joins 2, to which it is coupled
// more. 5 is nearly solved by itself, 6 is not, 7 is coupled to nothing, 8 to 4, and 9 to 8 alone. 10 has stored zeros, and row 11 is so
// large that nothing would be left of another in a sum with it.
TYPED_TEST(RootAggregates, WhatHasNoEdgeJoinsByItsLargestCoupling)
{
  const std::map<std::pair<int, int>, double> edges = {{{0, 1}, 100}, {{2, 3}, 90}, {{1, 4}, 1},    {{2, 4}, 2},
                                                       {{3, 5}, 1},   {{0, 6}, 1},  {{4, 8}, 0.01}, {{8, 9}, 1e-4}};
  auto entries = entries_of(from_edges(12, edges, 0));
  entries[{5, 5}] = 2.01;
  entries[{6, 6}] = 2;
  entries[{7, 7}] = 1;
  entries[{10, 10}] = entries[{10, 3}] = 0;
  entries[{11, 11}] = 1e30;
  entries[{11, 0}] = -1e30;
  const HostCsr A = make_csr(12, 12, entries);
  for (const PetscInt local_rows : layouts(12)) {
    DistributedGraph<TypeParam> problem;
    Neighbours S;
    Ids all;
    OK(problem.create(this->ex, A, local_rows));
    OK(mark_relative(this->ex, 0.25, A, problem, S));
    EXPECT_TRUE(S[4].empty() && S[5].empty() && S[6].empty() && S[8].empty() && S[9].empty());
    OK(aggregate(this->ex, problem, {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 2, all));
    EXPECT_EQ(all, (Ids{0, 0, 1, 1, 1, -1, 0, -1, 1, -1, -1, -1}));
  }
}

// Weights over eight decades leave many vertices without an edge; diagonals leave some of them to the smoother.
TYPED_TEST(RootAggregates, AreTheirDefinitionWithWeakCouplings)
{
  std::mt19937 random(5);
  int without_edge = 0, joined = 0, left = 0;
  for (int turn = 0; turn < 5; turn++) {
    const int n = 60;
    std::map<std::pair<int, int>, double> edges;
    for (int k = 0; k < 4 * n; k++) {
      const int i = static_cast<int>(random() % n), j = static_cast<int>(random() % n);
      if (i < j) edges[{i, j}] = std::pow(10.0, static_cast<double>(random() % 800) / 100 - 4);
    }
    auto entries = entries_of(from_edges(n, edges, 0));
    for (int i = 0; i < n; i += 3) entries[{i, i}] *= 3;
    const HostCsr A = make_csr(n, n, entries);
    for (const PetscInt local_rows : layouts(n)) {
      DistributedGraph<TypeParam> problem;
      Neighbours S;
      Flags root, mine;
      Array<unsigned char, TypeParam> own_root;
      Ids all;
      OK(problem.create(this->ex, A, local_rows));
      OK(mark_relative(this->ex, 0.25, A, problem, S));
      OK(mis(this->ex, problem.G, 2, own_root));
      OK(download(this->ex, own_root.data(), own_root.size(), mine));
      root = all_of(mine);
      OK(aggregate(this->ex, problem, root, 2, all));
      ASSERT_EQ(all, by_rounds(A, S, root, 2)) << turn;
      for (int i = 0; i < n; i++) {
        if (!S[i].empty()) continue;
        without_edge++;
        (all[i] < 0 ? left : joined)++;
      }
    }
  }
  EXPECT_GT(joined, without_edge / 4);
  EXPECT_GT(left, without_edge / 8);
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(RootAggregatesFailure, EveryAllocationMayFailOnOneRank)
{
  Debug ex;
  DistributedGraph<Debug> problem;
  Array<unsigned char, Debug> root;
  OK(problem.create(ex, grid7(6, 5, 2), -1));
  OK(problem.mark_couplings(ex));
  OK(mis(ex, problem.G, 2, root));
  FailingAllocations failing;
  for (bool more = true; more;) {
    NodeAggregates<Debug> aggregates;
    more = failing.run(ex, [&] { return root_aggregates(ex, problem.G, problem.A, root.data(), 2, aggregates); });
  }
  EXPECT_GE(failing.failures(), 10);
}
} // namespace amgkit::test
