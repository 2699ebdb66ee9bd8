#include "graph/tentative.hpp"

#include "support/coarse_problem.hpp"
#include "support/failing_allocations.hpp"
#include "support/prolongator_entries.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using TentativeTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(TentativeTest, Spaces, SpaceName);

namespace
{
// Nodes of bs rows, the aggregate of each (-1: none), and m vectors; the same on every rank.
struct Aggregated {
  int bs = 1, m = 1, aggregates = 0;
  std::vector<int> aggregate;
  std::vector<double> B;

  int nodes() const { return static_cast<int>(aggregate.size()); }
  double &at(int row, int k) { return B[static_cast<std::size_t>(row) * m + k]; }
  double at(int row, int k) const { return B[static_cast<std::size_t>(row) * m + k]; }
  std::vector<int> rows_of(int I) const
  {
    std::vector<int> rows;
    for (int i = 0; i < nodes() * bs; i++) {
      if (aggregate[i / bs] == I) rows.push_back(i);
    }
    return rows;
  }
};

// Aggregates of about five nodes that are not all neighbours, some empty perhaps; every ninth node in none.
Aggregated random_aggregates(int nodes, int bs, int m, unsigned seed)
{
  std::mt19937 random(seed);
  Aggregated P{bs, m, nodes / 5, {}, {}};
  for (int i = 0; i < nodes; i++) {
    const int near = i * P.aggregates / nodes + static_cast<int>(random() % 3) - 1;
    P.aggregate.push_back(i % 9 == 4 || P.aggregates == 0 ? -1 : std::clamp(near, 0, P.aggregates - 1));
  }
  for (int k = 0; k < nodes * bs * m; k++) P.B.push_back(static_cast<double>(random() % 1999) / 1000 - 0.999);
  return P;
}

// Rigid body modes of nodes in space, 3 rows each.
Aggregated rigid_body(const std::vector<std::array<double, 3>> &nodes, const std::vector<int> &aggregate)
{
  Aggregated P{3, 6, *std::max_element(aggregate.begin(), aggregate.end()) + 1, aggregate, std::vector<double>(18 * nodes.size())};
  for (int I = 0; I < P.nodes(); I++) {
    const auto [x, y, z] = nodes[I];
    for (int c = 0; c < 3; c++) P.at(3 * I + c, c) = 1;
    P.at(3 * I + 1, 3) = -z;
    P.at(3 * I + 2, 3) = y;
    P.at(3 * I, 4) = z;
    P.at(3 * I + 2, 4) = -x;
    P.at(3 * I, 5) = -y;
    P.at(3 * I + 1, 5) = x;
  }
  return P;
}
// Cubes of 27 nodes, some cut off at the end, of a grid far from the origin.
Aggregated far_grid(int n, double away)
{
  std::vector<std::array<double, 3>> nodes;
  std::vector<int> aggregate;
  const int cubes = (n + 2) / 3;
  for (int i = 0; i < n * n * n; i++) {
    const int x = i % n, y = i / n % n, z = i / n / n;
    nodes.push_back({x + away, y - 2 * away, z + 3 * away});
    aggregate.push_back((z / 3 * cubes + y / 3) * cubes + x / 3);
  }
  return rigid_body(nodes, aggregate);
}

// T, B_c and the marks of zero columns on every rank.
struct Result {
  Entries T;
  std::vector<double> coarse;
  std::vector<unsigned char> zero;
  std::int64_t dropped = 0;
  double at(int i, int j) const
  {
    const auto entry = T.find({i, j});
    return entry == T.end() ? 0 : entry->second;
  }
};
template <class T> std::vector<T> of_all_ranks(const std::vector<T> &mine, MPI_Datatype type)
{
  int n = static_cast<int>(mine.size());
  std::vector<int> count(size_of_world()), at(size_of_world() + 1, 0);
  MPI_Allgather(&n, 1, MPI_INT, count.data(), 1, MPI_INT, PETSC_COMM_WORLD);
  std::partial_sum(count.begin(), count.end(), at.begin() + 1);
  std::vector<T> all(at.back());
  MPI_Allgatherv(mine.data(), n, type, all.data(), count.data(), at.data(), type, PETSC_COMM_WORLD);
  return all;
}

// This rank's part of a problem.
template <class Ex> struct Made {
  std::vector<PetscInt> nodes;
  NodeAggregates<Ex> aggregates;
  NearNull<Ex> B;
  Tentative<Ex> tentative;

  PetscErrorCode distribute(Ex &ex, const Aggregated &from, Split of_nodes, Split of_aggregates)
  {
    const int rank = rank_of_world();
    std::vector<int> id;
    nodes = split_range(of_nodes, from.nodes());
    const PetscInt first = nodes[rank], end = nodes[rank + 1];

    PetscFunctionBegin;
    aggregates.range = split_range(of_aggregates, from.aggregates);
    const PetscInt first_own = aggregates.range[rank], end_own = aggregates.range[rank + 1];
    aggregates.count = static_cast<int>(end_own - first_own);
    std::vector<PetscInt> &ghosts = aggregates.ghosts;
    const auto own = [=](int I) { return I >= first_own && I < end_own; };
    for (PetscInt i = first; i < end; i++) {
      if (from.aggregate[i] >= 0 && !own(from.aggregate[i])) ghosts.push_back(from.aggregate[i]);
    }
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    for (PetscInt i = first; i < end; i++) {
      const int I = from.aggregate[i];
      const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), I) - ghosts.begin();
      id.push_back(I < 0 ? -1 : static_cast<int>(own(I) ? I - first_own : aggregates.count + ghost));
    }
    B.m = from.m;
    PetscCall(upload(ex, id, aggregates.id));
    PetscCall(upload(ex, std::vector<double>(from.B.begin() + first * from.bs * from.m, from.B.begin() + end * from.bs * from.m), B.B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode create(Ex &ex, int bs) { return tentative_prolongator(ex, PETSC_COMM_WORLD, aggregates, bs, B, tentative); }
  PetscErrorCode gather(Ex &ex, int bs, Result &all)
  {
    const int m = B.m, rank = rank_of_world();
    std::vector<double> coarse;
    std::vector<unsigned char> zero;

    PetscFunctionBegin;
    EXPECT_EQ(tentative.T.diag.rows, (nodes[rank + 1] - nodes[rank]) * bs);
    EXPECT_EQ(tentative.T.diag.cols, m * aggregates.count);
    EXPECT_EQ(tentative.T.first, m * aggregates.range[rank]);
    PetscCall(test::entries_of(ex, tentative.T, nodes[rank] * bs, all.T));
    EXPECT_EQ(tentative.coarse.m, m);
    PetscCall(download(ex, tentative.coarse.B.data(), tentative.coarse.B.size(), coarse));
    PetscCall(download(ex, tentative.zero.data(), tentative.zero.size(), zero));
    EXPECT_EQ(tentative.dropped, std::count(zero.begin(), zero.end(), 1));
    all.coarse = of_all_ranks(coarse, MPI_DOUBLE);
    all.zero = of_all_ranks(zero, MPI_UNSIGNED_CHAR);
    all.dropped = std::count(all.zero.begin(), all.zero.end(), 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
template <class Ex> void make(Ex &ex, const Aggregated &from, Split of_nodes, Split of_aggregates, Result &result)
{
  Made<Ex> made;
  OK(made.distribute(ex, from, of_nodes, of_aggregates));
  OK(made.create(ex, from.bs));
  OK(made.gather(ex, from.bs, result));
}

// Gram-Schmidt, one column after the other, of an aggregate's rows. least: the smallest part of a column that was left.
struct Textbook {
  using Number = long double;
  std::vector<std::vector<Number>> T, R;
  double least = 1;

  Textbook(const Aggregated &P, const std::vector<int> &rows)
      : T(P.m, std::vector<Number>(rows.size())), R(P.m, std::vector<Number>(P.m, 0))
  {
    const auto dot = [](const auto &a, const auto &b) { return std::inner_product(a.begin(), a.end(), b.begin(), Number{0}); };
    for (int k = 0; k < P.m; k++) {
      for (std::size_t i = 0; i < rows.size(); i++) T[k][i] = P.at(rows[i], k);
      const Number before = std::sqrt(dot(T[k], T[k]));
      for (int j = 0; j < 2 * k; j++) {
        const Number h = dot(T[j % k], T[k]);
        for (std::size_t i = 0; i < rows.size(); i++) T[k][i] -= h * T[j % k][i];
        R[j % k][k] += h;
      }
      const Number norm = std::sqrt(dot(T[k], T[k]));
      const bool dependent = norm <= dependent_below * before;
      R[k][k] = dependent ? 0 : norm;
      for (Number &t : T[k]) t = dependent ? 0 : t / norm;
      if (!dependent) least = std::min(least, static_cast<double>(norm / before));
    }
  }
};

// The pattern, B = T B_c, TᵀT = I, and the textbook's numbers, as far as rounding leaves them alone, for one aggregate.
void expect_aggregate(const Aggregated &P, const Result &got, int I)
{
  const std::vector<int> rows = P.rows_of(I);
  const Textbook textbook(P, rows);
  const auto R = [&](int l, int k) { return got.coarse[(static_cast<std::size_t>(I) * P.m + l) * P.m + k]; };
  for (int k = 0; k < P.m; k++) {
    double norm = 0;
    for (const int i : rows) norm += P.at(i, k) * P.at(i, k);
    norm = std::sqrt(norm);
    const bool zero = got.zero[I * P.m + k] != 0;
    ASSERT_EQ(zero, textbook.R[k][k] == 0);
    ASSERT_EQ(zero, R(k, k) == 0);
    for (int l = 0; l < P.m; l++) {
      double product = 0;
      for (const int i : rows) product += got.at(i, I * P.m + k) * got.at(i, I * P.m + l);
      ASSERT_NEAR(product, k == l && !zero ? 1 : 0, 1e-13) << "columns " << k << ", " << l;
      ASSERT_NEAR(R(l, k), textbook.R[l][k], 1e-14 * norm / textbook.least);
    }
    for (std::size_t t = 0; t < rows.size(); t++) {
      double product = 0;
      for (int l = 0; l < P.m; l++) product += got.at(rows[t], I * P.m + l) * R(l, k);
      ASSERT_NEAR(product, P.at(rows[t], k), 1e-14 * norm) << "row " << rows[t] << ", vector " << k;
      ASSERT_EQ(got.T.count({rows[t], I * P.m + k}), 1U);
      ASSERT_NEAR(got.at(rows[t], I * P.m + k), textbook.T[k][t], 1e-14 / textbook.least);
      ASSERT_TRUE(!zero || got.at(rows[t], I * P.m + k) == 0);
    }
  }
}
void expect_tentative(const Aggregated &P, const Result &got)
{
  const auto in_none = std::count(P.aggregate.begin(), P.aggregate.end(), -1);
  ASSERT_EQ(got.T.size(), static_cast<std::size_t>(P.nodes() - in_none) * P.bs * P.m);
  ASSERT_EQ(got.coarse.size(), static_cast<std::size_t>(P.aggregates) * P.m * P.m);
  ASSERT_EQ(got.zero.size(), static_cast<std::size_t>(P.aggregates) * P.m);
  for (int I = 0; I < P.aggregates; I++) {
    SCOPED_TRACE("aggregate " + std::to_string(I));
    expect_aggregate(P, got, I);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// In every distribution, one of which leaves all to one rank.
template <class Ex> void expect_tentative(Ex &ex, const Aggregated &P, std::int64_t dropped = -1)
{
  for (const Split nodes : {Split::even, Split::gap, Split::last}) {
    for (const Split aggregates : {Split::even, Split::gap, Split::last}) {
      Result got;
      make(ex, P, nodes, aggregates, got);
      if (!::testing::Test::HasFatalFailure()) expect_tentative(P, got);
      if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "bs " << P.bs << ", m " << P.m << ", split " << static_cast<int>(nodes) << ", " << static_cast<int>(aggregates);
        return;
      }
      EXPECT_TRUE(dropped < 0 || got.dropped == dropped) << got.dropped;
    }
  }
}
} // namespace

TYPED_TEST(TentativeTest, IsTheTextbooks)
{
  for (const int bs : {1, 2, 3}) {
    for (const int m : {1, 2, 3, 6}) {
      expect_tentative(this->ex, random_aggregates(64, bs, m, static_cast<unsigned>(10 * bs + m)));
      if (this->HasFatalFailure()) return;
    }
  }
  expect_tentative(this->ex, random_aggregates(150, 1, 11, 7));
}

// Ascending in each piece, those of no piece last
TYPED_TEST(TentativeTest, NodesAreListedByTheirPieces)
{
  struct Case {
    std::vector<int> of_nodes;
    int pieces;
    std::vector<int> ptr, node;
  };
  const Case cases[] = {{{-1, 2, 0, -1, 2, 1, 0, -1}, 4, {0, 2, 3, 5, 5}, {2, 6, 5, 1, 4, 0, 3, 7}},
                        {{-1, -1}, 0, {0}, {0, 1}},
                        {{-1}, 2, {0, 0, 0}, {0}},
                        {{}, 1, {0, 0}, {}}};
  for (const auto &[of_nodes, pieces, begins, nodes] : cases) {
    auto id = this->to_space(of_nodes);
    Array<int, TypeParam> ptr, node;
    OK(ptr.allocate(this->ex, pieces + 1));
    OK(node.allocate(this->ex, id.size()));
    OK(nodes_of_pieces(this->ex, id, pieces, ptr.data(), node.data()));
    EXPECT_EQ(this->to_host(ptr), begins);
    EXPECT_EQ(this->to_host(node), nodes);
  }
}

TYPED_TEST(TentativeTest, OneVectorIsDividedByItsNorm)
{
  const Aggregated P = random_aggregates(50, 1, 1, 1);
  Result got;
  make(this->ex, P, Split::even, Split::gap, got);
  for (const auto &[place, t] : got.T) {
    double square = 0;
    for (const int i : P.rows_of(place.second)) square += P.B[i] * P.B[i];
    EXPECT_NEAR(t, P.B[place.first] / std::sqrt(square), 1e-15);
    EXPECT_NEAR(got.coarse[place.second], std::sqrt(square), 1e-14);
  }
}

// One projection would leave errors of 1e-10.
TYPED_TEST(TentativeTest, RigidBodyModesFarFromTheOrigin)
{
  const std::int64_t of_lines_and_corner = 6 * 1 + 3;
  expect_tentative(this->ex, far_grid(7, 0), of_lines_and_corner);
  expect_tentative(this->ex, far_grid(7, 1000), of_lines_and_corner);
  Result got;
  make(this->ex, far_grid(6, 1e5), Split::even, Split::even, got);
  expect_tentative(far_grid(6, 1e5), got);
}

// One node has three of the six modes, two nodes and nodes in line five.
TYPED_TEST(TentativeTest, SmallAggregatesHaveFewerColumns)
{
  const std::vector<std::array<double, 3>> nodes = {{1, 2, 3}, {4, 6, 5}, {-1, 0, 2}, {3, 3, 3}, {5, 4, 4},
                                                    {7, 5, 5}, {0, 1, 0}, {2, 0, 0},  {0, 0, 3}};
  expect_tentative(this->ex, rigid_body(nodes, {0, 1, 1, 2, 2, 2, 3, 3, 3}), 3 + 1 + 1 + 0);
  expect_tentative(this->ex, rigid_body(nodes, {1, 0, 3, 2, 2, 2, 3, 1, 3}), 3 + 1 + 1 + 0);
}

TYPED_TEST(TentativeTest, DependentVectorsAreDropped)
{
  Aggregated P = random_aggregates(60, 2, 4, 5), Q = random_aggregates(60, 3, 3, 6);
  for (int i = 0; i < P.nodes() * P.bs; i++) P.at(i, 2) = 3 * P.at(i, 1) - P.at(i, 0) / 7;
  expect_tentative(this->ex, P, P.aggregates);
  for (int i = 0; i < Q.nodes() * Q.bs; i++) { // nearly dependent, and not zero
    Q.at(i, 1) = Q.at(i, 0) + 1e-7 * Q.at(i, 1);
    Q.at(i, 2) *= 1e-110;
  }
  expect_tentative(this->ex, Q, 0);
}

TYPED_TEST(TentativeTest, VectorsMayVanishOnAnAggregate)
{
  Aggregated P = random_aggregates(60, 2, 3, 8);
  for (int i = 0; i < P.nodes() * P.bs; i++) {
    const int I = P.aggregate[i / P.bs];
    if (I == 2 || I == 7) P.at(i, 0) = 0;
    if (I == 7) P.at(i, 1) = P.at(i, 2) = 0;
  }
  expect_tentative(this->ex, P, 4);
}

TYPED_TEST(TentativeTest, ThereMayBeNoNodesAndNoAggregates)
{
  for (const int nodes : {0, 1, 4, 5}) expect_tentative(this->ex, random_aggregates(nodes, 2, 3, 9));
  Aggregated P = random_aggregates(30, 2, 3, 9);
  P.aggregates = 9; // three of them empty
  expect_tentative(this->ex, P, 9);
  P.aggregate.assign(30, -1);
  expect_tentative(this->ex, P, 27);
  P.aggregates = 0;
  expect_tentative(this->ex, P, 0);
  P.aggregates = 1;
  P.aggregate.assign(30, 0);
  expect_tentative(this->ex, P, 0);
}

// T and B_c of one rank and of several.
TYPED_TEST(TentativeTest, IsTheSameInEveryDistribution)
{
  const Aggregated P = far_grid(5, 0);
  Result expected;
  make(this->ex, P, Split::last, Split::last, expected);
  for (const Split nodes : {Split::even, Split::gap}) {
    Result got;
    make(this->ex, P, nodes, Split::even, got);
    ASSERT_EQ(got.T.size(), expected.T.size());
    ASSERT_EQ(got.zero, expected.zero);
    for (const auto &[place, t] : expected.T) ASSERT_NEAR(got.T.at(place), t, 1e-14);
    for (std::size_t k = 0; k < expected.coarse.size(); k++) ASSERT_NEAR(got.coarse[k], expected.coarse[k], 1e-13);
  }
}

TEST(TentativeFailure, EveryAllocationMayFailOnOneRank)
{
  const Aggregated P = random_aggregates(40, 2, 3, 4);
  FailingAllocations failing;
  for (bool more = true; more;) {
    Debug ex;
    Made<Debug> made;
    OK(made.distribute(ex, P, Split::even, Split::even));
    more = failing.run(ex, [&] { return made.create(ex, P.bs); });
  }
  EXPECT_GE(failing.failures(), size_of_world() > 1 ? 18 : 12);
}

TEST(TentativeFailure, ANearNullSpaceOfAnotherLengthIsAnErrorOnEveryRank)
{
  Debug ex;
  Made<Debug> made;
  OK(made.distribute(ex, random_aggregates(40, 2, 3, 4), Split::even, Split::even));
  if (rank_of_world() == size_of_world() - 1) {
    OK(made.B.B.allocate(ex, 7));
  }
  EXPECT_EQ(static_cast<int>(quietly([&] { return made.create(ex, 2); })), PETSC_ERR_ARG_SIZ);
}
} // namespace amgkit::test
