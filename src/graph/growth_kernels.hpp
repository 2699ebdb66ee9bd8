#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "graph/growth.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace growth
{
struct Marks {
  unsigned bits[marks_of_ball / 32];

  AMGKIT_FN void set(int vertex)
  {
    const auto place = static_cast<unsigned>(hash64(static_cast<std::uint64_t>(vertex)) % marks_of_ball);
    atomic_or(bits + place / 32, 1U << place % 32);
  }
  AMGKIT_FN int count(int word) const
  {
    int n = 0;
    for (unsigned rest = bits[word]; rest != 0; rest &= rest - 1) n++;
    return n;
  }
};
} // namespace growth

template <class Ex> PetscErrorCode count_balls(Ex &ex, const EdgesView &diag, const EdgesView &offd, std::int64_t n, BallCount *counts)
{
  const EdgesView D = diag, O = offd;
  return for_rows_with<32, growth::Marks>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t t, auto &marks) {
    const std::int64_t begin = t * D.rows / n, end = (t + 1) * D.rows / n; // a random one of these: grids have regular rows
    const auto i = static_cast<int>(
        begin + static_cast<std::int64_t>(hash64(static_cast<std::uint64_t>(t)) % static_cast<std::uint64_t>(end - begin)));
    const Segment own = entries_of(D, i), other = entries_of(O, i);
    bool leaves = false;
    int first = 0, marked = 0;
    for (int k : team.share(other.begin, other.end)) leaves = leaves || O.is_edge(k);
    for (int k : team.share(own.begin, own.end)) first += D.is_edge(k) ? 1 : 0;
    for (int w : team.share(0, marks_of_ball / 32)) marks.bits[w] = 0;
    first = team.sum(first);
    if (team.any(leaves) || first == 0 || first > most_neighbours) {
      team.once([&] { counts[t] = {0, 0}; });
      return;
    }
    team.sync();
    team.once([&] { marks.set(i); });
    for (int k = own.begin; k < own.end; k++) {
      if (!D.is_edge(k)) continue;
      const int j = D.col[k];
      const Segment near = entries_of(D, j), far = entries_of(O, j);
      team.once([&] { marks.set(j); });
      for (int l : team.share(near.begin, Min{}(near.end, near.begin + marks_of_ball))) {
        if (D.is_edge(l)) marks.set(D.col[l]);
      }
      for (int l : team.share(far.begin, Min{}(far.end, far.begin + marks_of_ball))) {
        if (O.is_edge(l)) marks.set(D.rows + O.col[l]);
      }
    }
    team.sync();
    for (int w : team.share(0, marks_of_ball / 32)) marked += marks.count(w);
    marked = team.sum(marked);
    team.once([&] { counts[t] = {first + 1, marked}; });
  });
}

AMGKIT_INSTANTIATE(count_balls)
} // namespace amgkit
