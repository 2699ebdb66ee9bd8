#include "base/hash.hpp"
#include "sparse/rows/locality.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
constexpr int piece = 8; // columns

// The entries of row i whose piece is not there before them, in this row or in row i - 1.
AMGKIT_FN inline int new_pieces(const CsrView<double> &A, std::int64_t i)
{
  const Segment row = entries_of(A, i), before = entries_of(A, i - 1);
  int count = 0, last = -1;
  for (int k = row.begin, b = before.begin; k < row.end; k++) {
    const int here = A.col[k] / piece;
    while (b < before.end && A.col[b] / piece < here) b++;
    if (here != last && (b == before.end || A.col[b] / piece != here)) count++;
    last = here;
  }
  return count;
}
} // namespace

template <class Ex> PetscErrorCode scattered_share(Ex &ex, CsrView<double> A, double *share)
{
  constexpr int one_of = 15, shift = 32; // odd: rows begin pieces, and do not
  std::int64_t both = 0;                 // new pieces, entries
  Array<std::int64_t, Ex> counts;

  PetscFunctionBegin;
  PetscCall(counts.allocate(ex, A.rows / one_of));
  std::int64_t *count = counts.data();
  // apart from the sum, in which a thread has several rows, one after the other
  PetscCall(for_each(ex, counts.size(), [=] AMGKIT_FN(std::int64_t t) {
    const std::int64_t i = one_of * t + one_of / 2;
    const Segment row = entries_of(A, i);
    count[t] = (std::int64_t{new_pieces(A, i)} << shift) + (row.end - row.begin);
  }));
  PetscCall(reduce<std::int64_t>(
      ex, counts.size(), [=] AMGKIT_FN(std::int64_t t) { return count[t]; }, 0, Sum{}, &both));
  const std::int64_t entries = both & ((std::int64_t{1} << shift) - 1);
  *share = entries > 0 ? static_cast<double>(both >> shift) / static_cast<double>(entries) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode cluster_order(Ex &ex, CsrView<double> A, Array<int, Ex> &order)
{
  constexpr int shift = 32;
  Array<std::uint32_t, Ex> hashes, largest;
  Array<std::uint64_t, Ex> keys;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, A.rows, hashes, largest));
  PetscCall(allocate_each(ex, A.rows, keys, order));
  std::uint32_t *from = hashes.data(), *to = largest.data();
  std::uint64_t *key = keys.data();
  int *old = order.data();
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    from[i] = static_cast<std::uint32_t>(hash64(static_cast<std::uint64_t>(i)) >> shift);
    old[i] = static_cast<int>(i);
  }));
  for (int edges = 1; edges <= 4; edges++, std::swap(from, to)) {
    PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
      const Segment row = entries_of(A, i);
      std::uint32_t most = from[i];
      for (int k : team.share(row.begin, row.end)) {
        const std::uint32_t there = from[A.col[k]];
        most = there > most ? there : most;
      }
      most = team.max(most);
      team.once([&] {
        to[i] = most;
        if (edges == 2) key[i] = most;
        if (edges == 4) key[i] |= std::uint64_t{most} << shift;
      });
    }));
  }
  PetscCall(stable_sort_pairs(ex, A.rows, key, old, 2 * shift));
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
