// What the kernels of both kinds of sliced ELL share: rows are read as they lie in memory, some positions at a time, and turned round in
// scratch memory.
#pragma once
#include "base/parallel.hpp"
#include "sparse/sell.hpp"

namespace amgkit
{
inline std::int64_t sell_slices(int rows) { return (std::int64_t{rows} + sell_rows - 1) / sell_rows; }

AMGKIT_FN inline bool is_representable_in_single(double a)
{
  constexpr double most = 1e18, least = 1.2e-38;
  const double size = a < 0 ? -a : a;
  return size == 0 || (size >= least && size <= most);
}

struct RowRange {
  int begin, length;
};
AMGKIT_FN inline RowRange row_range(const CsrView<double> &A, std::int64_t i)
{
  if (i >= A.rows) return {0, 0};
  return {A.ptr[i], A.ptr[i + 1] - A.ptr[i]};
}

constexpr int tile_positions = 8;
template <class T> struct SliceTile {
  T of[tile_positions][sell_rows + 4]; // more than 64, so that lanes that fill a tile of 4-byte entries use 32 banks
};

// tile.of[j][r] = f(r, j), with neighbouring lanes at neighbouring j
template <class Team, class T, class F> AMGKIT_FN void read_tile(const Team &team, SliceTile<T> &tile, F f)
{
  team.sync(); // with what came before
  for (int e : team.share(0, tile_positions * sell_rows)) {
    const int r = e / tile_positions, j = e % tile_positions;
    tile.of[j][r] = f(r, j);
  }
  team.sync();
}
} // namespace amgkit
