#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "graph/root_aggregates.hpp"
#include "sparse/rows/rearrange.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// A neighbour's aggregate; different neighbours have different hashes.
struct Offer {
  double coupling = -1;
  std::uint64_t hash = 0, aggregate = no_key;
};
struct Better {
  AMGKIT_FN Offer operator()(const Offer &a, const Offer &b) const
  {
    if (a.coupling != b.coupling) return a.coupling > b.coupling ? a : b;
    return a.hash > b.hash ? a : b;
  }
};
} // namespace

template <class Ex> PetscErrorCode begin_aggregates(Ex &ex, int n, const int *number, PetscInt first, std::uint64_t *joined)
{
  return for_each(ex, n,
                  [=] AMGKIT_FN(std::int64_t i) { joined[i] = number[i] < 0 ? no_key : static_cast<std::uint64_t>(first + number[i]); });
}

namespace
{
// The aggregate that vertex i joins, no_key for none, by edges or by all that is marked. What is read of a neighbour is read whether it
// offers anything or not, so that a GPU waits once; a host, which does not wait, reads no more than it needs.
template <bool All, class Team>
AMGKIT_FN std::uint64_t best_offer(const Team &team, const CouplingsView &A, std::int64_t i, const std::uint64_t *before,
                                   const std::uint64_t *ghost_before)
{
  const Segment own = entries_of(A.diag, i), other = entries_of(A.offd, i);
  Offer best;
  for (int k : team.share(own.begin, own.end)) {
    const int j = A.diag.col[k];
    if (teams_are_threads && before[j] == no_key) continue;
    const double coupling = fabs(A.val[k]);
    const std::uint64_t aggregate = before[j];
    const PetscInt global = A.first + j;
    if ((All ? A.diag.is_marked(k) : A.diag.is_edge(k)) && coupling > 0 && aggregate != no_key)
      best = Better{}(best, Offer{coupling, hash64(static_cast<std::uint64_t>(global)), aggregate});
  }
  for (int k : team.share(other.begin, other.end)) {
    const int g = A.offd.col[k];
    if (teams_are_threads && ghost_before[g] == no_key) continue;
    const double coupling = fabs(A.ghost_val[k]);
    const std::uint64_t aggregate = ghost_before[g];
    if ((All ? A.offd.is_marked(k) : A.offd.is_edge(k)) && coupling > 0 && aggregate != no_key)
      best = Better{}(best, Offer{coupling, hash64(static_cast<std::uint64_t>(A.ghost[g])), aggregate});
  }
  return team.combine(best, Better{}).aggregate;
}

// Whether |a_ii| is at most so many times the sum of the other |a_ij|
template <class Team> AMGKIT_FN bool depends_on_others(const Team &team, const CouplingsView &A, std::int64_t i, double times)
{
  const Segment own = entries_of(A.diag, i), other = entries_of(A.offd, i);
  double here = 0, others = 0;
  for (int k : team.share(own.begin, own.end)) (A.diag.col[k] == i ? here : others) += fabs(A.val[k]);
  for (int k : team.share(other.begin, other.end)) others += fabs(A.ghost_val[k]);
  return team.sum(here) <= times * team.sum(others);
}
} // namespace

template <class Ex>
PetscErrorCode join_neighbours(Ex &ex, const CouplingsView &couplings, const std::uint64_t *before, const std::uint64_t *ghost_before,
                               std::uint64_t *after)
{
  const CouplingsView A = couplings;
  return for_rows(ex, A.diag.rows, A.diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    std::uint64_t mine = before[i];
    if (mine == no_key) mine = best_offer<false>(team, A, i, before, ghost_before);
    team.once([&] { after[i] = mine; });
  });
}

template <class Ex>
PetscErrorCode join_weakly(Ex &ex, const CouplingsView &couplings, const std::uint64_t *before, const std::uint64_t *ghost_before,
                           std::uint64_t *after)
{
  constexpr double dominant = 2 * (1 + 1e-6); // not 2, which grids have: rounding would decide
  const CouplingsView A = couplings;
  return for_rows(ex, A.diag.rows, A.diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    std::uint64_t mine = before[i];
    if (mine == no_key && depends_on_others(team, A, i, dominant)) mine = best_offer<true>(team, A, i, before, ghost_before);
    team.once([&] { after[i] = mine; });
  });
}

template <class Ex>
PetscErrorCode number_own_aggregates(Ex &ex, const Array<std::uint64_t, Ex> &all, PetscInt first, PetscInt end, int *id,
                                     Array<int, Ex> &strangers, Array<std::uint64_t, Ex> &theirs)
{
  const std::uint64_t *joined = all.data(), begin = static_cast<std::uint64_t>(first);
  const auto own = static_cast<std::uint64_t>(end - first);
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(for_each(ex, all.size(), [=] AMGKIT_FN(std::int64_t i) {
    const std::uint64_t place = joined[i] - begin; // wraps around for what is before
    id[i] = joined[i] != no_key && place < own ? static_cast<int>(place) : -1;
  }));
  PetscCall(strangers.allocate(ex, all.size()));
  PetscCall(compact(
      ex, all.size(), [=] AMGKIT_FN(std::int64_t i) { return joined[i] != no_key && joined[i] - begin >= own; }, strangers.data(), &count));
  PetscCall(theirs.allocate(ex, count));
  const int *vertex = strangers.data();
  std::uint64_t *aggregate = theirs.data();
  PetscCall(for_each(ex, count, [=] AMGKIT_FN(std::int64_t t) { aggregate[t] = joined[vertex[t]]; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode number_ghost_aggregates(Ex &ex, std::int64_t n, const int *vertex, const int *position, int count, int *id)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t t) { id[vertex[t]] = count + position[t]; });
}

AMGKIT_INSTANTIATE(begin_aggregates)
AMGKIT_INSTANTIATE(join_neighbours)
AMGKIT_INSTANTIATE(join_weakly)
AMGKIT_INSTANTIATE(number_own_aggregates)
AMGKIT_INSTANTIATE(number_ghost_aggregates)
} // namespace amgkit
