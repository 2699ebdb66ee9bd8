#include "graph/matching.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace amgkit::test
{
template <class Ex> using Matching = SpaceTest<Ex>;
TYPED_TEST_SUITE(Matching, Spaces, SpaceName);

namespace
{
struct Edge {
  float weight;
  int gap, odd, low, i, j; // i < j
};

// The edges that can match, by the formula of the header, from log|c| as the papers write it.
std::vector<Edge> edges_of(const HostCsr &A, const std::vector<double> &w)
{
  std::vector<Edge> edges;
  auto stored = [&](int i, int j) { return std::binary_search(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1], j); };
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (j <= i || !stored(j, i)) continue;
      const double c = 1 - 2 * A.val[k] * w[i] * w[j] / (A.at(i, i) * w[i] * w[i] + A.at(j, j) * w[j] * w[j]);
      if (!(std::log(std::abs(c)) > 0) || !std::isfinite(c)) continue;
      const double q = -2 * A.val[k] * w[i] * w[j] / (A.at(i, i) * w[i] * w[i] + A.at(j, j) * w[j] * w[j]);
      edges.push_back({static_cast<float>(q > 0 ? q : -q - 2), j - i, i / (j - i) % 2, i, i, j});
    }
  }
  return edges;
}

// Section "Paths first" of the header, read literally.
std::vector<int> paths(int n, const std::vector<Edge> &edges)
{
  std::vector<float> strongest(n, 0);
  std::vector<int> succ(n, -1), pred(n, -1), mate(n, -1);
  for (const Edge &e : edges) {
    strongest[e.i] = std::max(strongest[e.i], e.weight);
    strongest[e.j] = std::max(strongest[e.j], e.weight);
  }
  for (const Edge &e : edges) {
    if (e.weight != strongest[e.i] || e.weight != strongest[e.j]) continue;
    if (succ[e.i] < 0 || e.j < succ[e.i]) succ[e.i] = e.j;
    pred[e.j] = std::max(pred[e.j], e.i);
  }
  for (int start = 0; start < n; start++) {
    if (pred[start] >= 0 && succ[pred[start]] == start) continue; // not the start of a path
    for (int v = start; v >= 0;) {
      const int next = succ[v] >= 0 && pred[succ[v]] == v ? succ[v] : -1;
      if (next < 0) break;
      mate[v] = next;
      mate[next] = v;
      v = succ[next] >= 0 && pred[succ[next]] == next ? succ[next] : -1;
    }
  }
  return mate;
}

bool goes_before(const Edge &a, const Edge &b)
{
  return std::make_tuple(-a.weight, a.gap, a.odd, a.low) < std::make_tuple(-b.weight, b.gap, b.odd, b.low);
}

// Greedy by decreasing key on what is left.
std::vector<int> greedy(std::vector<Edge> edges, std::vector<int> mate)
{
  std::sort(edges.begin(), edges.end(), goes_before);
  for (const Edge &e : edges) {
    if (mate[e.i] >= 0 || mate[e.j] >= 0) continue;
    mate[e.i] = e.j;
    mate[e.j] = e.i;
  }
  return mate;
}

// What join_pairs() makes of a matching.
std::vector<int> joined_by_definition(std::vector<Edge> edges, const std::vector<int> &mate, bool pair_rest)
{
  std::vector<int> wanted(mate.size(), -1), taken(mate.size(), -1), out = mate;
  std::sort(edges.begin(), edges.end(), goes_before);
  for (const Edge &e : edges) {
    for (auto [single, other] : {std::pair{e.i, e.j}, {e.j, e.i}}) {
      if (mate[single] < 0 && mate[other] >= 0 && wanted[single] < 0) wanted[single] = other;
    }
  }
  for (int i = 0; i < static_cast<int>(mate.size()); i++) {
    if (wanted[i] < 0 || taken[wanted[i]] >= 0) continue;
    taken[wanted[i]] = i;
    out[i] = join(wanted[i]);
  }
  for (int j = 0; j < static_cast<int>(mate.size()); j++) {
    int first = -1;
    for (int i = 0; pair_rest && i < static_cast<int>(mate.size()); i++) {
      if (wanted[i] != j || taken[j] == i) continue;
      if (first >= 0) out[first] = i, out[i] = first;
      first = first >= 0 ? -1 : i;
    }
  }
  return out;
}

template <class Ex>
PetscErrorCode match(Ex &ex, const HostCsr &A, const std::vector<double> &w, bool with_paths, std::vector<int> &after_paths,
                     std::vector<int> &mate, std::vector<int> *joined = nullptr, bool pair_rest = false)
{
  Csr<double, Ex> M;
  EdgeWeights<Ex> edges;
  Array<double, Ex> a, v;
  Array<int, Ex> m;

  PetscFunctionBegin;
  PetscCall(upload(ex, A, M));
  PetscCall(upload(ex, A.diagonal(), a));
  PetscCall(upload(ex, w, v));
  PetscCall(upload(ex, std::vector<int>(A.rows, -1), m));
  PetscCall(edge_weights(ex, M.view(), a.data(), v.data(), edges));
  if (with_paths) PetscCall(match_paths(ex, M.view(), edges, m.data()));
  PetscCall(download(ex, m.data(), m.size(), after_paths));
  PetscCall(match_suitor(ex, M.view(), edges, m.data()));
  PetscCall(download(ex, m.data(), m.size(), mate));
  if (joined) {
    PetscCall(join_pairs(ex, M.view(), edges, m.data(), pair_rest));
    PetscCall(download(ex, m.data(), m.size(), *joined));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<double> uneven(int n)
{
  std::vector<double> w(n);
  for (int i = 0; i < n; i++) w[i] = i % 11 == 3 ? -0.5 : 1 + 0.25 * (i % 4);
  return w;
}
} // namespace

TYPED_TEST(Matching, PathsPairAsDefinedAndSuitorIsGreedyOnTheRest)
{
  for (const auto &[name, A] : gallery()) {
    for (const auto &w : {std::vector<double>(A.rows, 1.0), uneven(A.rows)}) {
      std::vector<int> after_paths, mate;
      const auto edges = edges_of(A, w);
      OK(match(this->ex, A, w, true, after_paths, mate));
      EXPECT_EQ(after_paths, paths(A.rows, edges)) << name;
      EXPECT_EQ(mate, greedy(edges, after_paths)) << name;
    }
  }
}

TYPED_TEST(Matching, SingleVerticesJoinPairs)
{
  int joins = 0, singles = 0;
  auto check = [&](const std::string &name, const HostCsr &A, const std::vector<double> &w) {
    std::vector<int> none, mate, joined, paired;
    const auto edges = edges_of(A, w);
    OK(match(this->ex, A, w, true, none, mate, &joined));
    EXPECT_EQ(joined, joined_by_definition(edges, mate, false)) << name;
    OK(match(this->ex, A, w, true, none, mate, &paired, true));
    EXPECT_EQ(paired, joined_by_definition(edges, mate, true)) << name;
    std::vector<bool> has_edge(A.rows, false);
    for (const Edge &e : edges) has_edge[e.i] = has_edge[e.j] = true;
    int left = 0; // aggregates of vertices with an edge: pairs and single ones
    for (int i = 0; i < A.rows; i++) left += has_edge[i] && (paired[i] == -1 || paired[i] > i) ? 1 : 0;
    EXPECT_LE(2 * left, std::count(has_edge.begin(), has_edge.end(), true)) << name;
    joins += static_cast<int>(std::count_if(joined.begin(), joined.end(), [](int m) { return m < left_out; }));
    singles += static_cast<int>(std::count(joined.begin(), joined.end(), -1));
  };
  for (const auto &[name, A] : gallery()) {
    check(name, A, std::vector<double>(A.rows, 1.0));
    check(name, A, uneven(A.rows));
  }
  EXPECT_GT(joins, 100);
  EXPECT_GT(singles, 100);
  // of a star's many leaves one is the hub's mate, and one joins it
  std::map<std::pair<int, int>, double> entries = {{{0, 0}, 199}};
  for (int i = 1; i < 200; i++) entries[{i, i}] = 1, entries[{0, i}] = entries[{i, 0}] = -1;
  joins = 0;
  check("star", make_csr(200, 200, entries), std::vector<double>(200, 1.0));
  EXPECT_EQ(joins, 1);
}

TYPED_TEST(Matching, SuitorAloneIsGreedy)
{
  for (const auto &[name, A] : gallery()) {
    std::vector<int> none, mate;
    OK(match(this->ex, A, std::vector<double>(A.rows, 1.0), false, none, mate));
    EXPECT_EQ(mate, greedy(edges_of(A, std::vector<double>(A.rows, 1.0)), none)) << name;
  }
}

TYPED_TEST(Matching, EveryLineOfAGridIsPairedAlongItself)
{
  std::vector<int> after_paths, mate;
  const HostCsr A = grid7(8, 5, 3); // even lines: x neighbours pair, nothing is left
  OK(match(this->ex, A, std::vector<double>(A.rows, 1.0), true, after_paths, mate));
  for (int i = 0; i < A.rows; i++) EXPECT_EQ(mate[i], i % 2 == 0 ? i + 1 : i - 1);
}

TYPED_TEST(Matching, ByHand)
{
  // 0 -1- 1 -3- 2 -2- 3, and 4 alone: the heaviest edge {1, 2} matches, which leaves 0 and 3 without a partner.
  std::vector<int> after_paths, mate;
  const HostCsr A = from_edges(5, {{{0, 1}, 1}, {{1, 2}, 3}, {{2, 3}, 2}}, 1);
  OK(match(this->ex, A, std::vector<double>(5, 1.0), true, after_paths, mate));
  EXPECT_EQ(mate, (std::vector<int>{-1, 2, 1, -1, -1}));
}

TYPED_TEST(Matching, ZeroSmoothVectorMatchesNothing)
{
  std::vector<int> after_paths, mate;
  OK(match(this->ex, grid7(4, 4, 1), std::vector<double>(16, 0.0), true, after_paths, mate));
  EXPECT_EQ(mate, std::vector<int>(16, -1));
}

// On the device the schedule differs from run to run; the result must not.
TYPED_TEST(Matching, RepeatsItself)
{
  const HostCsr A = random_graph(20000, 90000, 9);
  std::vector<int> first, mate, paths_only;
  OK(match(this->ex, A, std::vector<double>(A.rows, 1.0), true, paths_only, first));
  for (int run = 0; run < 5; run++) {
    OK(match(this->ex, A, std::vector<double>(A.rows, 1.0), true, paths_only, mate));
    ASSERT_EQ(mate, first);
  }
}
} // namespace amgkit::test
