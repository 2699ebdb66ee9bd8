#include "graph/node_matrix.hpp"

#include "graph/mis.hpp"
#include "graph/symmetric_strength.hpp"
#include "support/distributed_graph.hpp"
#include "support/failing_allocations.hpp"
#include "support/prolongator_entries.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace amgkit::test
{
template <class Ex> using NodeMatrix = SpaceTest<Ex>;
TYPED_TEST_SUITE(NodeMatrix, Spaces, SpaceName);

namespace
{
// This rank's rows in several distributions of whole nodes: even ones, one with a rank without rows, all on the last rank.
std::vector<PetscInt> layouts_of_nodes(int nodes, int bs)
{
  std::vector<PetscInt> all = layouts(nodes);
  const int rank = rank_of_world(), size = size_of_world();
  all[0] = nodes / size + (rank < nodes % size);
  for (PetscInt &rows : all) rows *= bs;
  return all;
}

// Some entries of some blocks, and the diagonal, times 2^exponent
HostCsr random_blocks(int nodes, int bs, int entries, unsigned seed, int exponent = 0)
{
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> row(0, std::max(nodes * bs - 1, 0));
  std::uniform_real_distribution<double> value(-1, 1);
  Entries A;
  for (int i = 0; i < nodes * bs; i++) A[{i, i}] = std::ldexp(2 + value(random), exponent);
  for (int e = 0; e < entries; e++) A[{row(random), row(random)}] = std::ldexp(value(random), exponent);
  return make_csr(nodes * bs, nodes * bs, A);
}

// The norms, every block's squares summed where they stand; with a wider range of exponents than double has.
Entries norms_of(const HostCsr &A, int bs)
{
  std::map<std::pair<int, int>, long double> squares;
  Entries norms;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) squares[{i / bs, A.col[k] / bs}] += static_cast<long double>(A.val[k]) * A.val[k];
  }
  for (const auto &[where, square] : squares) {
    norms[where] = static_cast<double>(where.first == where.second ? std::sqrt(square) : -std::sqrt(square));
  }
  return norms;
}

// The nodes' entries on every rank, and that the matrix is whole.
template <class Ex> PetscErrorCode condensed(Ex &ex, const HostCsr &A, int bs, PetscInt local_rows, Entries &all, int *partly_ghosts)
{
  DistributedGraph<Ex> problem;
  DistMatrix<Ex> nodes;
  CoarseBlocks<Ex> blocks;
  std::vector<int> unknowns; // how many of a ghost node's unknowns are ghosts

  PetscFunctionBegin;
  PetscCall(problem.create(ex, A, local_rows));
  PetscCall(condense(ex, problem.A, bs, nodes));
  const PetscInt first = nodes.range.first();
  EXPECT_EQ(nodes.rows, local_rows / bs);
  EXPECT_EQ(first * bs, problem.A.range.first());
  EXPECT_EQ(nodes.global_rows() * bs, A.rows);
  for (const PetscInt g : nodes.ghosts) {
    EXPECT_TRUE(g < first || g >= first + nodes.rows);
    unknowns.push_back(static_cast<int>(
        std::count_if(problem.A.ghosts.begin(), problem.A.ghosts.end(), [=](PetscInt unknown) { return unknown / bs == g; })));
  }
  *partly_ghosts += static_cast<int>(std::count_if(unknowns.begin(), unknowns.end(), [=](int n) { return n < bs; }));
  // what the halo brings: every ghost's first entry of its row on the diagonal, which is its owner's
  std::vector<double> diagonal(nodes.rows), ghost_diagonal;
  const Entries expected = norms_of(A, bs);
  for (int i = 0; i < nodes.rows; i++) diagonal[i] = expected.at({static_cast<int>(first) + i, static_cast<int>(first) + i});
  Array<double, Ex> own;
  PetscCall(upload(ex, diagonal, own));
  PetscCall(nodes.halo.exchange(ex, own.data()));
  PetscCall(download(ex, nodes.halo.template ghost<double>(), static_cast<std::int64_t>(nodes.ghosts.size()), ghost_diagonal));
  for (std::size_t g = 0; g < nodes.ghosts.size(); g++) {
    const int I = static_cast<int>(nodes.ghosts[g]);
    EXPECT_EQ(ghost_diagonal[g], expected.at({I, I}));
  }
  EXPECT_EQ(nodes.diag.nnz, nodes.own_diag.col.size());
  EXPECT_EQ(nodes.offd.nnz, nodes.own_offd.col.size());
  blocks.diag = std::move(nodes.own_diag);
  blocks.offd = std::move(nodes.own_offd);
  blocks.first = first;
  blocks.ghosts = nodes.ghosts;
  PetscCall(entries_of(ex, blocks, first, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A random matrix of nodes, each entry a complete block of random numbers times 2^exponent; the last two nodes are not coupled.
Entries complete_blocks(int nodes, int bs, int exponent)
{
  const HostCsr pattern = random_blocks(nodes, 1, 5 * nodes, 91);
  std::mt19937 random(17);
  std::uniform_real_distribution<double> value(-1, 1);
  Entries entries;
  for (int I = 0; I < nodes; I++) {
    for (int k = pattern.ptr[I]; k < pattern.ptr[I + 1]; k++) {
      if (pattern.col[k] != I && std::min(I, pattern.col[k]) == nodes - 2) continue;
      for (int p = 0; p < bs; p++) {
        for (int q = 0; q < bs; q++) entries[{I * bs + p, pattern.col[k] * bs + q}] = std::ldexp(value(random), exponent);
      }
    }
  }
  return entries;
}

// B_ik of a vector k on all ranks, as a fraction of this: products of entries are no doubles
constexpr double size_of_vectors = 0x1p600;
double vector_entry(PetscInt i, int k) { return std::sin(static_cast<double>(1 + i) * (k + 2)); }

// The couplings along the first `count` of m vectors; m = 0: traces
template <class Ex>
PetscErrorCode couplings_of(Ex &ex, const HostCsr &A, int bs, int count, int m, double scale, PetscInt local_rows, Entries &all)
{
  DistributedGraph<Ex> problem;
  DistMatrix<Ex> nodes;
  NodeCouplings<Ex> c;
  CoarseBlocks<Ex> blocks;
  std::vector<double> values;
  Array<double, Ex> B;

  PetscFunctionBegin;
  PetscCall(problem.create(ex, A, local_rows));
  for (int at = 0; at < problem.A.rows * m; at++)
    values.push_back(size_of_vectors * vector_entry(problem.A.range.first() + at / m, at % m));
  PetscCall(upload(ex, values, B));
  PetscCall(condense(ex, problem.A, bs, nodes, {count, m, scale, B.data()}, &c));
  EXPECT_EQ(c.diag.size(), nodes.own_diag.col.size());
  EXPECT_EQ(c.offd.size(), nodes.own_offd.col.size());
  blocks.diag = std::move(nodes.own_diag);
  blocks.offd = std::move(nodes.own_offd);
  blocks.diag.val = std::move(c.diag);
  blocks.offd.val = std::move(c.offd);
  blocks.first = nodes.range.first();
  blocks.ghosts = nodes.ghosts;
  PetscCall(entries_of(ex, blocks, blocks.first, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
HostCsr symmetric_part(const HostCsr &A)
{
  Entries entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      entries[{i, A.col[k]}] += A.val[k] / 2;
      entries[{A.col[k], i}] += A.val[k] / 2;
    }
  }
  return make_csr(A.rows, A.cols, entries);
}
} // namespace

// The traces of the blocks, and of B_I^T A_IJ B_J; of a block and its transpose the same bits.
TYPED_TEST(NodeMatrix, HasTheCouplingsAlongVectors)
{
  constexpr int nodes = 40;
  for (const int bs : {2, 3, 6, 10}) {
    for (const HostCsr &A : {symmetric_part(random_blocks(nodes, bs, 6 * nodes * bs, 57)),
                             symmetric_part(make_csr(nodes * bs, nodes * bs, complete_blocks(nodes, bs, 0)))}) {
      for (const auto &[count, m] : {std::pair(0, 0), {bs, bs + 2}, {2, bs}}) {
        std::map<std::pair<int, int>, long double> expected, sizes;
        for (int i = 0; i < A.rows; i++) {
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const int j = A.col[k];
            long double along = m == 0 && i % bs == j % bs ? 1 : 0, size = along;
            for (int v = 0; v < count; v++) {
              along += static_cast<long double>(vector_entry(i, v)) * vector_entry(j, v);
              size += std::abs(vector_entry(i, v) * vector_entry(j, v));
            }
            expected[{i / bs, j / bs}] += A.val[k] * along;
            sizes[{i / bs, j / bs}] += std::abs(A.val[k] * size);
          }
        }
        for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
          Entries got;
          OK(couplings_of(this->ex, A, bs, count, m, 1 / size_of_vectors, local_rows, got));
          ASSERT_EQ(got.size(), expected.size());
          for (const auto &[where, c] : expected) {
            EXPECT_NEAR(got.at(where), static_cast<double>(c), 1e-13 * static_cast<double>(sizes.at(where))) << bs << " " << count;
            EXPECT_EQ(got.at(where), got.at({where.second, where.first}));
          }
        }
      }
    }
  }
}

TYPED_TEST(NodeMatrix, IsTheNormsOfTheBlocks)
{
  int partly_ghosts = 0;
  for (const int bs : {1, 2, 3, 5}) {
    for (const int exponent : {0, 700, -700}) {
      for (const int nodes : {0, 1, 7, 60}) {
        const HostCsr A = random_blocks(nodes, bs, 6 * nodes * bs, 51 + static_cast<unsigned>(nodes + bs), exponent);
        const Entries expected = norms_of(A, bs);
        for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
          Entries got;
          OK(condensed(this->ex, A, bs, local_rows, got, &partly_ghosts));
          ASSERT_EQ(got.size(), expected.size());
          for (const auto &[where, norm] : expected) {
            ASSERT_TRUE(got.count(where));
            EXPECT_NEAR(std::ldexp(got.at(where), -exponent), std::ldexp(norm, -exponent), 1e-14 * std::abs(std::ldexp(norm, -exponent)));
          }
        }
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &partly_ghosts, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
  if (size_of_world() > 1) {
    EXPECT_GT(partly_ghosts, 100);
  }
}

// A row with entries in every block, and a column.
TYPED_TEST(NodeMatrix, OfADenseRow)
{
  constexpr int nodes = 400, bs = 2;
  Entries entries;
  int partly_ghosts = 0;
  for (int i = 0; i < nodes * bs; i++) entries[{3, i}] = entries[{i, 3}] = 1 + i;
  for (int i = 0; i < nodes * bs; i++) entries[{i, i}] = 1;
  const HostCsr A = make_csr(nodes * bs, nodes * bs, entries);
  const Entries expected = norms_of(A, bs);
  for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
    Entries got;
    OK(condensed(this->ex, A, bs, local_rows, got, &partly_ghosts));
    ASSERT_EQ(got.size(), expected.size());
    for (const auto &[where, norm] : expected) EXPECT_NEAR(got.at(where), norm, 1e-12 * std::abs(norm));
  }
}

// Complete blocks are read where they stand. Two more blocks that are not complete, which have as many entries together as one that is,
// send all of them the general way: the same bits.
TYPED_TEST(NodeMatrix, IsTheSameByCompleteBlocksAndByEntries)
{
  constexpr int nodes = 40, last = nodes - 1; // the last two nodes are on one rank
  for (const int bs : {2, 3, 6}) {
    for (const int exponent : {0, 700, -700}) {
      Entries entries = complete_blocks(nodes, bs, exponent);
      const HostCsr complete = make_csr(nodes * bs, nodes * bs, entries);
      const std::array<std::pair<int, int>, 2> more = {{{last, last - 1}, {last - 1, last}}};
      for (const auto &[I, J] : more) ASSERT_FALSE(entries.count({I * bs, J * bs}));
      entries[{more[0].first * bs, more[0].second * bs}] = 1;
      for (int c = 1; c < bs * bs; c++) entries[{more[1].first * bs + c / bs, more[1].second * bs + c % bs}] = 1;
      const HostCsr other = make_csr(nodes * bs, nodes * bs, entries);
      const Entries expected = norms_of(complete, bs);
      int partly_ghosts = 0;
      for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
        Entries by_blocks, by_entries;
        OK(condensed(this->ex, complete, bs, local_rows, by_blocks, &partly_ghosts));
        OK(condensed(this->ex, other, bs, local_rows, by_entries, &partly_ghosts));
        for (const auto &where : more) EXPECT_EQ(by_entries.erase(where), 1U);
        EXPECT_EQ(by_blocks, by_entries);
        ASSERT_EQ(by_blocks.size(), expected.size());
        for (const auto &[where, norm] : expected) EXPECT_NEAR(by_blocks.at(where) / norm, 1, 1e-14);
      }
    }
  }
}

// Squares of entries that are complete, but not blocks: each begins a column late, and has a column of the next node.
TYPED_TEST(NodeMatrix, SquaresBesideTheBlocksAreNoBlocks)
{
  constexpr int nodes = 20;
  for (const int bs : {2, 3}) {
    Entries entries;
    for (int I = 0; I < nodes; I++) {
      for (int c = 0; c < bs * bs; c++) entries[{I * bs + c / bs, I * bs + c % bs + (I + 1 < nodes)}] = 1 + I + c;
    }
    const HostCsr A = make_csr(nodes * bs, nodes * bs, entries);
    const Entries expected = norms_of(A, bs);
    int partly_ghosts = 0;
    for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
      Entries got;
      OK(condensed(this->ex, A, bs, local_rows, got, &partly_ghosts));
      ASSERT_EQ(got.size(), expected.size());
      for (const auto &[where, norm] : expected) EXPECT_NEAR(got.at(where) / norm, 1, 1e-14);
    }
  }
}

// One unknown a node: absolute values, exactly. A block and its transpose: the same bits, on any rank.
TYPED_TEST(NodeMatrix, IsExactlySymmetricWhereTheMatrixIs)
{
  for (const int bs : {1, 2, 3, 5}) {
    constexpr int nodes = 50;
    const HostCsr some = random_blocks(nodes, bs, 8 * nodes * bs, 61);
    Entries both, expected;
    for (int i = 0; i < some.rows; i++) {
      for (int k = some.ptr[i]; k < some.ptr[i + 1]; k++) both[{i, some.col[k]}] = both[{some.col[k], i}] = some.val[k];
    }
    const HostCsr A = make_csr(nodes * bs, nodes * bs, both);
    int partly_ghosts = 0;
    for (const PetscInt local_rows : layouts_of_nodes(nodes, bs)) {
      Entries got;
      OK(condensed(this->ex, A, bs, local_rows, got, &partly_ghosts));
      for (const auto &[where, norm] : got) EXPECT_EQ(norm, got.at({where.second, where.first}));
      if (bs == 1) {
        for (const auto &[where, norm] : got) EXPECT_EQ(std::abs(norm), std::abs(both.at(where)));
      }
      if (expected.empty()) expected = got;
      EXPECT_EQ(got, expected);
    }
  }
}

// The whole way: strength and roots of the nodes are those of the matrix that the nodes are made of, one and the same block everywhere.
TYPED_TEST(NodeMatrix, HasTheGraphOfItsBlocks)
{
  constexpr int bs = 3;
  const HostCsr N = random_graph(80, 160, 71);
  Entries entries;
  std::vector<unsigned char> expected;
  for (int I = 0; I < N.rows; I++) {
    for (int k = N.ptr[I]; k < N.ptr[I + 1]; k++) {
      for (int c = 0; c < bs; c++) entries[{bs * I + c, bs * N.col[k] + (I + N.col[k]) % bs}] = N.val[k];
    }
  }
  const HostCsr A = make_csr(N.rows * bs, N.rows * bs, entries);
  const auto roots = [&](DistMatrix<TypeParam> &M, std::vector<unsigned char> &mine) {
    Strength<TypeParam> S;
    Array<unsigned char, TypeParam> root;
    OK(symmetric_strength(this->ex, M, {StrengthKind::relative, 0.4, 0.4}, nullptr, S));
    OK(mis(this->ex, graph_of(M, S.diag.data(), S.offd.data()), 2, root));
    mine = this->to_host(root);
  };
  for (const PetscInt local_rows : layouts_of_nodes(N.rows, bs)) {
    DistributedGraph<TypeParam> problem, of_nodes;
    DistMatrix<TypeParam> nodes;
    std::vector<unsigned char> mine, theirs;
    OK(problem.create(this->ex, A, local_rows));
    OK(of_nodes.create(this->ex, N, local_rows / bs));
    OK(condense(this->ex, problem.A, bs, nodes));
    roots(nodes, mine);
    roots(of_nodes.A, theirs);
    EXPECT_EQ(mine, theirs);
    int count = static_cast<int>(std::count(mine.begin(), mine.end(), 1));
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
    EXPECT_GT(count, 5);
  }
}

// Each allocation in turn fails on the last rank; all ranks learn of it.
TEST(NodeMatrixFailure, EveryAllocationMayFailOnOneRank)
{
  Debug ex;
  DistributedGraph<Debug> problem;
  OK(problem.create(ex, random_blocks(24, 3, 400, 81), layouts_of_nodes(24, 3)[0]));
  Array<double, Debug> B;
  OK(upload(ex, std::vector<double>(2 * static_cast<std::size_t>(problem.A.rows), 1), B));
  FailingAllocations failing;
  for (bool more = true; more;) {
    DistMatrix<Debug> nodes;
    NodeCouplings<Debug> c;
    more = failing.run(ex, [&] { return condense(ex, problem.A, 3, nodes, {2, 2, 1, B.data()}, &c); });
  }
  EXPECT_GE(failing.failures(), size_of_world() > 1 ? 19 : 17);
}
} // namespace amgkit::test
