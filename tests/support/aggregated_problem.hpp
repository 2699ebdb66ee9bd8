// Matrices of nodes with bs unknowns each, prolongators from aggregates with m columns each, and strong couplings of nodes, all random.
#pragma once
#include "base/hash.hpp"
#include "graph/strength.hpp"
#include "support/coarse_problem.hpp"
#include "support/prolongator_entries.hpp"

#include <cmath>

namespace amgkit::test
{
struct AggregatedProblem {
  CoarseProblem matrices; // P: the tentative prolongator
  int bs = 1, m = 1;
  HostCsr nodes;           // the pattern of A's blocks
  std::vector<double> B_c; // m numbers a column of P

  std::string name() const { return matrices.name + ", bs " + std::to_string(bs) + ", m " + std::to_string(m); }
};

inline double random_value(std::mt19937 &random) { return static_cast<double>(random() % 1999) / 1000 - 0.999; }
inline bool strongly_coupled(int I, int J) { return hash64(static_cast<std::uint64_t>(std::min(I, J)) * 4096 + std::max(I, J)) % 3 > 0; }

// Every node has a block of up to `most` aggregates, none in every fifth node; rows of a node have the same blocks if they are `even`.
inline HostCsr random_blocks(int nodes, int aggregates, int bs, int m, int most, bool even, unsigned seed)
{
  std::mt19937 random(seed);
  std::map<std::pair<int, int>, double> entries;
  for (int I = 0; I < nodes && aggregates > 0; I++) {
    for (int t = I % 5 == 4 ? 0 : 1 + static_cast<int>(random() % most); t > 0; t--) {
      const int near = static_cast<int>(std::int64_t{I} * aggregates / nodes);
      const int J = random() % 4 == 0 ? static_cast<int>(random() % aggregates) : near;
      const double size = std::pow(10, random_value(random));
      for (int p = 0; p < bs; p++) {
        if (!even && random() % 8 == 0) continue;
        for (int q = 0; q < m; q++) entries[{I * bs + p, J * m + q}] = size * random_value(random);
      }
    }
  }
  return make_csr(nodes * bs, aggregates * m, entries);
}

// Near the identity for every aggregate; of every seventh the last column is that before it, or 0.
inline std::vector<double> random_near_null(int aggregates, int m, unsigned seed)
{
  std::mt19937 random(seed);
  std::vector<double> B_c;
  for (int J = 0; J < aggregates; J++) {
    for (int i = 0; i < m; i++) {
      for (int c = 0; c < m; c++) B_c.push_back((i == c ? 1 : 0) + 0.3 * random_value(random) / m);
      if (J % 7 == 3) B_c.back() = m > 1 ? B_c[B_c.size() - 2] : 0;
    }
  }
  return B_c;
}

// The pattern of nodes with random blocks, of which some entries are missing. Diagonals, if any, are 1 to 3 or, in row 5, 0; rows 3 and
// 8 have none.
inline HostCsr random_blocks_on(const HostCsr &graph, int bs, unsigned seed)
{
  std::mt19937 random(seed);
  std::map<std::pair<int, int>, double> entries;
  for (int I = 0; I < graph.rows; I++) {
    for (int k = graph.ptr[I]; k < graph.ptr[I + 1]; k++) {
      for (int e = 0; e < bs * bs; e++) {
        const int i = I * bs + e / bs, j = graph.col[k] * bs + e % bs;
        if (i != j && random() % 6 > 0) entries[{i, j}] = random_value(random);
        if (i == j && i != 3 && i != 8) entries[{i, j}] = i == 5 ? 0 : 1 + std::abs(2 * random_value(random));
      }
    }
  }
  return make_csr(graph.rows * bs, graph.rows * bs, entries);
}

inline HostCsr nodes_of(const HostCsr &A, int bs)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{i / bs, A.col[k] / bs}] = i / bs == A.col[k] / bs ? 1 : -1;
  }
  return make_csr(A.rows / bs, A.rows / bs, entries);
}

inline AggregatedProblem aggregated(const std::string &name, const HostCsr &A, int bs, int m, int aggregates)
{
  return {{name, A, random_blocks(A.rows / bs, aggregates, bs, m, 1, true, 1)}, bs, m, nodes_of(A, bs), random_near_null(aggregates, m, 2)};
}

inline std::vector<AggregatedProblem> aggregated_problems()
{
  std::vector<AggregatedProblem> problems;
  for (const auto &[name, graph] : gallery()) {
    if (graph.rows <= 40) problems.push_back(aggregated(name, random_blocks_on(graph, 2, 3), 2, 3, graph.rows / 3));
  }
  for (const int bs : {1, 2, 3}) {
    for (const int m : {1, 2, 3, 6}) {
      const HostCsr graph = random_graph(30, 60, static_cast<unsigned>(10 * bs + m), m != 2);
      problems.push_back(aggregated("random", random_blocks_on(graph, bs, static_cast<unsigned>(m)), bs, m, 9));
    }
  }
  problems.push_back(aggregated("dense", random_blocks_on(random_graph(40, 400, 5), 1, 5), 1, 2, 9));
  problems.push_back(aggregated("one-sided", random_blocks_on(one_sided(grid7(5, 4, 2)), 2, 4), 2, 3, 9));
  problems.push_back(aggregated("no aggregate", grid7(4, 4, 1), 1, 2, 0));
  problems.push_back(aggregated("empty A", make_csr(12, 12, {}), 2, 3, 3));
  return problems;
}

// This rank's part of a problem.
template <class Ex> struct DistributedAggregates {
  int bs, m;
  DistributedProblem<Ex> fine, nodes;
  CoarseBlocks<Ex> T;
  Strength<Ex> strong;
  Array<double, Ex> B_c;

  DistributedAggregates(const AggregatedProblem &problem, Split of_rows, Split of_points)
      : bs(problem.bs), m(problem.m), fine(problem.matrices, of_rows, of_points, problem.bs, problem.m),
        nodes({"", problem.nodes, make_csr(problem.nodes.rows, 0, {})}, of_rows, of_points), whole_B_(problem.B_c)
  {}
  PetscErrorCode create(Ex &ex)
  {
    const int rank = rank_of_world(), first = nodes.first_row(), end = first + static_cast<int>(nodes.rows[rank + 1] - nodes.rows[rank]);
    const SplitMatrix split(nodes.whole_A, first, end, first, end);

    PetscFunctionBegin;
    PetscCall(fine.distribute(ex));
    PetscCall(nodes.distribute(ex));
    PetscCall(take_prolongator(ex));
    PetscCall(mark(ex, split.own, strong.diag));
    PetscCall(mark(ex, split.other, strong.offd));
    PetscCall(amgkit::upload(
        ex, std::vector<double>(whole_B_.begin() + fine.points[rank] * m, whole_B_.begin() + fine.points[rank + 1] * m), B_c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // T once more
  PetscErrorCode take_prolongator(Ex &ex)
  {
    PetscFunctionBegin;
    T.first = fine.first_point();
    PetscCall(fine.set_prolongator(ex, T.diag, T.offd, T.ghosts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode entries_of(Ex &ex, const CoarseBlocks<Ex> &P, Entries &all) const
  {
    EXPECT_EQ(P.diag.rows, fine.A.rows);
    EXPECT_EQ(P.diag.cols, static_cast<int>(fine.points[rank_of_world() + 1] - fine.points[rank_of_world()]));
    EXPECT_EQ(P.first, fine.first_point());
    return test::entries_of(ex, P, fine.first_row(), all);
  }

private:
  PetscErrorCode mark(Ex &ex, const std::vector<int> &positions, Array<unsigned char, Ex> &marks) const
  {
    const HostCsr &N = nodes.whole_A;
    Flags flags;
    PetscFunctionBegin;
    for (const int k : positions) {
      const int I = static_cast<int>(std::upper_bound(N.ptr.begin(), N.ptr.end(), k) - N.ptr.begin()) - 1;
      flags.push_back(I != N.col[k] && strongly_coupled(I, N.col[k]));
    }
    PetscCall(amgkit::upload(ex, flags, marks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<double> whole_B_;
};

// f(how rows and aggregates are distributed), on one rank once
template <class F> void for_splits(F f)
{
  constexpr std::pair<Split, Split> all[] = {
      {Split::even, Split::even}, {Split::gap, Split::even}, {Split::even, Split::last}, {Split::last, Split::gap}};
  for (const auto &[rows, points] : all) {
    f(rows, points);
    if (::testing::Test::HasFatalFailure() || size_of_world() == 1) return;
  }
}

// (P B_c)_ic
inline Entries times(const Entries &P, const std::vector<double> &B_c, int m)
{
  Entries product;
  for (const auto &[where, value] : P) {
    for (int c = 0; c < m; c++) product[{where.first, c}] += value * B_c[static_cast<std::size_t>(where.second) * m + c];
  }
  return product;
}
// The same entries, and their values nearly the same.
inline void expect_same(const Entries &got, const Entries &expected, double tolerance, const std::string &name)
{
  ASSERT_EQ(got.size(), expected.size()) << name;
  for (auto a = got.begin(), b = expected.begin(); a != got.end(); ++a, ++b) {
    ASSERT_EQ(a->first, b->first) << name;
    ASSERT_NEAR(a->second, b->second, tolerance * (1 + std::abs(b->second))) << name << " " << a->first.first << ", " << a->first.second;
  }
}
} // namespace amgkit::test
