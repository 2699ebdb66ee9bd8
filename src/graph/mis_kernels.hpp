#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "graph/mis.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline bool is_undecided(VertexWord word) { return word != word_out && word != word_root; }

// The word across an entry, word_out where that is no edge. It is read in either case, so that a GPU does not wait for the mark first.
AMGKIT_FN inline VertexWord word_across(const EdgesView &E, int k, const VertexWord *word)
{
  const VertexWord across = word[E.col[k]];
  return E.is_edge(k) ? across : word_out;
}

// The largest of mine and the words of a row's neighbours, for all lanes.
template <class Team>
AMGKIT_FN VertexWord largest_word(const Team &team, const EdgesView &D, const EdgesView &O, const Segment &own, const Segment &other,
                                  const VertexWord *word, const VertexWord *ghost_word, VertexWord mine)
{
  for (int k : team.share(own.begin, own.end)) mine = Max{}(mine, word_across(D, k, word));
  for (int k : team.share(other.begin, other.end)) mine = Max{}(mine, word_across(O, k, ghost_word));
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
PetscErrorCode vertices_seen(Ex &ex, std::int64_t n, const int *list, const EdgesView &diag, const Array<int, Ex> &sent,
                             unsigned char *seen, int *seen_list, std::int64_t *count)
{
  const EdgesView D = diag;
  const int *row = sent.data();

  PetscFunctionBegin;
  PetscCall(memory_zero(ex, seen, static_cast<std::size_t>(D.rows)));
  PetscCall(for_each(ex, sent.size(), [=] AMGKIT_FN(std::int64_t k) { seen[row[k]] = 1; }));
  PetscCall(for_rows(ex, n, D.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const int i = list[t];
    const Segment own = entries_of(D, i);
    for (int k : team.share(own.begin, own.end)) {
      if (D.is_edge(k)) seen[D.col[k]] = 1;
    }
    team.once([&] { seen[i] = 1; });
  }));
  PetscCall(compact(
      ex, D.rows, [=] AMGKIT_FN(std::int64_t i) { return seen[i] != 0; }, seen_list, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode widen_reach(Ex &ex, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd, const VertexWord *from,
                           const VertexWord *ghost_from, VertexWord *reach)
{
  const EdgesView D = diag, O = offd;
  return for_rows(ex, n, D.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t i = list ? list[t] : t;
    const VertexWord before = reach[i], mine = from[i];
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    if (!is_undecided(before)) return;
    const VertexWord largest = largest_word(team, D, O, own, other, from, ghost_from, mine);
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
    const VertexWord mine = word[i], reached = from[i];
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    if (!is_undecided(mine)) return; // in an earlier step over this list
    const VertexWord largest = largest_word(team, D, O, own, other, from, ghost_from, reached);
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
AMGKIT_INSTANTIATE(vertices_seen)
AMGKIT_INSTANTIATE(widen_reach)
AMGKIT_INSTANTIATE(decide_vertices)
AMGKIT_INSTANTIATE(undecided_vertices)
AMGKIT_INSTANTIATE(roots_of_words)
} // namespace amgkit
