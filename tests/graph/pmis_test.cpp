#include "graph/pmis.hpp"

#include "base/hash.hpp"
#include "sparse/rows/rearrange.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_graph.hpp"
#include "support/neighbours.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace amgkit::test
{
template <class Ex> using Pmis = SpaceTest<Ex>;
TYPED_TEST_SUITE(Pmis, Spaces, SpaceName);

namespace
{
using Key = std::tuple<std::size_t, std::uint64_t, int>;
Key key_of(const Neighbours &T, int i) { return {T[i].size(), hash64(static_cast<std::uint64_t>(i)), i}; }

enum : int { undecided, fine, coarse };
std::vector<int> first_states(const Neighbours &S, const Neighbours &T, Isolated isolated)
{
  std::vector<int> state(S.size(), undecided);
  for (std::size_t i = 0; i < S.size(); i++) {
    if (S[i].empty())
      state[i] = isolated == Isolated::coarse ? coarse : fine;
    else if (T[i].empty())
      state[i] = fine;
  }
  return state;
}
Flags coarse_of(const std::vector<int> &state)
{
  Flags flags;
  for (int s : state) flags.push_back(s == coarse);
  return flags;
}

// The rounds of the header, read literally: all points look at S_i and its converse at once.
Flags by_rounds(const Neighbours &S, Isolated isolated)
{
  const Neighbours T = transposed(S);
  std::vector<int> state = first_states(S, T, isolated);
  const int n = static_cast<int>(S.size());
  while (std::count(state.begin(), state.end(), undecided) > 0) {
    for (int i = 0; i < n; i++) {
      const auto is_coarse = [&](int j) { return state[j] == coarse; };
      if (state[i] == undecided && std::any_of(S[i].begin(), S[i].end(), is_coarse)) state[i] = fine;
    }
    const std::vector<int> before = state;
    for (int i = 0; i < n; i++) {
      const auto larger = [&](int j) { return before[j] == undecided && key_of(T, j) > key_of(T, i); };
      const bool none_larger = std::none_of(S[i].begin(), S[i].end(), larger) && std::none_of(T[i].begin(), T[i].end(), larger);
      if (before[i] == undecided && none_larger) state[i] = coarse;
    }
  }
  return coarse_of(state);
}

// One point after the other, by decreasing key.
Flags greedy(const Neighbours &S, Isolated isolated)
{
  const Neighbours T = transposed(S);
  std::vector<int> state = first_states(S, T, isolated), order(S.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return key_of(T, i) > key_of(T, j); });
  for (std::size_t i = 0; i < S.size(); i++) {
    if (state[i] == coarse) {
      for (int k : T[i]) state[k] = fine;
    }
  }
  for (int i : order) {
    if (state[i] != undecided) continue;
    state[i] = coarse;
    for (int k : T[i]) {
      if (state[k] == undecided) state[k] = fine;
    }
  }
  return coarse_of(state);
}

template <class Ex> auto splitting(Ex &ex, Isolated isolated)
{
  return [&ex, isolated](const DistGraph<Ex> &G, Array<unsigned char, Ex> &coarse_points) { return pmis(ex, G, isolated, coarse_points); };
}
} // namespace

// That the header's rounds are the greedy method, and what both promise.
TEST(PmisDefinition, RoundsAreGreedy)
{
  for (const auto &[name, A] : graphs()) {
    const Neighbours S = neighbours_of(A), T = transposed(S);
    for (const Isolated isolated : {Isolated::fine, Isolated::coarse}) {
      const Flags C = greedy(S, isolated);
      EXPECT_EQ(C, by_rounds(S, isolated)) << name;
      for (int i = 0; i < A.rows; i++) {
        const auto is_coarse = [&](int j) { return C[j] != 0; };
        const bool reached = std::any_of(S[i].begin(), S[i].end(), is_coarse);
        if (S[i].empty()) {
          EXPECT_EQ(C[i], isolated == Isolated::coarse) << name;
        } else if (T[i].empty()) {
          EXPECT_FALSE(C[i]) << name;
        } else { // maximal
          EXPECT_TRUE(C[i] || reached) << name;
        }
        for (int j : S[i]) { // independent
          if (C[i] && C[j]) {
            EXPECT_TRUE(key_of(T, i) > key_of(T, j) && std::count(S[j].begin(), S[j].end(), i) == 0) << name;
          }
        }
      }
    }
  }
}

TYPED_TEST(Pmis, IsGreedyOnAnyNumberOfRanks)
{
  for (const auto &[name, A] : graphs()) {
    SCOPED_TRACE(name);
    for (const Isolated isolated : {Isolated::fine, Isolated::coarse}) {
      Flags all;
      flags_everywhere(this->ex, A, splitting(this->ex, isolated), all);
      EXPECT_EQ(all, greedy(neighbours_of(A), isolated));
    }
  }
}

// So many that the undecided ones are listed within a round.
TYPED_TEST(Pmis, IsGreedyOnAMillionPoints)
{
  const Neighbours S = ladder(1 << 20);
  Flags all;
  flags_everywhere(this->ex, matrix_of(S), splitting(this->ex, Isolated::fine), all);
  EXPECT_TRUE(all == greedy(S, Isolated::fine));
}

// On the strong entries of matrices, as amgclassical uses it.
TYPED_TEST(Pmis, OfStrongCouplings)
{
  for (auto [name, A] : gallery()) {
    SCOPED_TRACE(name);
    HostCsr strong = A; // 1 where a_ij is strong
    for (int i = 0; i < A.rows; i++) {
      double least = 0;
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) least = A.col[k] == i ? least : std::min(least, A.val[k]);
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) strong.val[k] = A.col[k] != i && A.val[k] < 0.25 * least;
    }
    for (const PetscInt local_rows : layouts(A.rows)) {
      DistributedGraph<TypeParam> problem;
      Flags all;
      OK(problem.create(this->ex, A, local_rows));
      OK(problem.mark_strong(this->ex, {0.25, 1}));
      OK(flags_of(this->ex, problem.G, splitting(this->ex, Isolated::fine), all));
      EXPECT_EQ(all, greedy(neighbours_of(strong), Isolated::fine));
    }
  }
}

// Without marks every entry is an edge: the second pass of aggressive coarsening.
TYPED_TEST(Pmis, OfAPatternWithoutMarks)
{
  Neighbours S = neighbours_of(random_graph(150, 500, 21, false));
  for (int i : {3, 50, 149}) S[i].clear();
  HostCsr A = matrix_of(S);
  std::map<std::pair<int, int>, double> edges; // no diagonal
  for (int i = 0; i < A.rows; i++) {
    for (int j : S[i]) edges[{i, j}] = 0;
  }
  A = make_csr(A.rows, A.cols, edges);
  for (const PetscInt local_rows : layouts(A.rows)) {
    DistributedGraph<TypeParam> problem;
    Flags all;
    OK(problem.create(this->ex, A, local_rows));
    problem.G = graph_of<TypeParam>(problem.A, nullptr, nullptr);
    OK(flags_of(this->ex, problem.G, splitting(this->ex, Isolated::coarse), all));
    EXPECT_EQ(all, greedy(S, Isolated::coarse));
    for (int i : {3, 50, 149}) EXPECT_EQ(all[i], 1);
  }
}

// 0 -> 1 <-> 2 <-> 3, 4 -> 1, 5 alone: m = 0 3 2 1 0 0. 1 is C, 0, 2 and 4 are F, then 3 is C.
TYPED_TEST(Pmis, ByHand)
{
  const HostCsr A = matrix_of({{1}, {2}, {1, 3}, {2}, {1}, {}});
  Flags all, kept;
  flags_everywhere(this->ex, A, splitting(this->ex, Isolated::fine), all);
  EXPECT_EQ(all, (Flags{0, 1, 0, 1, 0, 0}));
  flags_everywhere(this->ex, A, splitting(this->ex, Isolated::coarse), kept);
  EXPECT_EQ(kept, (Flags{0, 1, 0, 1, 0, 1}));
}

// A path whose keys rise: i further points depend on point i, one more on the last. One point can be decided after the other only.
TYPED_TEST(Pmis, APathOfRisingKeysEnds)
{
  constexpr int n = 50;
  Neighbours S(n);
  for (int i = 0; i < n; i++) {
    if (i > 0) S[i].push_back(i - 1);
    if (i + 1 < n) S[i].push_back(i + 1);
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < (i == n - 1 ? n : i); k++) S.push_back({i});
  }
  Flags expected(S.size(), 0), all;
  for (int i = 0; i < n; i++) expected[i] = (n - 1 - i) % 2 == 0;
  flags_everywhere(this->ex, matrix_of(S), splitting(this->ex, Isolated::fine), all);
  EXPECT_EQ(all, expected);
}

// Pairs of points with the same measure whose hashes begin with the same 30 bits: the rest decides.
TYPED_TEST(Pmis, NearTiesAreDecidedByTheWholeHash)
{
  constexpr int n = 100000;
  std::unordered_map<std::uint64_t, int> seen;
  Neighbours S(n);
  Flags expected(n, 0);
  int pairs = 0;
  for (int i = 0; i < n; i++) {
    const auto [at, fresh] = seen.try_emplace(hash64(static_cast<std::uint64_t>(i)) >> 34, i);
    if (fresh) continue;
    const int j = at->second;
    S[i] = {j};
    S[j] = {i};
    expected[hash64(static_cast<std::uint64_t>(i)) > hash64(static_cast<std::uint64_t>(j)) ? i : j] = 1;
    pairs++;
  }
  EXPECT_GE(pairs, 2);
  Flags all;
  flags_everywhere(this->ex, matrix_of(S), splitting(this->ex, Isolated::fine), all);
  EXPECT_EQ(all, expected);
}

// On the device the order of the decisions differs from run to run; the result must not.
TYPED_TEST(Pmis, RepeatsItself)
{
  const HostCsr A = random_graph(20000, 90000, 9, false);
  DistributedGraph<TypeParam> problem;
  Flags first, all;
  OK(problem.create(this->ex, A, -1));
  OK(problem.mark_couplings(this->ex));
  OK(flags_of(this->ex, problem.G, splitting(this->ex, Isolated::fine), first));
  EXPECT_EQ(first, greedy(neighbours_of(A), Isolated::fine));
  for (int run = 0; run < 5; run++) {
    OK(flags_of(this->ex, problem.G, splitting(this->ex, Isolated::fine), all));
    ASSERT_EQ(all, first);
  }
}

// Numbers of C points rise with the global index, on their owners and where they are ghosts.
TYPED_TEST(Pmis, CoarsePointsAreNumberedInOrder)
{
  for (const auto &[name, A] : graphs()) {
    SCOPED_TRACE(name);
    for (const PetscInt local_rows : layouts(A.rows)) {
      DistributedGraph<TypeParam> problem;
      CoarsePoints<TypeParam> points;
      Flags mine;
      OK(problem.create(this->ex, A, local_rows));
      const int rank = rank_of_world(), n = problem.A.rows;
      const auto first = problem.A.range.first();
      for (int i = 0; i < n; i++) mine.push_back((first + i) % 7 == 2 || (first + i) % 5 == 0);
      const auto coarse_points = this->to_space(mine);
      problem.G = graph_of<TypeParam>(problem.A, nullptr, nullptr);
      OK(number_coarse_points(this->ex, problem.G, coarse_points.data(), points));
      const Flags all = all_of(mine);
      std::vector<std::uint64_t> expected(all.size()), ghosts;
      std::uint64_t next = 0;
      for (std::size_t i = 0; i < all.size(); i++) expected[i] = all[i] ? next++ : no_key;
      EXPECT_EQ(points.range.back(), static_cast<PetscInt>(next));
      EXPECT_EQ(points.count, points.range[rank + 1] - points.range[rank]);
      const auto number = this->to_host(points.number);
      for (int i = 0; i < n; i++) {
        const std::uint64_t got = number[i] < 0 ? no_key : static_cast<std::uint64_t>(points.range[rank] + number[i]);
        ASSERT_EQ(got, expected[first + i]);
      }
      for (const PetscInt g : problem.A.ghosts) ghosts.push_back(expected[g]);
      EXPECT_EQ(this->to_host(points.ghosts), ghosts);
    }
  }
}

TYPED_TEST(Pmis, CoarsePointsInheritWhatTheirRowsSay)
{
  const auto number = this->to_space(std::vector<int>{-1, 0, -1, 1, 2, -1}), x = this->to_space(std::vector<int>{0, 1, 2, 0, 1, 2});
  auto coarse_x = this->to_space(std::vector<int>(3, -1));
  OK(inject(this->ex, 6, number.data(), x.data(), coarse_x.data()));
  EXPECT_EQ(this->to_host(coarse_x), (std::vector<int>{1, 0, 1}));
}

using PmisFailure = FailingGraph;
// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST_F(PmisFailure, EveryAllocationMayFailOnOneRank)
{
  for (bool more = true; more;) {
    Array<unsigned char, Debug> coarse_points;
    CoarsePoints<Debug> points;
    more = failing.run(ex, [&] {
      PetscFunctionBegin;
      PetscCall(pmis(ex, graph(), Isolated::fine, coarse_points));
      PetscCall(number_coarse_points(ex, graph(), coarse_points.data(), points));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  EXPECT_GE(failing.failures(), 5);
}
} // namespace amgkit::test
