#include "graph/mis.hpp"

#include "base/hash.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_graph.hpp"
#include "support/neighbours.hpp"

#include <set>

namespace amgkit::test
{
template <class Ex> using Mis = SpaceTest<Ex>;
TYPED_TEST_SUITE(Mis, Spaces, SpaceName);

namespace
{
bool larger(int i, int j) { return hash64(static_cast<std::uint64_t>(i)) > hash64(static_cast<std::uint64_t>(j)); }

std::vector<int> by_decreasing_keys(int n)
{
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), larger);
  return order;
}

bool is_symmetric(const Neighbours &S)
{
  std::set<std::pair<int, int>> edges;
  for (int i = 0; i < static_cast<int>(S.size()); i++) {
    for (int j : S[i]) edges.insert({i, j});
  }
  return std::all_of(edges.begin(), edges.end(), [&](const auto &e) { return edges.count({e.second, e.first}) > 0; });
}

std::vector<std::vector<int>> reaches_of(const Neighbours &S, int k)
{
  std::vector<std::vector<int>> reaches;
  for (int i = 0; i < static_cast<int>(S.size()); i++) reaches.push_back(reach_of(S, i, k));
  return reaches;
}

// The steps of the header, read literally.
Flags by_steps(const Neighbours &S, int k)
{
  enum : unsigned char { out, root, undecided };
  const auto reach = reaches_of(S, k);
  const int n = static_cast<int>(S.size());
  Flags state;
  for (const auto &neighbours : S) state.push_back(neighbours.empty() ? out : undecided);
  while (std::count(state.begin(), state.end(), undecided) > 0) {
    const Flags before = state;
    for (int i = 0; i < n; i++) {
      if (before[i] != undecided) continue;
      const auto is_root = [&](int j) { return before[j] == root; };
      const auto is_larger = [&](int j) { return before[j] == undecided && larger(j, i); };
      if (std::any_of(reach[i].begin(), reach[i].end(), is_root))
        state[i] = out;
      else if (std::none_of(reach[i].begin(), reach[i].end(), is_larger))
        state[i] = root;
    }
  }
  return state;
}

// One vertex after the other, by decreasing key.
Flags greedy(const Neighbours &S, int k)
{
  const int n = static_cast<int>(S.size());
  Flags root(n, 0);
  for (int i : by_decreasing_keys(n)) {
    const std::vector<int> reach = reach_of(S, i, k);
    root[i] = !S[i].empty() && std::none_of(reach.begin(), reach.end(), [&](int j) { return root[j] != 0; });
  }
  return root;
}

// The same where S is symmetric.
Flags what_roots_reach_is_out(const Neighbours &S, int k)
{
  const int n = static_cast<int>(S.size());
  Flags root(n, 0), out(n, 0);
  for (int i : by_decreasing_keys(n)) {
    root[i] = !S[i].empty() && !out[i];
    if (!root[i]) continue;
    for (int j : reach_of(S, i, k)) out[j] = 1;
  }
  return root;
}

// What the header promises.
void expect_maximal_independent(const Neighbours &S, int k, const Flags &root)
{
  const auto reach = reaches_of(S, k);
  const bool symmetric = is_symmetric(S);
  ASSERT_EQ(root.size(), S.size());
  for (std::size_t i = 0; i < S.size(); i++) {
    const auto roots = std::count_if(reach[i].begin(), reach[i].end(), [&](int j) { return root[j] != 0; });
    if (S[i].empty()) {
      EXPECT_EQ(root[i], 0);
    } else {
      EXPECT_GE(roots, 1);
    }
    if (symmetric && root[i]) {
      EXPECT_EQ(roots, 1);
    }
  }
}

template <class Ex> auto roots(Ex &ex, int k)
{
  return [&ex, k](const DistGraph<Ex> &G, Array<unsigned char, Ex> &root) { return mis(ex, G, k, root); };
}
} // namespace

TYPED_TEST(Mis, IsItsDefinitionOnAnyNumberOfRanks)
{
  for (const auto &[name, A] : graphs()) {
    const Neighbours S = neighbours_of(A);
    for (const int k : {1, 2, 3, 4, 8}) {
      SCOPED_TRACE(name + ", k = " + std::to_string(k));
      Flags all;
      flags_everywhere(this->ex, A, roots(this->ex, k), all);
      expect_maximal_independent(S, k, all);
      EXPECT_EQ(all, by_steps(S, k));
      if (is_symmetric(S)) {
        EXPECT_EQ(all, greedy(S, k));
      }
    }
  }
}

// One edge without its reverse, and what a root reaches may not reach it: the greedy method that goes by the former finds other roots.
TYPED_TEST(Mis, OneEdgeWithoutItsReverse)
{
  const int n = 40;
  int others = 0; // graphs of which it does
  for (int i = 0; i < n; i++) {
    Neighbours S = ladder(n);
    S[i].pop_back();
    ASSERT_FALSE(is_symmetric(S));
    Flags all;
    flags_everywhere(this->ex, matrix_of(S), roots(this->ex, 2), all);
    EXPECT_EQ(all, by_steps(S, 2)) << i;
    others += all != what_roots_reach_is_out(S, 2);
  }
  EXPECT_GE(others, 1);
}

// So many that the undecided ones are counted within four steps.
TYPED_TEST(Mis, IsGreedyOnAMillionVertices)
{
  const int n = 1 << 20;
  const Neighbours S = ladder(n);
  Flags all, root(n, 0);
  for (const int i : by_decreasing_keys(n)) {
    bool near = false; // a root, within two steps
    for (const int j : S[i]) {
      for (const int l : S[j]) near = near || root[j] || root[l];
    }
    root[i] = !near;
  }
  flags_everywhere(this->ex, matrix_of(S), roots(this->ex, 2), all);
  EXPECT_TRUE(all == root);
}

// Whatever the keys: one root of a clique, a star, a pair and a path of three; none where nothing depends on anything.
TYPED_TEST(Mis, ByHand)
{
  Neighbours S = {{1}, {0}, {}, {4}, {3, 5}, {4}, {7, 8, 9}, {6}, {6}, {6}, {11, 12, 13}, {10, 12, 13}, {10, 11, 13}, {10, 11, 12}};
  Flags all;
  flags_everywhere(this->ex, matrix_of(S), roots(this->ex, 2), all);
  EXPECT_EQ(all[0] + all[1], 1);
  EXPECT_EQ(all[2], 0);
  EXPECT_EQ(all[3] + all[4] + all[5], 1);
  EXPECT_EQ(all[6] + all[7] + all[8] + all[9], 1);
  EXPECT_EQ(all[10] + all[11] + all[12] + all[13], 1);
}

// 0 and 3 lead to nothing else than 1, which is alone: they are roots. 2 reaches 0.
TYPED_TEST(Mis, WhatDependsOnIsolatedVerticesIsDecided)
{
  const Neighbours S = {{1}, {}, {0}, {1}};
  for (int k = 1; k <= 3; k++) {
    Flags all;
    flags_everywhere(this->ex, matrix_of(S), roots(this->ex, k), all);
    EXPECT_EQ(all, (Flags{1, 0, larger(2, 0), 1}));
  }
}

// MIS(4) is MIS(2) of the graph of two steps.
TYPED_TEST(Mis, FourStepsAreTwoOfTheSquare)
{
  for (const HostCsr &A : {grid7(12, 11, 1), grid7(8, 7, 6), random_graph(300, 500, 6)}) {
    const Neighbours S = neighbours_of(A);
    Neighbours square(S.size());
    for (int i = 0; i < A.rows; i++) {
      square[i] = reach_of(S, i, 2);
      square[i].erase(std::find(square[i].begin(), square[i].end(), i));
    }
    Flags four, two;
    flags_everywhere(this->ex, A, roots(this->ex, 4), four);
    flags_everywhere(this->ex, matrix_of(square), roots(this->ex, 2), two);
    EXPECT_EQ(four, two);
  }
}

// Without marks every entry is an edge.
TYPED_TEST(Mis, OfAPatternWithoutMarks)
{
  std::map<std::pair<int, int>, double> edges; // no diagonal
  const Neighbours S = neighbours_of(random_graph(150, 300, 21));
  for (int i = 0; i < 150; i++) {
    for (int j : S[i]) edges[{i, j}] = 0;
  }
  for (const PetscInt local_rows : layouts(150)) {
    DistributedGraph<TypeParam> problem;
    Flags all;
    OK(problem.create(this->ex, make_csr(150, 150, edges), local_rows));
    problem.G = graph_of<TypeParam>(problem.A, nullptr, nullptr);
    OK(flags_of(this->ex, problem.G, roots(this->ex, 2), all));
    EXPECT_EQ(all, greedy(S, 2));
  }
}

// Along a path of falling keys only one root can be found after the other.
TYPED_TEST(Mis, APathOfFallingKeysEnds)
{
  constexpr int n = 120;
  std::vector<int> order(n);
  Neighbours S(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), larger);
  for (int t = 0; t + 1 < n; t++) {
    S[order[t]].push_back(order[t + 1]);
    S[order[t + 1]].push_back(order[t]);
  }
  Flags expected(n, 0), all;
  for (int t = 0; t < n; t += 3) expected[order[t]] = 1;
  flags_everywhere(this->ex, matrix_of(S), roots(this->ex, 2), all);
  EXPECT_EQ(all, expected);
}

// Ranks have few vertices with neighbours of others, so that soon few vertices are seen in every round.
TYPED_TEST(Mis, IsGreedyOnLadders)
{
  const Neighbours S = ladder(4000);
  for (const int k : {1, 2, 3, 5}) {
    Flags all;
    flags_everywhere(this->ex, matrix_of(S), roots(this->ex, k), all);
    EXPECT_EQ(all, greedy(S, k)) << k;
  }
}

TYPED_TEST(Mis, RepeatsItself)
{
  const HostCsr A = random_graph(20000, 60000, 9);
  DistributedGraph<TypeParam> problem;
  Flags first, all;
  OK(problem.create(this->ex, A, -1));
  OK(problem.mark_couplings(this->ex));
  OK(flags_of(this->ex, problem.G, roots(this->ex, 2), first));
  EXPECT_EQ(first, greedy(neighbours_of(A), 2));
  OK(flags_of(this->ex, problem.G, roots(this->ex, 3), all));
  EXPECT_EQ(all, greedy(neighbours_of(A), 3));
  for (int run = 0; run < 5; run++) {
    OK(flags_of(this->ex, problem.G, roots(this->ex, 2), all));
    ASSERT_EQ(all, first);
  }
}

using MisFailure = FailingGraph;
// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST_F(MisFailure, EveryAllocationMayFailOnOneRank)
{
  for (bool more = true; more;) {
    Array<unsigned char, Debug> root;
    more = failing.run(ex, [&] { return mis(ex, graph(), 3, root); });
  }
  EXPECT_EQ(failing.failures(), 7); // root, list, words, two reaches and two lists of those that are seen
}
} // namespace amgkit::test
