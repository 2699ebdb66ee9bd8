#include "base/parallel.hpp"
#include "graph/matching.hpp"
#include "sparse/rows/search.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// |c| - 1 for c = 1 - 2 a_ij w_i w_j / (a_ii w_i² + a_jj w_j²), rounded; 0 when |c| <= 1 or the denominator vanishes
AMGKIT_FN inline float excess(double a_ij, double a_ii, double a_jj, double w_i, double w_j)
{
  const double denominator = a_ii * w_i * w_i + a_jj * w_j * w_j;
  const double q = -2 * a_ij * w_i * w_j / denominator; // c = 1 + q
  const double more = q > 0 ? q : -q - 2;
  return more > 0 && more < HUGE_VAL ? static_cast<float>(more < 1e38 ? more : 1e38) : 0;
}

// Weights of edges that match after all others: within the bound [1, 1e6] last_weight, others (0, 1) last_weight.
constexpr float last_weight = 1e-30F;
AMGKIT_FN inline float last_within(float quality) { return last_weight * (quality < 1e6F ? quality : 1e6F); }
// Large c first, c <= 1 after the rest; 0 where c < -1, which no definite matrix has
AMGKIT_FN inline float last_beyond(double a_ij, double a_ii, double a_jj, double w_i, double w_j)
{
  const double q = -2 * a_ij * w_i * w_j / (a_ii * w_i * w_i + a_jj * w_j * w_j);
  if (!(q >= -2)) return 0; // NaN among them
  return last_weight * (q > 1e-5 ? static_cast<float>(q < 1e5 ? q / (1 + q) : 0.99999) : 1e-6F * static_cast<float>(3 + q));
}

// kappa / mu, 0 when the pair must not be matched; all in units of sqrt(D_i D_j). v = -(b_ij + b_ji) / 2, delta_i in units of D_i,
// root_i = sqrt(D_i). Single precision will do for a bound.
AMGKIT_FN inline float quality(float kappa, float v, double root_i, double root_j, float delta_i, float delta_j)
{
  const auto r = static_cast<float>(root_i < root_j ? root_i / root_j : root_j / root_i);
  const float d_i = root_i < root_j ? delta_i * r : delta_i / r, d_j = root_i < root_j ? delta_j / r : delta_j * r, both = d_i + d_j;
  if (!(both >= 0)) return 0;
  const float below = v + (both > 0 ? d_i * d_j / both : 0), above = 2 / (r + 1 / r);    // mu = above / below
  return below > 0 && above > 0 && above <= kappa * below ? kappa * (below / above) : 0; // the same bits with i and j exchanged
}

// What decides among the edges of one vertex; first in the order means largest.
struct EdgeKey {
  float weight;
  int gap, odd, low;
};
AMGKIT_FN inline EdgeKey edge_key(float weight, int i, int j)
{
  const int low = i < j ? i : j, gap = i < j ? j - i : i - j;
  return {weight, gap, low / gap % 2, low};
}
AMGKIT_FN inline bool before(const EdgeKey &a, const EdgeKey &b)
{
  if (a.weight != b.weight) return a.weight > b.weight;
  if (a.gap != b.gap) return a.gap < b.gap;
  if (a.odd != b.odd) return a.odd < b.odd;
  return a.low < b.low;
}

// A suitor and the weight of its edge in one word, so that both change together; 0 is nobody.
using Proposal = std::uint64_t;
AMGKIT_FN inline Proposal make_proposal(float weight, int suitor)
{
  union {
    float f;
    std::uint32_t u;
  } bits{weight};
  return static_cast<Proposal>(bits.u) << 32 | static_cast<std::uint32_t>(suitor);
}
AMGKIT_FN inline int suitor_of(Proposal p) { return static_cast<int>(p & 0xffffffffU); }
AMGKIT_FN inline float weight_of(Proposal p)
{
  union {
    std::uint32_t u;
    float f;
  } bits{static_cast<std::uint32_t>(p >> 32)};
  return bits.f;
}

// The vertex to propose to, the key of that edge, and who is displaced.
struct Choice {
  int to = -1; // nobody
  EdgeKey key{};
  Proposal displaced = 0;
};
struct BetterChoice {
  AMGKIT_FN Choice operator()(const Choice &a, const Choice &b) const { return a.to >= 0 && (b.to < 0 || !before(b.key, a.key)) ? a : b; }
};

// succ(i) and pred(i), -1 for none
template <class Ex> PetscErrorCode find_links(Ex &ex, CsrView<double> A, const EdgeWeights<Ex> &edges, int *succ, int *pred)
{
  const float *weight = edges.weight.data(), *strongest = edges.strongest.data();
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    int above = A.rows, below = -1;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      const int j = A.col[k];
      if (weight[k] <= 0 || weight[k] != strongest[i] || weight[k] != strongest[j]) continue;
      if (j > i)
        above = j < above ? j : above;
      else
        below = j > below ? j : below;
    }
    above = team.combine(above, Min{});
    below = team.max(below);
    team.once([&] {
      succ[i] = above < A.rows ? above : -1;
      pred[i] = below;
    });
  });
}

// jump[i] = 2 v + parity: v is a vertex before i on its path, parity that of the distance between them. A start points to itself.
using Jump = std::uint32_t;
AMGKIT_FN inline std::int64_t target(Jump jump) { return jump >> 1; }

// Makes all jumps four times as long until each reaches the start of its path: O(log(longest path)) rounds.
template <class Ex> PetscErrorCode jump_to_starts(Ex &ex, int n, Array<Jump, Ex> &jumps, Array<Jump, Ex> &spare)
{
  constexpr int rounds_between_checks = 2, jumps_a_round = 4; // a check makes the host wait, a superfluous round costs less
  int moving = 1;

  PetscFunctionBegin;
  while (moving) {
    for (int round = 0; round < rounds_between_checks; round++) {
      const Jump *from = jumps.data();
      Jump *to = spare.data();
      PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
        Jump jump = from[i];
        for (int j = 1; j < jumps_a_round; j++) jump = from[target(jump)] ^ (jump & 1U);
        to[i] = jump;
      }));
      std::swap(jumps, spare);
    }
    const Jump *jump = jumps.data();
    PetscCall(reduce<int>(
        ex, n, [=] AMGKIT_FN(std::int64_t i) { return int{target(jump[target(jump[i])]) != target(jump[i])}; }, 0, Max{}, &moving));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On a plain host, where one thread takes row after row: each edge once, at its smaller end. The larger end's row is read from entry to
// entry, as i ascends.
template <class F> PetscErrorCode weigh_edges_once(Host &ex, CsrView<double> A, F weigh, float *weight, float *strongest)
{
  Array<int, Host> nexts; // next[j]: the first entry of row j that no row before i has looked for

  PetscFunctionBegin;
  PetscCall(nexts.allocate(ex, A.rows));
  int *next = nexts.data();
  std::copy_n(A.ptr, A.rows, next);
  std::fill_n(weight, A.nnz, 0.0F);
  std::fill_n(strongest, A.rows, 0.0F);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (j <= i) continue;
      while (next[j] < A.ptr[j + 1] && A.col[next[j]] < i) next[j]++;
      const int mirror = next[j];
      if (mirror == A.ptr[j + 1] || A.col[mirror] != i || A.val[k] == 0 || A.val[mirror] == 0) continue;
      const float result = weigh(i, j, A.val[k], A.val[mirror]);
      weight[k] = weight[mirror] = result;
      strongest[i] = std::max(strongest[i], result);
      strongest[j] = std::max(strongest[j], result);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The weight of edge {i, j}, i < j, is weigh(i, j, a_ij, a_ji). Both of its entries have it; other entries have 0.
template <class Ex, class F> PetscErrorCode weigh_edges(Ex &ex, CsrView<double> A, F weigh, EdgeWeights<Ex> &edges)
{
  PetscFunctionBegin;
  PetscCall(edges.weight.allocate(ex, A.nnz));
  PetscCall(edges.strongest.allocate(ex, A.rows));
  float *weight = edges.weight.data(), *strongest = edges.strongest.data();
  if constexpr (Ex::one_by_one) PetscFunctionReturn(weigh_edges_once(ex, A, weigh, weight, strongest));
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t row) {
    const int i = static_cast<int>(row);
    float largest = 0;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      const int j = A.col[k], mirror = i == j ? -1 : mirror_of(A, i, k);
      const double here = A.val[k], there = mirror < 0 ? 0 : A.val[mirror];
      const bool edge = here != 0 && there != 0; // a row without an edge is left out of the coarse level
      const float result = !edge ? 0 : i < j ? weigh(i, j, here, there) : weigh(j, i, there, here);
      weight[k] = result;
      largest = result > largest ? result : largest;
    }
    largest = team.max(largest);
    team.once([&] { strongest[i] = largest; });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode edge_weights(Ex &ex, CsrView<double> A, const double *a, const double *smooth, EdgeWeights<Ex> &edges, bool all)
{
  const OrOnes<double> w = {smooth};
  const auto weigh = [=] AMGKIT_FN(int i, int j, double upper, double) {
    const float result = excess(upper, a[i], a[j], w[i], w[j]);
    return all && result == 0 ? last_beyond(upper, a[i], a[j], w[i], w[j]) : result;
  };
  return weigh_edges(ex, A, weigh, edges);
}

namespace
{
// root[i] = sqrt |D_i|, delta[i] = delta_i / D_i. Sums that count as 0 in any order may be added in any. All others are added in order:
// their last bits decide edges.
template <class Ex>
PetscErrorCode dominances(Ex &ex, CsrView<double> A, const double *a, OrOnes<double> w, const PairBound &bound, double *root, float *delta)
{
  const double *outside = bound.outside, *smoothed = bound.smoothed;
  // A sum of this size beside D_i counts as 0. Rounding would need 1e-7 where the coefficient jumps by 1e9, as coarse sums are what is left
  // of large entries that cancel. Elements of higher order need 1e-3: beside a boundary, in directions in which they are long, the sums of
  // their rows are slightly negative, and no pair would be allowed there. Where D_i and D_j are alike, mu moves by 3 % at kappa = 60.
  constexpr double noise = 1e-3;
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double D_i = smoothed ? smoothed[i] : w[i] * a[i] * w[i], others = outside ? outside[i] : 0, least = noise * fabs(D_i);
    const auto term = [=](int k) { return A.val[k] * w[A.col[k]]; };
    SumAndSizes own;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) own.take(term(k));
    own.gather(team);
    double sum = w[i] * own.sum + others;
    const bool null = fabs(sum) + fabs(w[i]) * own.apart() < least;
    if (!null && !Ex::one_by_one) sum = w[i] * team.ordered_sum(A.ptr[i], A.ptr[i + 1], term) + others;
    team.once([&] {
      root[i] = sqrt(fabs(D_i));
      delta[i] = fabs(sum) < least || D_i == 0 ? 0 : static_cast<float>(sum / D_i);
    });
  });
}
} // namespace

template <class Ex>
PetscErrorCode bounded_edge_weights(Ex &ex, CsrView<double> A, const double *a, const double *smooth, const PairBound &bound,
                                    EdgeWeights<Ex> &edges)
{
  const OrOnes<double> w = {smooth};
  Array<double, Ex> roots;
  Array<float, Ex> deltas;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, A.rows, roots, deltas));
  const auto kappa = static_cast<float>(bound.kappa);
  const bool by_quality = bound.by_quality, positive = bound.positive, beyond = bound.beyond;
  const double *smoothed = bound.smoothed;
  float *delta = deltas.data();
  double *root = roots.data();
  PetscCall(dominances(ex, A, a, w, bound, root, delta));
  const auto weigh = [=] AMGKIT_FN(int i, int j, double upper, double lower) {
    const double given_i = smoothed ? smoothed[i] : w[i] * a[i] * w[i], given_j = smoothed ? smoothed[j] : w[j] * a[j] * w[j];
    const double sign = given_i < 0 ? -1 : 1, D_i = sign * given_i, D_j = sign * given_j, v = -0.5 * sign * scaled(w, upper + lower, i, j);
    // where both rows dominate, mu <= 2 min(D_i, D_j) / v: most edges need no more than this
    const bool surely = v > 0 && delta[i] >= 0 && delta[j] >= 0 && 2 * (D_i < D_j ? D_i : D_j) <= kappa * v;
    float result = 0;
    if (by_quality || positive || !surely) {
      const double unit = root[i] * root[j];
      result = unit > 0 ? quality(kappa, static_cast<float>(v / unit), root[i], root[j], delta[i], delta[j]) : 0;
    }
    if (!by_quality && (surely || result > 0)) {
      const float last = positive ? last_within(result) : 0;
      result = excess(upper, a[i], a[j], w[i], w[j]);
      if (result == 0) result = last;
    }
    return beyond && result == 0 ? last_beyond(upper, a[i], a[j], w[i], w[j]) : result;
  };
  PetscCall(weigh_edges(ex, A, weigh, edges));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode couplings_outside(Ex &ex, CsrView<double> offd, const double *smooth, double *outside)
{
  const OrOnes<double> w = {smooth};
  return for_each(ex, offd.rows, [=] AMGKIT_FN(std::int64_t i) {
    double sum = 0;
    for (int k = offd.ptr[i]; k < offd.ptr[i + 1]; k++) sum += offd.val[k];
    outside[i] = w[i] * sum * w[i];
  });
}

template <class Ex> PetscErrorCode match_paths(Ex &ex, CsrView<double> A, const EdgeWeights<Ex> &edges, int *mate)
{
  Array<int, Ex> above, below;
  Array<Jump, Ex> jumps, spare;
  const int n = A.rows;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, n, above, below, jumps, spare));
  int *succ = above.data(), *pred = below.data();
  PetscCall(find_links(ex, A, edges, succ, pred));
  Jump *jump = jumps.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const int previous = pred[i];
    const bool linked = previous >= 0 && succ[previous] == i;
    jump[i] = linked ? static_cast<Jump>(previous) << 1 | 1U : static_cast<Jump>(i) << 1;
  }));
  PetscCall(jump_to_starts(ex, n, jumps, spare));
  const Jump *distance = jumps.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (distance[i] & 1U)
      mate[i] = pred[i];
    else
      mate[i] = succ[i] >= 0 && pred[succ[i]] == i ? succ[i] : -1;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Each free vertex proposes to the best neighbour that does not have a better suitor; who is displaced proposes again, by the
// same team. Every proposal a vertex holds only improves, so any schedule ends in the same matching: suitor(suitor(v)) = v.
template <class Ex> PetscErrorCode match_suitor(Ex &ex, CsrView<double> A, const EdgeWeights<Ex> &edges, int *mate)
{
  Array<Proposal, Ex> proposals;
  const float *weight = edges.weight.data();

  PetscFunctionBegin;
  PetscCall(proposals.allocate(ex, A.rows));
  PetscCall(memory_zero(ex, proposals.data(), proposals.bytes()));
  Proposal *held = proposals.data();
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t first) {
    constexpr int nobody = -1;
    int i = mate[first] < 0 ? static_cast<int>(first) : nobody;
    while (i >= 0) { // the same for all lanes
      Choice best;
      for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
        const int j = A.col[k];
        if (weight[k] <= 0 || mate[j] >= 0) continue;
        const EdgeKey key = edge_key(weight[k], i, j);
        if (best.to >= 0 && !before(key, best.key)) continue;
        const Proposal current = atomic_load(held + j);
        if (current && !before(key, edge_key(weight_of(current), suitor_of(current), j))) continue;
        best = {j, key, current};
      }
      best = team.combine(best, BetterChoice{});
      if (best.to < 0) break;
      const Proposal mine = make_proposal(best.key.weight, i), displaced = best.displaced;
      Proposal *of_best = held + best.to;
      int next = nobody;
      team.once([&] {
        const bool taken = atomic_compare_swap(of_best, displaced, mine) == displaced;
        next = !taken ? i : displaced ? suitor_of(displaced) : nobody; // not taken: look again
      });
      i = team.max(next);
    }
  }));
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    if (mate[i] >= 0 || !held[i]) return;
    const int j = suitor_of(held[i]);
    if (held[j] && suitor_of(held[j]) == i) mate[i] = j;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Two vertices at most join a pair, one for each of its own: a hub of many leaves does not make one aggregate of them all.
template <class Ex> PetscErrorCode join_pairs(Ex &ex, CsrView<double> A, const EdgeWeights<Ex> &edges, int *mate, bool pair_rest)
{
  Array<int, Ex> wanted, accepted; // whom a vertex would join; who may join it, the first of them
  const float *weight = edges.weight.data();

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, A.rows, wanted, accepted));
  int *want = wanted.data(), *accept = accepted.data();
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { accept[i] = A.rows; }));
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t row) {
    const int i = static_cast<int>(row);
    int best = -1;
    EdgeKey best_key{};
    for (int k = A.ptr[i]; mate[i] == -1 && k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (weight[k] <= 0 || mate[j] < 0) continue;
      const EdgeKey key = edge_key(weight[k], i, j);
      if (best >= 0 && !before(key, best_key)) continue;
      best = j;
      best_key = key;
    }
    want[i] = best;
    if (best >= 0) atomic_min(accept + best, i);
  }));
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    if (want[i] >= 0 && accept[want[i]] == i) mate[i] = join(want[i]);
  }));
  if (!pair_rest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t j) { // i with want[i] = j is met by j alone
    int first = -1;
    for (int k = A.ptr[j]; accept[j] < A.rows && k < A.ptr[j + 1]; k++) {
      const int i = A.col[k];
      if (want[i] != j || accept[j] == i) continue;
      if (first >= 0) {
        mate[first] = i;
        mate[i] = first;
      }
      first = first >= 0 ? -1 : i;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(edge_weights)
AMGKIT_INSTANTIATE(bounded_edge_weights)
AMGKIT_INSTANTIATE(couplings_outside)
AMGKIT_INSTANTIATE(match_paths)
AMGKIT_INSTANTIATE(match_suitor)
AMGKIT_INSTANTIATE(join_pairs)
} // namespace amgkit
