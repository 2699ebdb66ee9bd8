#include "graph/second_strength.hpp"
#include "sparse/rows/rearrange.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode mark_counted(Ex &ex, CsrView<double> diag, CsrView<double> offd, const Strength<Ex> &S, CoarseNumbers coarse,
                            unsigned char *mark, unsigned char *ghost_mark)
{
  const unsigned char *strong = S.diag.data(), *ghost_strong = S.offd.data();
  const int *number = coarse.number;
  const std::uint64_t *ghosts = coarse.ghosts;
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const int from = number[i] >= 0 ? from_coarse : 0;
    for (int k : team.share(own.begin, own.end)) {
      const int j = diag.col[k], into = number[j] >= 0 ? into_coarse : 0;
      mark[k] = static_cast<unsigned char>(j == i ? from : strong[k] ? from | into : 0);
    }
    for (int k : team.share(other.begin, other.end)) {
      const int into = ghosts[offd.col[k]] != no_key ? into_coarse : 0;
      ghost_mark[k] = static_cast<unsigned char>(ghost_strong[k] ? from | into : 0);
    }
  });
}

template <class Ex> PetscErrorCode weigh_steps(Ex &ex, CsrView<double> L, int first, double *val)
{
  return for_rows(ex, L.rows, L.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(L, i);
    for (int k : team.share(row.begin, row.end)) val[k] = L.col[k] == first + i ? 2 : 1;
  });
}

template <class Ex>
PetscErrorCode mark_edges(Ex &ex, CsrView<double> counts, const int *number, int first, int least_count, unsigned char *keep)
{
  return for_rows(ex, counts.rows, counts.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(counts, i);
    for (int k : team.share(row.begin, row.end)) keep[k] = counts.val[k] >= least_count && counts.col[k] != first + number[i];
  });
}

template <class Ex> PetscErrorCode spread_coarse(Ex &ex, int n, const int *number, const unsigned char *coarse, unsigned char *second)
{
  return for_each(ex, n,
                  [=] AMGKIT_FN(std::int64_t i) { second[i] = static_cast<unsigned char>(number[i] >= 0 && coarse[number[i]] ? 1 : 0); });
}

AMGKIT_INSTANTIATE(mark_counted)
AMGKIT_INSTANTIATE(weigh_steps)
AMGKIT_INSTANTIATE(mark_edges)
AMGKIT_INSTANTIATE(spread_coarse)
} // namespace amgkit
