#include "base/parallel.hpp"
#include "sparse/rows/merged_blocks.hpp"

namespace amgkit
{
namespace
{
// to[place] <- own(k), other(k, number) for the entries k of the two blocks. Most rows have no ghosts; who has some counts them anew on
// each lane, which is cheaper than telling the others.
template <class Ex, class T, class Own, class Other> PetscErrorCode merge(Ex &ex, const MergedBlocks &in, T *to, Own own, Other other)
{
  return for_rows(ex, in.rows, in.average, [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int first = in.at[i], begin = in.own ? in.own[i] : 0, end = in.own ? in.own[i + 1] : 0;
    int before = 0, seen = 0;
    for (int k = in.ghosts[i]; k < in.ghosts[i + 1]; k++) before += in.ghost[k] < in.before && in.number[in.ghost[k]] >= 0;
    for (int k : team.share(begin, end)) to[first + before + k - begin] = own(k);
    for (int k = in.ghosts[i]; k < in.ghosts[i + 1]; k++) {
      const int number = in.number[in.ghost[k]];
      if (number < 0) continue;
      const int place = first + seen + (seen < before ? 0 : end - begin);
      team.once([&] { to[place] = other(k, number); });
      seen++;
    }
  });
}
} // namespace

template <class Ex> PetscErrorCode merge_columns(Ex &ex, const MergedBlocks &in, const PetscInt *own, int shift, int *col)
{
  return merge(
      ex, in, col, [=] AMGKIT_FN(int k) { return static_cast<int>(own[k]) + shift; }, [=] AMGKIT_FN(int, int number) { return number; });
}

template <class Ex> PetscErrorCode merge_values(Ex &ex, const MergedBlocks &in, const double *own, const double *ghosts, double *val)
{
  return merge(
      ex, in, val, [=] AMGKIT_FN(int k) { return own[k]; }, [=] AMGKIT_FN(int k, int) { return ghosts[k]; });
}

AMGKIT_INSTANTIATE(merge_columns)
AMGKIT_INSTANTIATE(merge_values)
} // namespace amgkit
