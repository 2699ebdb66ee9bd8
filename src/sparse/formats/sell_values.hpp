// The values of sliced ELL's slices, from compressed rows.
#pragma once
#include "sparse/formats/sell_offsets.hpp"

namespace amgkit
{
// What is stored of an entry a.
template <class T> AMGKIT_FN T stored_of(double a)
{
  if constexpr (std::is_same_v<T, std::int16_t>)
    return rest_of(a);
  else
    return static_cast<T>(a);
}

// lost_value: T cannot represent it, or a constant slice has another value there. lost_digits: it was rounded.
constexpr unsigned lost_value = 1, lost_digits = 2;
template <class T> AMGKIT_FN unsigned losses_of(double a)
{
  if constexpr (std::is_same_v<T, float>) {
    if (!is_representable_in_single(a)) return lost_value;
    return static_cast<double>(static_cast<float>(a)) != a ? lost_digits : 0;
  } else {
    return 0;
  }
}

// Values of a plain slice, position by position; what they lose
template <class Team, class Rows, class T>
AMGKIT_FN unsigned plain_values(const Team &team, SliceTile<T> &tile, const CsrView<double> &A, const Rows &rows, std::int64_t s,
                                const SellStart &from, int positions, const TeamOfSlice &mine, SellPair<T> *val)
{
  unsigned lost = 0;
  for (int p = mine.number * tile_positions; p < positions; p += mine.all * tile_positions) {
    read_tile(team, tile, [&](int r, int j) {
      const RowRange row = row_range(A, rows.row(s, r));
      const double a = p + j < row.length ? A.val[row.begin + p + j] : 0;
      lost |= losses_of<T>(a);
      return stored_of<T>(a);
    });
    for (int e : team.share(0, tile_positions * sell_threads)) {
      const int j = e / sell_threads, t = e % sell_threads;
      if (p + j < positions) val[(std::int64_t{from.pair} + p + j) * sell_threads + t] = {{tile.of[j][t], tile.of[j][t + sell_threads]}};
    }
  }
  return lost;
}

// The same of a stencil slice.
template <class Team, class Read, class T>
AMGKIT_FN unsigned stencil_values(const Team &team, const CsrView<double> &A, const SellView<Read> &out, std::int64_t s, int positions,
                                  SellPair<T> *val)
{
  const SellStart from = out.start[s];
  unsigned lost = 0;
  for (int t : team.share(0, sell_threads)) {
    int next[2] = {row_range(A, s * sell_rows + t).begin, row_range(A, s * sell_rows + t + sell_threads).begin};
    for (int p = 0; p < positions; p++) {
      SellPair<T> pair;
      const SellMask rows = out.mask[from.mask + p];
      for (int h = 0; h < 2; h++) {
        const double a = rows.of[h] >> t & 1 ? A.val[next[h]++] : 0;
        lost |= losses_of<T>(a);
        pair.of[h] = stored_of<T>(a);
      }
      val[(std::int64_t{from.pair} + p) * sell_threads + t] = pair;
    }
  }
  return lost;
}

// What a constant slice's values lose
template <class Team, class T>
AMGKIT_FN unsigned constants_lost(const Team &team, const CsrView<double> &A, SellValues values, const SellView<T> &out, std::int64_t s)
{
  const int list = out.start[s].constant, end = list + 1 + out.constant[list].offset;
  unsigned lost = 0;
  for (int k : team.share(list + 1, end)) lost |= losses_of<T>(out.exact[k]);
  if (values == SellValues::known) return lost;
  for (int r : team.share(0, sell_rows)) {
    int next = row_range(A, s * sell_rows + r).begin;
    for (int k = list + 1; k < end; k++) {
      if (has_row(out.constant[k].mask, r) && bits_of(A.val[next++]) != bits_of(out.exact[k])) lost |= lost_value;
    }
  }
  return lost;
}
} // namespace amgkit
