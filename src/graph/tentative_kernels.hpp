#include "base/parallel.hpp"
#include "graph/tentative.hpp"
#include "sparse/rows/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace amgkit
{
namespace
{
struct Projection {
  int k;
  bool first, last; // of column k's
};
AMGKIT_FN inline Projection projection(int turn) { return {turn / 2, turn % 2 == 0 || turn == 1, turn % 2 == 1}; }

// The m numbers, or m x m, of piece s.
template <class T> AMGKIT_FN T *numbers_of(const AggregatePieces &P, const OfPieces<T> &of, int s, int n)
{
  return s < P.own ? of.own + std::int64_t{s} * n : of.ghost + std::int64_t{s - P.own} * n;
}

// f(row of B, row of T) for the rows of piece s that a lane has, the same ones every time
template <class Team, class F> AMGKIT_FN void for_rows_of(const Team &team, const AggregatePieces &P, int s, F f)
{
  const int *row = s < P.own ? P.row.own : P.row.ghost, begin = P.ptr[s], nodes = P.ptr[s + 1] - begin;
  double *T = s < P.own ? P.T.own : P.T.ghost;
  for (int t : team.share(0, nodes * P.bs)) {
    const std::int64_t first = std::int64_t{P.node[begin + t / P.bs]} * P.bs;
    const int c = t % P.bs;
    f(P.B + (first + c) * P.m, T + row[first] + c * P.m);
  }
}

// sums[j] <- T_j · v for j < k, sums[k] <- v · v; 0 beyond. So many at once, in registers.
constexpr int together = 4;
template <class Team> AMGKIT_FN void add_up_piece(const Team &team, const AggregatePieces &P, Projection p, int s)
{
  double *sums = numbers_of(P, P.sums, s, P.m);
  for (int first = 0; first < P.m; first += together) {
    double mine[together] = {};
    if (first <= p.k) {
      for_rows_of(team, P, s, [&](const double *b, const double *x) {
        const double v = p.first ? b[p.k] : x[p.k];
        for (int u = 0; u < together; u++) {
          if (first + u <= p.k) mine[u] += (first + u < p.k ? x[first + u] : v) * v;
        }
      });
    }
    for (int u = 0; u < together; u++) {
      const double sum = team.sum(mine[u]);
      team.once([&] {
        if (first + u < P.m) sums[first + u] = sum;
      });
    }
  }
}

// v -= sum of h_j T_j; the last projection divides by |v| besides.
template <class Team> AMGKIT_FN void project_piece(const Team &team, const AggregatePieces &P, Projection p, int s)
{
  const double *h = numbers_of(P, P.sums, s, P.m);
  double *R = numbers_of(P, P.R, s, P.m * P.m);
  const int m = P.m, k = p.k;
  double left = h[k], gone = 0; // |v|², and what both projections take from |B_k|²
  for (int j = 0; j < k; j++) {
    const double both = h[j] + (p.first ? 0 : R[j * m + k]);
    left -= h[j] * h[j];
    gone += both * both;
  }
  const bool dependent = left <= dependent_below * dependent_below * (left + gone);
  const double norm = dependent ? 0 : sqrt(left);
  team.sync();
  for (int j : team.share(0, m)) R[j * m + k] = j < k ? h[j] + (p.first ? 0 : R[j * m + k]) : j == k && p.last ? norm : 0;
  for_rows_of(team, P, s, [&](const double *b, double *x) {
    double v = p.first ? b[k] : x[k];
    for (int j = 0; j < k; j++) v -= h[j] * x[j];
    x[k] = !p.last ? v : dependent ? 0 : v / norm;
  });
  team.once([&] {
    if (p.last && s < P.own) P.zero[s * m + k] = dependent;
  });
}

// A counting sort. From the last node to the first, each takes the place before the one that its piece took last. Nodes of no piece come
// after all pieces.
inline void place_one_by_one(const Array<int, Host> &ids, int pieces, int *ptr, int *node)
{
  const auto n = static_cast<int>(ids.size());
  const int *id = ids.data();
  int in_none = n;

  std::fill_n(ptr, std::int64_t{pieces} + 1, 0);
  for (int i = 0; i < n; i++) {
    if (id[i] >= 0) ptr[id[i]]++;
  }
  std::partial_sum(ptr, ptr + pieces + std::int64_t{1}, ptr); // where they end
  for (int i = n - 1; i >= 0; i--) node[id[i] < 0 ? --in_none : --ptr[id[i]]] = i;
}
} // namespace

template <class Ex> PetscErrorCode nodes_of_pieces(Ex &ex, const Array<int, Ex> &ids, int pieces, int *ptr, int *node)
{
  const std::int64_t n = ids.size();
  const int *id = ids.data(), nodes = static_cast<int>(n);
  Array<std::uint64_t, Ex> keys;
  int bits = 1;

  PetscFunctionBegin;
  if constexpr (Ex::one_by_one) {
    place_one_by_one(ids, pieces, ptr, node);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(keys.allocate(ex, n));
  std::uint64_t *key = keys.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    key[i] = static_cast<std::uint64_t>(id[i] < 0 ? pieces : id[i]);
    node[i] = static_cast<int>(i);
  }));
  while (pieces >> bits) bits++;
  PetscCall(stable_sort_pairs(ex, n, key, node, bits));
  PetscCall(for_each(ex, std::int64_t{pieces} + 1, [=] AMGKIT_FN(std::int64_t s) {
    ptr[s] = first_not_below([=](int k) { return static_cast<int>(key[k]); }, 0, nodes, static_cast<int>(s));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode block_pattern(Ex &ex, const Array<int, Ex> &ids, int begin, int end, int bs, int m, Csr<double, Ex> &M)
{
  const std::int64_t nodes = ids.size(), rows = nodes * bs;
  const int *id = ids.data();
  Array<int, Ex> counts;
  std::int64_t inside = 0;

  PetscFunctionBegin;
  M.rows = static_cast<int>(rows);
  M.cols = (end - begin) * m;
  PetscCall(M.ptr.allocate(ex, rows + 1));
  PetscCall(counts.allocate(ex, nodes + 1));
  int *before = counts.data(), *ptr = M.ptr.data();
  PetscCall(memory_zero(ex, before, counts.bytes()));
  if (begin < end) {
    PetscCall(for_each(ex, nodes, [=] AMGKIT_FN(std::int64_t i) { before[i] = id[i] >= begin && id[i] < end; }));
    PetscCall(exclusive_scan(ex, nodes, before, &inside));
  }
  PetscCheck(inside * bs * m <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  PetscCall(allocate_each(ex, inside * bs * m, M.col, M.val));
  int *col = M.col.data();
  PetscCall(for_each(ex, rows + 1, [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t I = i / bs;
    const bool in = I < nodes && before[I] < before[I + 1];
    const int first = (before[I] * bs + (in ? static_cast<int>(i % bs) : 0)) * m;
    ptr[i] = first;
    if (!in) return;
    for (int k = 0; k < m; k++) col[first + k] = (id[I] - begin) * m + k;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode crossing_pieces(Ex &ex, const Array<int, Ex> &receiving, int m, int own, int ghosts, Array<int, Ex> &pieces)
{
  const std::int64_t here = receiving.size() / m;
  const int *column = receiving.data();

  PetscFunctionBegin;
  PetscCall(pieces.allocate(ex, here + ghosts));
  int *piece = pieces.data();
  PetscCall(for_each(ex, pieces.size(),
                     [=] AMGKIT_FN(std::int64_t t) { piece[t] = t < here ? column[t * m] / m : own + static_cast<int>(t - here); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode orthonormalise(Ex &ex, const AggregatePieces &all)
{
  const AggregatePieces P = all;
  return for_rows(ex, P.own, P.average, [=] AMGKIT_FN(auto team, std::int64_t s) {
    for (int turn = 1; turn < 2 * P.m; turn++) {
      const Projection p = projection(turn);
      add_up_piece(team, P, p, static_cast<int>(s));
      team.sync();
      project_piece(team, P, p, static_cast<int>(s));
      team.sync();
    }
  });
}

template <class Ex> PetscErrorCode add_up(Ex &ex, const AggregatePieces &all, int turn, const Array<int, Ex> &pieces)
{
  const AggregatePieces P = all;
  const int *piece = pieces.data();
  return for_rows(ex, pieces.size(), P.average,
                  [=] AMGKIT_FN(auto team, std::int64_t t) { add_up_piece(team, P, projection(turn), piece[t]); });
}

template <class Ex> PetscErrorCode project(Ex &ex, const AggregatePieces &all, int turn, const Array<int, Ex> &pieces)
{
  const AggregatePieces P = all;
  const int *piece = pieces.data();
  return for_rows(ex, pieces.size(), P.average,
                  [=] AMGKIT_FN(auto team, std::int64_t t) { project_piece(team, P, projection(turn), piece[t]); });
}

AMGKIT_INSTANTIATE(nodes_of_pieces)
AMGKIT_INSTANTIATE(block_pattern)
AMGKIT_INSTANTIATE(crossing_pieces)
AMGKIT_INSTANTIATE(orthonormalise)
AMGKIT_INSTANTIATE(add_up)
AMGKIT_INSTANTIATE(project)
} // namespace amgkit
