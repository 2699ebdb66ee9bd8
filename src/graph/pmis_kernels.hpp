#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "graph/pmis.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
constexpr PointWord fine_state = 1, coarse_state = 2;
constexpr int hash_bits = 30;

AMGKIT_FN inline PointWord word_of(int m, PetscInt global)
{
  const PointWord hash = hash64(static_cast<std::uint64_t>(global)) >> (64 - hash_bits);
  return static_cast<PointWord>(static_cast<std::uint32_t>(m)) << 32 | hash << 2;
}

// Whether the key behind a is larger than the one behind b. Different points have different hashes.
AMGKIT_FN inline bool larger(PointWord a, PetscInt global_a, PointWord b, PetscInt global_b)
{
  if (a >> 2 != b >> 2) return a >> 2 > b >> 2;
  return hash64(static_cast<std::uint64_t>(global_a)) > hash64(static_cast<std::uint64_t>(global_b));
}

// What one lane has seen of the points with larger keys in S_i.
struct Ahead {
  bool coarse = false, undecided = false;

  AMGKIT_FN void see(PointWord word)
  {
    coarse = coarse || (word & point_state) == coarse_state;
    undecided = undecided || (word & point_state) == 0;
  }
};
} // namespace

template <class Ex>
PetscErrorCode count_dependents(Ex &ex, const EdgesView &diag, const EdgesView &offd, int *m, int *ghost_m, PointWord *word)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, D.rows, D.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    bool any = false;
    for (int k : team.share(own.begin, own.end)) {
      if (!D.is_edge(k)) continue;
      any = true;
      atomic_add(m + D.col[k], 1);
    }
    for (int k : team.share(other.begin, other.end)) {
      if (!O.is_edge(k)) continue;
      any = true;
      atomic_add(ghost_m + O.col[k], 1);
    }
    any = team.any(any);
    team.once([&] { word[i] = any; });
  });
}

template <class Ex> PetscErrorCode add_to_rows(Ex &ex, std::int64_t n, const int *row, const int *more, int *m)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { atomic_add(m + row[k], more[k]); });
}

template <class Ex> PetscErrorCode first_words(Ex &ex, int n, PetscInt first, Isolated isolated, const int *m, PointWord *word)
{
  const bool keep = isolated == Isolated::coarse;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const PointWord key = word_of(m[i], first + static_cast<PetscInt>(i));
    if (word[i] == 0)
      word[i] = keep ? ~point_state | coarse_state : key | fine_state; // C before all others: with the largest key
    else
      word[i] = m[i] == 0 ? key | fine_state : key;
  });
}

template <class Ex> PetscErrorCode undecided_points(Ex &ex, int n, const PointWord *word, int *list, std::int64_t *count)
{
  return compact(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return (word[i] & point_state) == 0; }, list, count);
}

// In place: what a lane reads of another point's word may be what it was or what it will be, and both lead to the same decision.
template <class Ex>
PetscErrorCode decide_points(Ex &ex, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd, PetscInt first,
                             const PetscInt *ghost, const PointWord *ghost_word, PointWord *word)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, n, D.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const int i = list[t];
    const PointWord mine = word[i];
    if (mine & point_state) return; // in an earlier pass over this list
    const PetscInt global = first + i;
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    Ahead ahead;
    for (int k : team.share(own.begin, own.end)) {
      if (!D.is_edge(k)) continue;
      const PointWord theirs = atomic_load(word + D.col[k]);
      if (larger(theirs, first + D.col[k], mine, global)) ahead.see(theirs);
      if (teams_are_threads && ahead.coarse) break;
    }
    for (int k : team.share(other.begin, other.end)) {
      if (!O.is_edge(k)) continue;
      const PointWord theirs = ghost_word[O.col[k]];
      if (larger(theirs, ghost[O.col[k]], mine, global)) ahead.see(theirs);
    }
    const bool coarse = team.any(ahead.coarse), undecided = team.any(ahead.undecided);
    team.once([&] {
      if (coarse || !undecided) atomic_store(word + i, mine | (coarse ? fine_state : coarse_state));
    });
  });
}

template <class Ex> PetscErrorCode coarse_of_words(Ex &ex, int n, const PointWord *word, unsigned char *coarse)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { coarse[i] = (word[i] & point_state) == coarse_state; });
}

template <class Ex> PetscErrorCode count_coarse_points(Ex &ex, int n, const unsigned char *coarse, int *number, int *count)
{
  std::int64_t total = 0;

  PetscFunctionBegin;
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { number[i] = coarse[i]; }));
  PetscCall(exclusive_scan(ex, n, number, &total));
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (!coarse[i]) number[i] = -1;
  }));
  *count = static_cast<int>(total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T> PetscErrorCode inject(Ex &ex, int n, const int *number, const T *x, T *of_coarse)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (number[i] >= 0) of_coarse[number[i]] = x[i];
  });
}

using Space = AMGKIT_SPACE;
template PetscErrorCode inject(Space &, int, const int *, const int *, int *);
template PetscErrorCode inject(Space &, int, const int *, const double *, double *);
AMGKIT_INSTANTIATE(count_dependents)
AMGKIT_INSTANTIATE(add_to_rows)
AMGKIT_INSTANTIATE(first_words)
AMGKIT_INSTANTIATE(undecided_points)
AMGKIT_INSTANTIATE(decide_points)
AMGKIT_INSTANTIATE(coarse_of_words)
AMGKIT_INSTANTIATE(count_coarse_points)
} // namespace amgkit
