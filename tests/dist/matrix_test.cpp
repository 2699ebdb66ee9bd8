#include "dist/matrix.hpp"

#include "support/dist_system.hpp"
#include "support/peers_test.hpp"
#include "support/vectors.hpp"

#include <array>

namespace amgkit::test
{
namespace
{
template <class Ex> using DistMatrixTest = PeersTest<Ex>;
TYPED_TEST_SUITE(DistMatrixTest, Spaces, SpaceName);

// Equal parts; but of three ranks or more, rank 0 has none.
std::vector<PetscInt> ranges_of(int rows)
{
  std::vector<PetscInt> range = {0};
  const int size = size_of_world(), without = size > 2 ? 1 : 0;
  for (int r = 1; r <= size; r++) range.push_back(rows * (r - without) / (size - without));
  return range;
}

// A x on this rank's rows
std::vector<double> product_of(const HostCsr &A, const std::vector<double> &x, PetscInt first, PetscInt last)
{
  std::vector<double> y;
  for (PetscInt i = first; i < last; i++) {
    double s = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) s += A.val[k] * x[A.col[k]];
    y.push_back(s);
  }
  return y;
}

template <int N> std::array<double, N> terms(bool of_y, double x, double y, double r, double z)
{
  const double u = of_y ? y : x;
  if constexpr (N == 2) return {u * y, u * r};
  if constexpr (N == 3) return {u * y, u * r, u * z};
  if constexpr (N == 5) return {u * y, u * r, r * r, r * y, y * y};
}

// Products of other vectors one after the other, so that a value of the exchange before would be seen.
template <class V, int N, class Ex>
void check_sums(Ex &ex, DistMatrix<Ex> &A, const HostCsr &M, const std::string &name, bool exactly = false)
{
  const PetscInt first = A.range.first(), n = A.rows;
  const double eps = std::is_same_v<V, float> ? 1e-5 : 1e-12;
  const auto mine = [&](const std::vector<double> &whole) { return std::vector<double>(whole.begin() + first, whole.begin() + first + n); };
  const auto r = mine(wave(M.rows, 0.7)), z = mine(wave(M.rows, 1.9));
  Array<V, Ex> X, R, Z, Y;
  Array<double, Ex> work, sums;
  OK(upload(ex, rounded<V>(r), R));
  OK(upload(ex, rounded<V>(z), Z));
  OK(Y.allocate(ex, n));
  OK(work.allocate(ex, N * product_sum_parts_of(n)));
  OK(sums.allocate(ex, N));
  for (int round = 0; round < 5; round++) {
    const bool of_y = round % 2 == 1;
    const auto whole = wave(M.rows, 0.3 + 0.1 * round), x = mine(whole), expected = product_of(M, whole, first, first + n);
    std::vector<V> y;
    std::vector<double> got;
    OK(upload(ex, rounded<V>(x), X));
    const ProductSums<N, V> p{of_y, R.data(), Z.data(), work.data(), sums.data()};
    if constexpr (N == 2) {
      OK(exactly ? A.multiply_exactly(ex, X.data(), Y.data(), p) : A.multiply(ex, X.data(), Y.data(), p));
    } else {
      OK(A.multiply(ex, X.data(), Y.data(), p));
    }
    OK(download(ex, Y.data(), n, y));
    OK(download(ex, sums.data(), N, got));
    expect_close(rounded<double>(y), expected, 10 * eps, name);
    std::array<double, N> all{}, sizes{};
    for (PetscInt i = 0; i < n; i++) {
      const std::array<double, N> term = terms<N>(of_y, x[i], expected[i], r[i], z[i]);
      for (int k = 0; k < N; k++) {
        all[k] += term[k];
        sizes[k] += std::abs(term[k]);
      }
    }
    for (int k = 0; k < N; k++)
      EXPECT_NEAR(got[k], all[k], 10 * eps * (1 + sizes[k])) << name << " sum " << k << " of " << N << " in round " << round;
  }
}
} // namespace

// Also where they are taken with the product of own columns, and corrected where ghosts add to a row.
TYPED_TEST(DistMatrixTest, SumsAreThoseOfTheWholeProduct)
{
  const std::vector<std::pair<std::string, HostCsr>> matrices = {
      {"7-point", grid7(7, 6, 5)}, {"27-point", grid27(6)}, {"dense rows", random_graph(120, 3000, 5)}, {"few rows", grid7(3, 1, 1)}};
  for (const auto &[name, M] : matrices) {
    DistSystem<TypeParam> system;
    OK(system.create(this->ex, M, ranges_of(M.rows), this->comm));
    for (const char *stored : {", rows", ", stored"}) {
      if (stored[2] == 's') {
        OK(system.A.store(this->ex, Storage::in_double, 1, false));
      }
      check_sums<double, 2>(this->ex, system.A, M, name + stored);
      check_sums<double, 2>(this->ex, system.A, M, name + stored + ", exactly", true);
      check_sums<double, 3>(this->ex, system.A, M, name + stored);
      check_sums<double, 5>(this->ex, system.A, M, name + stored);
      check_sums<float, 2>(this->ex, system.A, M, name + stored);
      check_sums<float, 2>(this->ex, system.A, M, name + stored + ", exactly", true);
      check_sums<float, 3>(this->ex, system.A, M, name + stored);
      check_sums<float, 5>(this->ex, system.A, M, name + stored);
    }
  }
}

// A chain with couplings of 1e10 and a constant x: each row's couplings cancel, and those at a rank's ends are added later.
TYPED_TEST(DistMatrixTest, SquaresKeepTheirDigits)
{
  constexpr double coupling = 1e10, shift = 1;
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i + 1 < 60; i++) edges[{i, i + 1}] = coupling;
  const HostCsr M = from_edges(60, edges, shift);
  DistSystem<TypeParam> system;
  OK(system.create(this->ex, M, ranges_of(M.rows), this->comm));
  OK(system.A.store(this->ex, Storage::in_double, 1, false));
  const int n = system.A.rows;
  const auto x = this->to_space(std::vector<double>(n, 1.0));
  auto y = this->to_space(std::vector<double>(n, NAN)), work = this->to_space(std::vector<double>(5 * product_sum_parts_of(n)));
  auto sums = this->to_space(std::vector<double>(5, NAN));
  for (int round = 0; round < 5; round++) {
    OK(system.A.multiply(this->ex, x.data(), y.data(), ProductSums<5, double>{false, x.data(), nullptr, work.data(), sums.data()}));
    EXPECT_NEAR(this->to_host(sums)[4], n * shift * shift, 1e-4) << round;
  }
}

// Whether values were kept or read where they arrived, a product is the same; and kept ones are there.
TYPED_TEST(DistMatrixTest, GhostsAreKeptWhereTheyAreReadLater)
{
  const HostCsr M = grid7(6, 5, 4);
  DistSystem<TypeParam> system;
  OK(system.create(this->ex, M, ranges_of(M.rows), this->comm));
  DistMatrix<TypeParam> &A = system.A;
  const PetscInt first = A.range.first();
  if (!A.halo_active()) GTEST_SKIP() << "no ghosts";
  for (int round = 0; round < 8; round++) {
    if (round == 4) A.halo.keep_values();
    const auto whole = wave(M.rows, 0.2 + 0.1 * round);
    const auto x = this->to_space(std::vector<double>(whole.begin() + first, whole.begin() + first + A.rows));
    auto y = this->to_space(std::vector<double>(A.rows, NAN));
    OK(A.multiply(this->ex, x.data(), y.data()));
    expect_close(this->to_host(y), product_of(M, whole, first, first + A.rows), 1e-12, "round " + std::to_string(round));
    if (round < 4) continue;
    EXPECT_EQ(A.halo.by_peers(), TypeParam::on_device);
    const auto ghosts = this->to_host(A.halo.template ghost<double>(), static_cast<int>(A.ghosts.size()));
    for (std::size_t g = 0; g < ghosts.size(); g++) EXPECT_EQ(ghosts[g], whole[A.ghosts[g]]);
  }
}
} // namespace amgkit::test
