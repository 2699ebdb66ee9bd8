#include "sparse/rows/search.hpp"
#include "sparse/rows/truncate.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// A place in the order of a row's entries: larger ones first, equal ones by their positions.
struct Place {
  double size;
  int position;

  AMGKIT_FN bool before(const Place &other) const { return size > other.size || (size == other.size && position < other.position); }
};

// The first entry of the row that comes after the given place; position INT32_MAX: none
template <class Team> AMGKIT_FN Place next_largest(const Team &team, const CsrView<double> &P, std::int64_t i, const Place &last)
{
  Place mine{-1, INT32_MAX};
  for (int k : team.share(P.ptr[i], P.ptr[i + 1])) {
    const Place here{fabs(P.val[k]), k};
    if (last.before(here) && here.before(mine)) mine = here;
  }
  const double size = team.combine(mine.size, Max{});
  return {size, team.combine(mine.size == size ? mine.position : INT32_MAX, Min{})};
}

// keep <- which of n numbers stay, n <= most_compared: the place of each is the number of those before it. A search for one after the other
// would mispredict branches, and on a host take longer.
constexpr int most_compared = 64;
AMGKIT_FN inline void mark_largest_by_places(const double *p, int n, const Truncation &rule, unsigned char *keep)
{
  double size[most_compared], least = 0;
  for (int k = 0; k < n; k++) {
    size[k] = fabs(p[k]);
    least = size[k] > least ? size[k] : least;
  }
  least = rule.factor > 0 ? rule.factor * least : 0;
  const std::int64_t most = rule.most > 0 ? rule.most : n; // as wide as a double, for vector registers
  for (int k = 0; k < n; k++) {
    std::int64_t before = 0;
    for (int l = 0; l < k; l++) before += size[l] >= size[k];
    for (int l = k + 1; l < n; l++) before += size[l] > size[k];
    keep[k] = !(size[k] < least) & (before < most);
  }
}

template <bool PlainHost, class Team>
AMGKIT_FN void mark_largest_of_row(const Team &team, const CsrView<double> &P, std::int64_t i, const Truncation &rule, unsigned char *keep)
{
  const int begin = P.ptr[i], end = P.ptr[i + 1];
  if constexpr (PlainHost) {
    if (end - begin <= most_compared) return mark_largest_by_places(P.val + begin, end - begin, rule, keep + begin);
  }
  Place last{-1, INT32_MAX}; // the last that stays
  double least = 0;
  if (rule.factor > 0 || (rule.most > 0 && end - begin > rule.most)) {
    last = next_largest(team, P, i, {HUGE_VAL, -1});
    least = rule.factor > 0 ? rule.factor * last.size : 0; // also where the size is infinite
    if (rule.most > 0 && end - begin > rule.most) {
      for (int n = 1; n < rule.most && last.size >= least; n++) last = next_largest(team, P, i, last);
    } else {
      last = {-1, INT32_MAX};
    }
  }
  for (int k : team.share(begin, end)) {
    const Place here{fabs(P.val[k]), k};
    keep[k] = !(here.size < least) && !last.before(here);
  }
}
} // namespace

template <class Ex> PetscErrorCode mark_largest(Ex &ex, CsrView<double> P, Truncation rule, unsigned char *keep)
{
  PetscFunctionBegin;
  if (P.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_rows(ex, P.rows, P.average(),
                     [=] AMGKIT_FN(auto team, std::int64_t i) { mark_largest_of_row<Ex::one_by_one>(team, P, i, rule, keep); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode scales_of_truncation(Ex &ex, CsrView<double> P, const unsigned char *keep, double *scale)
{
  return for_rows(ex, P.rows, P.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(P, i);
    const double all = team.ordered_sum(row.begin, row.end, [&](int k) { return P.val[k]; });
    const double kept = team.ordered_sum(row.begin, row.end, [&](int k) { return keep[k] ? P.val[k] : 0.0; });
    team.once([&] { scale[i] = kept != 0 ? all / kept : 1; });
  });
}

namespace
{
// A row's entries by their columns over all ranks.
struct WholeRow {
  double *own, *ghosts;
  int own_count, before, count;

  AMGKIT_FN WholeRow(const RoundedRows &P, std::int64_t i)
  {
    const int first = P.own.ptr[i], first_ghost = P.ghosts.nnz > 0 ? P.ghosts.ptr[i] : 0;
    const int ghost_count = P.ghosts.nnz > 0 ? P.ghosts.ptr[i + 1] - first_ghost : 0;
    own = P.own_val + first;
    ghosts = P.ghost_val + first_ghost;
    own_count = P.own.ptr[i + 1] - first;
    count = own_count + ghost_count;
    for (before = 0; before < ghost_count && P.ghosts.col[first_ghost + before] < P.before;) before++;
  }
  AMGKIT_FN double &at(int k) const
  {
    if (k < before) return ghosts[k];
    return k < before + own_count ? own[k - before] : ghosts[k - own_count];
  }
};
} // namespace

template <class Ex> PetscErrorCode round_rows(Ex &ex, const RoundedRows &P)
{
  return for_each(ex, P.own.rows, [=] AMGKIT_FN(std::int64_t i) {
    const WholeRow row(P, i);
    int largest = 0, exponent;
    double sum = 0;
    for (int k = 0; k < row.count; k++) {
      sum += row.at(k);
      if (fabs(row.at(k)) > fabs(row.at(largest))) largest = k;
    }
    if (row.count == 0 || row.at(largest) == 0) return;
    frexp(row.at(largest), &exponent);
    const double q = ldexp(1.0, exponent - 23);
    double rest = rint(sum / q); // in units of q, like all that follow: exact
    for (int k = 0; k < row.count; k++) rest -= rint(row.at(k) / q);
    for (int k = 0; k < row.count; k++) row.at(k) = (rint(row.at(k) / q) + (k == largest ? rest : 0)) * q;
  });
}

AMGKIT_INSTANTIATE(mark_largest)
AMGKIT_INSTANTIATE(round_rows)
AMGKIT_INSTANTIATE(scales_of_truncation)
} // namespace amgkit
