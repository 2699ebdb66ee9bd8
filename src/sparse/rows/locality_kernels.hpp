#include "base/hash.hpp"
#include "sparse/rows/locality.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
constexpr int upper_half = 32; // of a word of 64 bits

// The nodes that the first row of node I touches, and above them, from bit 32 on, those whose piece is not there before them, in this row
// or in that of node I - 1.
AMGKIT_FN inline std::int64_t new_pieces_and_nodes(const CsrView<double> &A, int bs, int nodes_a_piece, std::int64_t I)
{
  const Segment row = entries_of(A, bs * I), before = entries_of(A, bs * (I - 1));
  std::int64_t pieces = 0, nodes = 0;
  int last_node = -1, last = -1;
  for (int k = row.begin, b = before.begin; k < row.end; k++) {
    const int node = A.col[k] / bs, here = node / nodes_a_piece;
    while (b < before.end && A.col[b] / bs / nodes_a_piece < here) b++;
    if (here != last && (b == before.end || A.col[b] / bs / nodes_a_piece != here)) pieces++;
    if (node != last_node) nodes++;
    last_node = node;
    last = here;
  }
  return (pieces << upper_half) + nodes;
}

// key[I] <- h_4 above h_2, as cluster_order() has them; node[I] <- I
template <class Ex> PetscErrorCode cluster_keys(Ex &ex, CsrView<double> A, int bs, std::uint64_t *key, int *node)
{
  const int nodes = A.rows / bs;
  Array<std::uint32_t, Ex> hashes, largest;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, nodes, hashes, largest));
  std::uint32_t *from = hashes.data(), *to = largest.data();
  PetscCall(for_each(ex, nodes, [=] AMGKIT_FN(std::int64_t I) {
    from[I] = static_cast<std::uint32_t>(hash64(static_cast<std::uint64_t>(I)) >> upper_half);
    node[I] = static_cast<int>(I);
  }));
  for (int edges = 1; edges <= 4; edges++, std::swap(from, to)) {
    PetscCall(for_rows(ex, nodes, bs * A.average(), [=] AMGKIT_FN(auto team, std::int64_t I) {
      const Segment rows = {entries_of(A, bs * I).begin, entries_of(A, bs * I + bs - 1).end}; // a node's entries stand together
      std::uint32_t most = from[I];
      for (int k : team.share(rows.begin, rows.end)) {
        const std::uint32_t there = from[A.col[k] / bs];
        most = there > most ? there : most;
      }
      most = team.max(most);
      team.once([&] {
        to[I] = most;
        if (edges == 2) key[I] = most;
        if (edges == 4) key[I] |= std::uint64_t{most} << upper_half;
      });
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode scattered_share(Ex &ex, CsrView<double> A, int bs, double *share)
{
  constexpr int columns = 8, least = 15, enough = 1 << 16; // one node in so many at least, and no more nodes than needed
  const int nodes_a_piece = columns > bs ? columns / bs : 1, one_of = std::max(least, A.rows / bs / enough);
  std::int64_t both = 0;
  Array<std::int64_t, Ex> counts;

  PetscFunctionBegin;
  PetscCall(counts.allocate(ex, A.rows / bs / one_of));
  std::int64_t *count = counts.data();
  // apart from the sum, in which a thread has several nodes, one after the other
  PetscCall(for_each(ex, counts.size(), [=] AMGKIT_FN(std::int64_t t) {
    // a hash, so that no period of the rows matters
    const std::uint64_t any = hash64(static_cast<std::uint64_t>(t)) % static_cast<unsigned>(one_of);
    const std::int64_t I = one_of * t + static_cast<std::int64_t>(any);
    count[t] = new_pieces_and_nodes(A, bs, nodes_a_piece, I > 0 ? I : 1);
  }));
  PetscCall(reduce<std::int64_t>(
      ex, counts.size(), [=] AMGKIT_FN(std::int64_t t) { return count[t]; }, 0, Sum{}, &both));
  const std::int64_t nodes = both & ((std::int64_t{1} << upper_half) - 1);
  *share = nodes > 0 ? static_cast<double>(both >> upper_half) / static_cast<double>(nodes) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode cluster_order(Ex &ex, CsrView<double> A, int bs, Array<int, Ex> &order)
{
  const int nodes = A.rows / bs;
  Array<std::uint64_t, Ex> keys;
  Array<int, Ex> of_nodes;

  PetscFunctionBegin;
  PetscCall(keys.allocate(ex, nodes));
  PetscCall(of_nodes.allocate(ex, nodes));
  PetscCall(cluster_keys(ex, A, bs, keys.data(), of_nodes.data()));
  PetscCall(stable_sort_pairs(ex, nodes, keys.data(), of_nodes.data(), 2 * upper_half));
  if (bs == 1) {
    order = std::move(of_nodes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(order.allocate(ex, A.rows));
  const int *node = of_nodes.data();
  int *row = order.data();
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { row[i] = node[i / bs] * bs + static_cast<int>(i % bs); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode gather_rows(Ex &ex, std::int64_t n, int m, const int *index, const double *from, double *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    for (int k = 0; k < m; k++) to[m * i + k] = from[std::int64_t{m} * index[i] + k];
  });
}

template <class Ex> PetscErrorCode scatter(Ex &ex, std::int64_t n, const int *index, const double *from, double *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { to[index[i]] = from[i]; });
}

AMGKIT_INSTANTIATE(scattered_share)
AMGKIT_INSTANTIATE(cluster_order)
AMGKIT_INSTANTIATE(gather_rows)
AMGKIT_INSTANTIATE(scatter)
} // namespace amgkit
