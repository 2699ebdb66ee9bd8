#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "graph/mis.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline bool is_undecided(VertexWord word) { return word != word_out && word != word_root; }

// The largest of mine and the words of i's neighbours, for all lanes.
template <class Team>
AMGKIT_FN VertexWord largest_word(const Team &team, const EdgesView &D, const EdgesView &O, std::int64_t i, const VertexWord *word,
                                  const VertexWord *ghost_word, VertexWord mine)
{
  const Segment own = entries_of(D, i), other = entries_of(O, i);
  for (int k : team.share(own.begin, own.end)) {
    if (D.is_edge(k)) mine = Max{}(mine, word[D.col[k]]);
  }
  for (int k : team.share(other.begin, other.end)) {
    if (O.is_edge(k)) mine = Max{}(mine, ghost_word[O.col[k]]);
  }
  return team.combine(mine, Max{});
}
} // namespace

template <class Ex> PetscErrorCode words_of_vertices(Ex &ex, const EdgesView &diag, const EdgesView &offd, PetscInt first, VertexWord *word)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, D.rows, D.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    bool any = false;
    for (int k : team.share(own.begin, own.end)) any = any || D.is_edge(k);
    for (int k : team.share(other.begin, other.end)) any = any || O.is_edge(k);
    any = team.any(any);
    team.once([&] { word[i] = any ? hash64(static_cast<std::uint64_t>(first + i)) : word_out; });
  });
}

template <class Ex>
PetscErrorCode widen_reach(Ex &ex, const EdgesView &diag, const EdgesView &offd, const VertexWord *from, const VertexWord *ghost_from,
                           VertexWord *reach)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, D.rows, D.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    if (!is_undecided(reach[i])) return;
    const VertexWord largest = largest_word(team, D, O, i, from, ghost_from, from[i]);
    team.once([&] { reach[i] = largest; });
  });
}

template <class Ex>
PetscErrorCode decide_vertices(Ex &ex, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd,
                               const VertexWord *from, const VertexWord *ghost_from, VertexWord *word)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, n, D.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const int i = list[t];
    const VertexWord mine = word[i];
    if (!is_undecided(mine)) return; // in an earlier step over this list
    const VertexWord largest = largest_word(team, D, O, i, from, ghost_from, from[i]);
    team.once([&] {
      if (largest == word_root)
        word[i] = word_out;
      else if (largest == mine)
        word[i] = word_root;
    });
  });
}

template <class Ex> PetscErrorCode undecided_vertices(Ex &ex, int n, const VertexWord *word, int *list, std::int64_t *count)
{
  return compact(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return is_undecided(word[i]); }, list, count);
}

template <class Ex> PetscErrorCode roots_of_words(Ex &ex, int n, const VertexWord *word, unsigned char *root)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { root[i] = word[i] == word_root; });
}

AMGKIT_INSTANTIATE(words_of_vertices)
AMGKIT_INSTANTIATE(widen_reach)
AMGKIT_INSTANTIATE(decide_vertices)
AMGKIT_INSTANTIATE(undecided_vertices)
AMGKIT_INSTANTIATE(roots_of_words)
} // namespace amgkit
