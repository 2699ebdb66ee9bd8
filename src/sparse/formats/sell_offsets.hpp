// Stencil and constant slices of sliced ELL: what the rows of a slice have in common, and products with it.
#pragma once
#include "sparse/formats/sell_tiles.hpp"

#include <bit>
#include <cmath>

namespace amgkit
{
AMGKIT_FN inline bool same_bits(double a, double b)
{
#if defined(__CUDA_ARCH__)
  return __double_as_longlong(a) == __double_as_longlong(b);
#else
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
#endif
}
AMGKIT_FN inline int lowest_bit(std::uint64_t mask)
{
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(mask)) - 1;
#else
  return std::countr_zero(mask);
#endif
}

constexpr int offset_tile = 4; // entries of a row
struct OffsetTile {
  int offset[offset_tile][sell_rows];
  double value[offset_tile][sell_rows];
  int length[sell_rows], first[sell_rows], next[sell_rows]; // of the row; its entry that offset[0] has; its entry that is next
};

// The entries of the rows of slice s by ascending offset: see(offset, mask) with the rows that have it; while it returns true and
// want_values(), see_value(offset, value, mask) for each value that is there. Called on every lane.
template <class Team, class See, class Want, class SeeValue>
AMGKIT_FN void for_offsets(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, See see, Want want_values,
                           SeeValue see_value)
{
  const std::int64_t slice = s * sell_rows;
  for (int r : team.share(0, sell_rows)) {
    tile.length[r] = row_range(A, slice + r).length;
    tile.first[r] = -offset_tile; // used up
    tile.next[r] = 0;
  }
  for (;;) {
    int least = INT32_MAX;
    bool used_up = false;
    for (int r : team.share(0, sell_rows)) {
      if (tile.next[r] >= tile.length[r]) continue;
      const int at = tile.next[r] - tile.first[r];
      if (at == offset_tile)
        used_up = true;
      else
        least = tile.offset[at][r] < least ? tile.offset[at][r] : least;
    }
    if (team.any(used_up)) {
      team.sync();
      for (int r : team.share(0, sell_rows)) tile.first[r] = tile.next[r];
      team.sync();
      for (int e : team.share(0, offset_tile * sell_rows)) {
        const int r = e / offset_tile, j = e % offset_tile;
        const RowRange row = row_range(A, slice + r);
        const int k = tile.first[r] + j;
        if (k >= row.length) continue;
        tile.offset[j][r] = A.col[row.begin + k] - static_cast<int>(slice + r);
        tile.value[j][r] = A.val[row.begin + k];
      }
      team.sync();
      continue;
    }
    least = team.combine(least, Min{});
    if (least == INT32_MAX) return;
    std::uint64_t rows = 0;
    for (int r : team.share(0, sell_rows)) {
      if (tile.next[r] < tile.length[r] && tile.offset[tile.next[r] - tile.first[r]][r] == least) rows |= std::uint64_t{1} << r;
    }
    rows = team.combine(rows, Or{});
    if (!see(least, rows)) return;
    for (std::uint64_t left = rows; left && want_values();) {
      const int one = lowest_bit(left);
      const double value = tile.value[tile.next[one] - tile.first[one]][one];
      std::uint64_t same = 0;
      for (int r : team.share(0, sell_rows)) {
        if (left >> r & 1 && same_bits(tile.value[tile.next[r] - tile.first[r]][r], value)) same |= std::uint64_t{1} << r;
      }
      same = team.combine(same, Or{});
      see_value(least, value, same);
      left &= ~same;
    }
    team.sync();
    for (int r : team.share(0, sell_rows)) tile.next[r] += static_cast<int>(rows >> r & 1);
    team.sync();
  }
}

// Bytes of a position, with values in single precision.
constexpr double plain_bytes = sell_rows * (sizeof(std::uint16_t) + sizeof(float)) + sizeof(int);
constexpr double stencil_bytes = sell_rows * sizeof(float) + sizeof(std::uint64_t) + sizeof(int);
constexpr double constant_bytes = sizeof(SellConstant) + sizeof(double);
inline double bytes_of(const SellStart &positions)
{
  return stencil_bytes * positions.mask + plain_bytes * positions.low + constant_bytes * positions.constant;
}

// What slice s takes in the form with the fewest bytes. A position costs time even where it has few bytes: a constant slice may have up to
// twice as many as its longest row has entries.
template <class Team> AMGKIT_FN SellStart fewest_bytes(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s)
{
  int longest = 0, offsets = 0, constants = 0;
  bool finite = true;
  for (int r : team.share(0, sell_rows)) {
    const int length = row_range(A, s * sell_rows + r).length;
    longest = longest < length ? length : longest;
  }
  longest = team.max(longest);
  const auto may_be_constant = [&] { return finite && constants <= 2 * longest; };
  const auto may_be_stencil = [&] { return stencil_bytes * offsets < plain_bytes * longest; };
  for_offsets(
      team, tile, A, s,
      [&](int, std::uint64_t) {
        offsets++;
        return may_be_stencil() || may_be_constant();
      },
      may_be_constant,
      [&](int, double value, std::uint64_t) {
        constants++;
        finite = finite && value - value == 0; // 0 * inf would be seen by rows that lack the entry
      });
  if (longest == 0) return {0, 0, 0, 0};
  const bool stencil = may_be_stencil();
  if (may_be_constant() && constant_bytes * constants < (stencil ? stencil_bytes * offsets : plain_bytes * longest))
    return {0, 0, 0, constants};
  if (stencil) return {offsets, 0, offsets, 0};
  return {longest, longest, 0, 0};
}

// The mask of position p of a stencil or constant slice from there to there
template <class T> AMGKIT_FN std::uint64_t mask_at(const SellView<T> &A, const SellStart &from, const SellStart &to, int p)
{
  return from.constant < to.constant ? A.constant[from.constant + p].mask : A.mask[from.mask + p];
}
} // namespace amgkit
