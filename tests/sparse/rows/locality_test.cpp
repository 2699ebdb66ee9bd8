#include "sparse/rows/locality.hpp"

#include "base/hash.hpp"
#include "support/spaces.hpp"
#include "support/unstructured.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace amgkit::test
{
template <class Ex> using Locality = SpaceTest<Ex>;
TYPED_TEST_SUITE(Locality, Spaces, SpaceName);

namespace
{
HostCsr in_order(const HostCsr &M, const std::vector<int> &order)
{
  std::vector<int> place(order.size());
  std::map<std::pair<int, int>, double> entries;
  for (std::size_t i = 0; i < order.size(); i++) place[order[i]] = static_cast<int>(i);
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) entries[{place[i], place[M.col[k]]}] = M.val[k];
  }
  return make_csr(M.rows, M.cols, entries);
}
HostCsr shuffled(const HostCsr &M)
{
  std::vector<int> order(M.rows);
  std::mt19937 random(7);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return in_order(M, order);
}

// By sets of pieces, of so many nodes each; one of 15 nodes is asked, and of a large matrix one of as many as 65536 are of all
double share_of(const HostCsr &M, int bs, int nodes_a_piece)
{
  const auto touched = [&](int I, int size) {
    std::set<int> all;
    for (int k = M.ptr[bs * I]; k < M.ptr[bs * I + 1]; k++) all.insert(M.col[k] / (bs * size));
    return all;
  };
  const int nodes = M.rows / bs, one_of = std::max(15, nodes >> 16);
  double alone = 0, blocks = 0;
  for (int t = 0; t < nodes / one_of; t++) {
    const int I = std::max(1, one_of * t + static_cast<int>(hash64(static_cast<std::uint64_t>(t)) % static_cast<unsigned>(one_of)));
    const auto before = touched(I - 1, nodes_a_piece);
    for (const int piece : touched(I, nodes_a_piece)) alone += before.count(piece) == 0 ? 1 : 0;
    blocks += static_cast<double>(touched(I, 1).size());
  }
  return blocks > 0 ? alone / blocks : 0;
}

// By the rows within so many edges of each
std::vector<int> order_of(const HostCsr &M)
{
  const auto largest_within = [&](int i, int edges) {
    std::set<int> reached = {i};
    for (int e = 0; e < edges; e++) {
      for (const int j : std::set<int>(reached)) reached.insert(M.col.begin() + M.ptr[j], M.col.begin() + M.ptr[j + 1]);
    }
    std::uint32_t most = 0;
    for (const int j : reached) most = std::max(most, static_cast<std::uint32_t>(hash64(static_cast<std::uint64_t>(j)) >> 32));
    return most;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key;
  for (int i = 0; i < M.rows; i++) key.emplace_back(largest_within(i, 4), largest_within(i, 2));
  std::vector<int> order(M.rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return key[i] < key[j]; });
  return order;
}
} // namespace

TYPED_TEST(Locality, OrderIsThatOfClustersAndServesProducts)
{
  for (const HostCsr &M : {tetrahedra_laplacian(10, 0.2), delaunay_laplacian(700), HostCsr{}, grid7(1, 1, 1), grid7(15, 1, 1)}) {
    for (const bool random : {false, true}) {
      const HostCsr given = random && M.rows > 0 ? shuffled(M) : M;
      Csr<double, TypeParam> A;
      Array<int, TypeParam> order;
      double share = -1;
      OK(upload(this->ex, given, A));
      OK(scattered_share(this->ex, A.view(), 1, &share));
      EXPECT_NEAR(share, share_of(given, 1, 8), 1e-14);
      OK(cluster_order(this->ex, A.view(), 1, order));
      const auto found = this->to_host(order);
      EXPECT_EQ(found, order_of(given));
      if (M.rows < 500) continue;
      const double by_clusters = share_of(in_order(given, found), 1, 8);
      EXPECT_EQ(share > 0.75, random) << share;
      EXPECT_LT(by_clusters, 0.6);
    }
  }
}

TYPED_TEST(Locality, AFewRowsStandForManyWhateverTheirPeriod)
{
  constexpr int n = 20 << 16;
  HostCsr M;
  M.rows = M.cols = n;
  for (int i = 0; i < n; i++) { // every twentieth row has two entries far away
    if (i % 20 == 7) M.col.push_back(i / 2);
    M.col.push_back(i);
    if (i % 20 == 7) M.col.push_back(i + (n - i) / 2);
    M.ptr.push_back(static_cast<int>(M.col.size()));
  }
  M.val.assign(M.col.size(), 1);
  Csr<double, TypeParam> A;
  double share = -1;
  OK(upload(this->ex, M, A));
  OK(scattered_share(this->ex, A.view(), 1, &share));
  EXPECT_NEAR(share, share_of(M, 1, 8), 1e-12);
  EXPECT_NEAR(share, (2.0 / 20 + 1.0 / 8) / (1 + 2.0 / 20), 0.01);
}

// The nodes of blocks have the order that they have as rows, their rows stay together, and a numbering that nobody chose
// is found out.
TYPED_TEST(Locality, NodesAreOrderedAsTheirRowsTogether)
{
  const HostCsr mesh = tetrahedra_laplacian(12, 0.2);
  for (const auto &[bs, nodes_a_piece] : {std::pair{2, 4}, {3, 2}, {5, 1}, {9, 1}}) {
    for (const bool random : {false, true}) {
      const HostCsr nodes = random ? shuffled(mesh) : mesh;
      const HostCsr given = blown_up(nodes, bs, bs);
      Csr<double, TypeParam> A;
      Array<int, TypeParam> order;
      double share = -1;
      OK(upload(this->ex, given, A));
      OK(scattered_share(this->ex, A.view(), bs, &share));
      EXPECT_NEAR(share, share_of(given, bs, nodes_a_piece), 1e-14);
      EXPECT_EQ(share > 0.75, random) << share << " of blocks of " << bs;
      OK(cluster_order(this->ex, A.view(), bs, order));
      std::vector<int> expected;
      for (const int node : order_of(nodes)) {
        for (int c = 0; c < bs; c++) expected.push_back(bs * node + c);
      }
      EXPECT_EQ(this->to_host(order), expected);
      EXPECT_LT(share_of(in_order(given, expected), bs, nodes_a_piece), 0.75) << bs;
    }
  }
  for (const HostCsr &M : {HostCsr{}, blown_up(grid7(1, 1, 1), 3, 3), make_csr(6, 6, {})}) {
    Csr<double, TypeParam> A;
    Array<int, TypeParam> order;
    double share = -1;
    OK(upload(this->ex, M, A));
    OK(scattered_share(this->ex, A.view(), 3, &share));
    EXPECT_EQ(share, 0);
    OK(cluster_order(this->ex, A.view(), 3, order));
    EXPECT_EQ(order.size(), M.rows);
  }
}

TYPED_TEST(Locality, ScatterIsTheInverseOfAnOrder)
{
  const std::vector<int> index = {3, 0, 2, 1};
  const std::vector<double> from = {1, 2, 3, 4};
  const auto i = this->to_space(index);
  const auto x = this->to_space(from);
  auto y = this->to_space(std::vector<double>(4, 0.0));
  OK(scatter(this->ex, 4, i.data(), x.data(), y.data()));
  EXPECT_EQ(this->to_host(y), (std::vector<double>{2, 4, 3, 1}));
}
} // namespace amgkit::test
