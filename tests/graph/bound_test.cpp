// Notay's bound on the pairs of a matching.
#include "graph/matching.hpp"

#include "support/gallery.hpp"
#include "support/positive_couplings.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace amgkit::test
{
template <class Ex> using Bound = SpaceTest<Ex>;
TYPED_TEST_SUITE(Bound, Spaces, SpaceName);

namespace
{
// mu_ij by the formula of the header, infinite where the pair must not match; D: empty where it is b_ii
double mu(const HostCsr &A, const std::vector<double> &w, int i, int j, const std::vector<double> &D = {})
{
  const double sign = A.at(i, i) < 0 ? -1 : 1;
  auto b = [&](int r, int c) { return sign * w[r] * A.at(r, c) * w[c]; };
  auto smoothed = [&](int r) { return D.empty() ? b(r, r) : sign * D[r]; };
  auto delta = [&](int r) {
    double sum = 0;
    for (int c = 0; c < A.cols; c++) sum += b(r, c);
    return std::abs(sum) < 1e-3 * smoothed(r) ? 0 : sum;
  };
  const double d_i = delta(i), d_j = delta(j), both = d_i + d_j, v = -0.5 * (b(i, j) + b(j, i));
  const double below = v + (both > 0 ? d_i * d_j / both : 0);
  return both >= 0 && below > 0 ? 2 * smoothed(i) * smoothed(j) / (smoothed(i) + smoothed(j)) / below : HUGE_VAL;
}

// Which edges match after the others
enum class Last { none, positive, beyond };

// kappa = 0: without a bound
template <class Ex>
PetscErrorCode weights(Ex &ex, const HostCsr &A, const std::vector<double> &w, double kappa, bool by_quality, std::vector<float> &out,
                       Last last = Last::none, const std::vector<double> &D = {})
{
  Csr<double, Ex> M;
  EdgeWeights<Ex> edges;
  Array<double, Ex> a, v, smoothed, none;

  PetscFunctionBegin;
  PetscCall(upload(ex, A, M));
  PetscCall(upload(ex, A.diagonal(), a));
  PetscCall(upload(ex, w, v));
  PetscCall(upload(ex, std::vector<double>(A.rows, 0), none));
  if (!D.empty()) PetscCall(upload(ex, D, smoothed));
  PairBound bound = {kappa, by_quality, last != Last::none, last == Last::beyond, smoothed.data(), none.data()};
  if (kappa > 0)
    PetscCall(bounded_edge_weights(ex, M.view(), a.data(), v.data(), bound, edges));
  else
    PetscCall(edge_weights(ex, M.view(), a.data(), v.data(), edges, bound.beyond));
  PetscCall(download(ex, edges.weight.data(), edges.weight.size(), out));
  if (kappa > 0) { // no couplings to other ranks are as good as zeros
    std::vector<float> again;
    bound.outside = nullptr;
    PetscCall(bounded_edge_weights(ex, M.view(), a.data(), v.data(), bound, edges));
    PetscCall(download(ex, edges.weight.data(), edges.weight.size(), again));
    EXPECT_EQ(again, out);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<double> ones(const HostCsr &A) { return std::vector<double>(A.rows, 1.0); }
} // namespace

// As the literature has it: 6 inside a 7-point stencil, 26 inside a 27-point one.
TYPED_TEST(Bound, OfStencils)
{
  const HostCsr seven = grid7(5, 5, 5), all = grid27(5);
  const int centre = 62; // (2, 2, 2): it and its neighbour (1, 2, 2) have all of theirs
  EXPECT_NEAR(mu(seven, ones(seven), centre, centre - 1), 6, 1e-12);
  for (auto [A, bound] : {std::pair{&seven, 6.0}, {&all, 26.0}}) {
    for (double kappa : {0.99 * bound, 1.01 * bound}) {
      std::vector<float> got;
      OK(weights(this->ex, *A, ones(*A), kappa, true, got));
      for (int k = A->ptr[centre]; k < A->ptr[centre + 1]; k++) {
        if (A->col[k] == centre - 1) {
          EXPECT_NEAR(got[k], kappa > bound ? kappa / bound : 0, 1e-5);
        }
      }
    }
  }
}

// A row whose sum is about 1e-3 of its diagonal entry, which decides whether it counts as 0: the last bits tell, and they depend on the
// order.
TYPED_TEST(Bound, SumsNearTheLimitAreTakenInOrder)
{
  constexpr int n = 400, width = 9;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int j = std::max(0, i - width); j <= std::min(n - 1, i + width); j++)
      entries[{i, j}] = -1 - 0.1 * std::sin(static_cast<double>(i + j)) - 1e-3 * std::abs(i - j);
  }
  HostCsr A = make_csr(n, n, entries);
  int by_order = 0; // rows that another order would judge otherwise
  for (int i = 0; i < n; i++) {
    double others = 0, forward = 0, backward = 0, *a_ii = nullptr;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] == i) a_ii = &A.val[k];
      if (A.col[k] != i) others -= A.val[k];
    }
    *a_ii = others / (1 - 1e-3);
    for (int ulps = 0; ulps < i % 4; ulps++) *a_ii = std::nextafter(*a_ii, 0);
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) forward += A.val[k];
    for (int k = A.ptr[i + 1] - 1; k >= A.ptr[i]; k--) backward += A.val[k];
    const auto null = [&](double sum) { return std::abs(sum) < 1e-3 * std::abs(*a_ii); };
    by_order += null(forward) != null(backward);
  }
  EXPECT_GT(by_order, 10);
  for (const bool by_quality : {true, false}) {
    Host host;
    std::vector<float> expected, got;
    OK(weights(host, A, ones(A), 30, by_quality, expected));
    OK(weights(this->ex, A, ones(A), 30, by_quality, got));
    EXPECT_EQ(got, expected);
  }
}

// On every matrix: the pairs within the bound keep the weights that they have without it, or get kappa / mu; the others get none. Both
// ends see the same bits, and neither A's sign nor a scaling of the unknowns changes a decision.
TYPED_TEST(Bound, KeepsTheEdgesWithinIt)
{
  for (const auto &[name, A] : gallery()) {
    std::vector<double> stretched(A.rows);
    for (int i = 0; i < A.rows; i++) stretched[i] = i % 3 == 0 ? 1 : 1.5;
    for (const auto &w : {ones(A), stretched}) {
      std::vector<float> free, kept, quality, negative;
      const double kappa = 7.3;
      HostCsr minus = A;
      for (double &value : minus.val) value = -value;
      OK(weights(this->ex, A, w, 0, false, free));
      OK(weights(this->ex, A, w, kappa, false, kept));
      OK(weights(this->ex, A, w, kappa, true, quality));
      OK(weights(this->ex, minus, w, kappa, true, negative));
      EXPECT_EQ(quality, negative) << name;
      for (int i = 0; i < A.rows; i++) {
        for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
          const int j = A.col[k];
          if (i == j || A.at(j, i) == 0) continue;
          const double bound = mu(A, w, i, j);
          for (int m = A.ptr[j]; m < A.ptr[j + 1]; m++) {
            if (A.col[m] == i) {
              EXPECT_EQ(quality[k], quality[m]) << name;
            }
          }
          if (std::abs(bound / kappa - 1) < 1e-5) continue; // the rounding decides
          EXPECT_EQ(kept[k], bound <= kappa ? free[k] : 0) << name << " " << i << " " << j;
          EXPECT_NEAR(quality[k], bound <= kappa ? kappa / bound : 0, 1e-4 * (1 + kappa / bound)) << name << " " << i << " " << j;
        }
      }
    }
  }
}

// Of aggregates: D, larger than b_ii, in place of it, for the bound alone.
TYPED_TEST(Bound, OfAggregatesIsThatOfTheirRows)
{
  int within = 0, not_any_more = 0;
  for (const auto &[name, A] : gallery()) {
    const double kappa = 20;
    std::vector<float> plain, kept, quality;
    std::vector<double> D = A.diagonal();
    for (std::size_t i = 0; i < D.size(); i++) D[i] *= std::pow(4, i % 3); // with exact roots
    OK(weights(this->ex, A, ones(A), kappa, false, plain));
    OK(weights(this->ex, A, ones(A), kappa, false, kept, Last::none, D));
    OK(weights(this->ex, A, ones(A), kappa, true, quality, Last::none, D));
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        const int j = A.col[k];
        if (i == j || A.at(j, i) == 0) continue;
        const double bound = mu(A, ones(A), i, j, D);
        if (std::abs(bound / kappa - 1) < 1e-5 || std::abs(mu(A, ones(A), i, j) / kappa - 1) < 1e-5) continue; // the rounding decides
        EXPECT_NEAR(quality[k], bound <= kappa ? kappa / bound : 0, 1e-4 * (1 + kappa / bound)) << name << " " << i << " " << j;
        if (plain[k] == 0) continue;
        EXPECT_EQ(kept[k], bound <= kappa ? plain[k] : 0) << name << " " << i << " " << j;
        within += bound <= kappa;
        not_any_more += bound > kappa;
      }
    }
  }
  EXPECT_GT(within, 100);
  EXPECT_GT(not_any_more, 100);
}

// A sum that is nothing beside what cancels in it is 0, whatever its sign.
TYPED_TEST(Bound, SmallSumsDecideNothing)
{
  for (const double sum : {-5e-4, -1e-7, 0.0, 1e-7, 5e-4}) {
    const HostCsr A = make_csr(2, 2, {{{0, 0}, 1 + sum}, {{0, 1}, -1}, {{1, 0}, -1}, {{1, 1}, 1 - sum / 2}});
    std::vector<float> got;
    OK(weights(this->ex, A, ones(A), 10, true, got));
    EXPECT_NEAR(got[1], 10, 0.01) << sum;
    EXPECT_EQ(got[1], got[2]);
  }
  const HostCsr A = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, -1.01}, {{1, 0}, -1.01}, {{1, 1}, 1}});
  std::vector<float> got;
  OK(weights(this->ex, A, ones(A), 10, true, got));
  EXPECT_EQ(got[1], 0);
}

// Edges that match after the others: first those within the bound whose coupling is positive, by mu, then all that are left, by c.
// Matrices without positive couplings keep their weights to the bit where only the first may match.
TYPED_TEST(Bound, EdgesThatMatchLast)
{
  int positive = 0, beyond = 0;
  const double kappa = 7.3;
  for (const auto &[name, A] : with_positive_couplings()) {
    const auto w = ones(A);
    std::vector<float> plain, with_positive, with_all, unbounded;
    OK(weights(this->ex, A, w, kappa, false, plain));
    OK(weights(this->ex, A, w, kappa, false, with_positive, Last::positive));
    OK(weights(this->ex, A, w, kappa, false, with_all, Last::beyond));
    OK(weights(this->ex, A, w, 0, false, unbounded, Last::beyond));
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        const int j = A.col[k];
        if (i == j || A.at(j, i) == 0) continue;
        const double bound = mu(A, w, i, j), c = 1 - 2 * A.val[k] / (A.at(i, i) + A.at(j, j));
        if (std::abs(bound / kappa - 1) < 1e-5) continue; // the rounding decides
        EXPECT_GT(unbounded[k], 0) << name;
        if (plain[k] > 0) {
          EXPECT_EQ(with_positive[k], plain[k]) << name;
          EXPECT_EQ(with_all[k], plain[k]) << name;
          EXPECT_GT(plain[k], 1e-23F) << name;
        } else if (bound <= kappa) {
          EXPECT_NEAR(with_positive[k] / 1e-30, kappa / bound, 1e-4 * (1 + kappa / bound)) << name << " " << i << " " << j;
          EXPECT_EQ(with_all[k], with_positive[k]) << name;
          positive++;
        } else {
          EXPECT_EQ(with_positive[k], 0) << name;
          const double expected = c > 1 && (c - 1) / c > 1e-5 ? (c - 1) / c : 1e-6 * (2 + c);
          EXPECT_NEAR(with_all[k] / 1e-30, expected, 1e-3 * expected) << name << " " << i << " " << j;
          EXPECT_GT(with_all[k], 0) << name;
          beyond++;
        }
      }
    }
  }
  EXPECT_GT(positive, 100);
  EXPECT_GT(beyond, 100);
  for (const HostCsr &A : {grid7(5, 6, 7, 1, 10, 100), grid27(6), random_graph(300, 1200, 3)}) {
    std::vector<float> plain, with_positive;
    OK(weights(this->ex, A, ones(A), kappa, false, plain));
    OK(weights(this->ex, A, ones(A), kappa, false, with_positive, Last::positive));
    EXPECT_EQ(plain, with_positive);
  }
}

// mu is that of the matrix whose positive couplings were added to the diagonal, with A's own b_ii.
TYPED_TEST(Bound, CountsPositiveCouplingsOnTheDiagonal)
{
  for (const auto &[name, A] : with_positive_couplings()) {
    HostCsr lumped = A;
    const double kappa = 20;
    std::vector<float> quality;
    for (int i = 0; i < A.rows; i++) {
      double sum = 0;
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        if (A.col[k] != i && A.val[k] > 0) sum += lumped.val[k], lumped.val[k] = 0;
      }
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) lumped.val[k] += A.col[k] == i ? sum : 0;
    }
    OK(weights(this->ex, A, ones(A), kappa, true, quality));
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        const int j = A.col[k];
        if (i == j || A.val[k] > 0) continue;
        const double l_ii = lumped.at(i, i), l_jj = lumped.at(j, j), a_ii = A.at(i, i), a_jj = A.at(j, j);
        const double bound = mu(lumped, ones(A), i, j) * (l_ii + l_jj) / (l_ii * l_jj) * a_ii * a_jj / (a_ii + a_jj);
        if (std::abs(bound / kappa - 1) < 1e-5) continue; // the rounding decides
        EXPECT_NEAR(quality[k], bound <= kappa ? kappa / bound : 0, 1e-4 * (1 + kappa / bound)) << name << " " << i << " " << j;
      }
    }
  }
}

// What other ranks' columns hold counts for a row's dominance.
TYPED_TEST(Bound, CouplingsToOtherRanksCount)
{
  const HostCsr offd = make_csr(3, 2, {{{0, 0}, -1}, {{0, 1}, -2}, {{2, 1}, -0.5}});
  Csr<double, TypeParam> O;
  OK(upload(this->ex, offd, O));
  const auto w = this->to_space(std::vector<double>{1, 2, 3});
  Array<double, TypeParam> outside;
  OK(outside.allocate(this->ex, 3));
  OK(couplings_outside(this->ex, O.view(), w.data(), outside.data()));
  EXPECT_EQ(this->to_host(outside), (std::vector<double>{-3, 0, -4.5}));
}
} // namespace amgkit::test
