// What the kernels of both kinds of sliced ELL share: rows are read as they lie in memory, some positions at a time, and turned round in
// scratch memory.
#pragma once
#include "base/parallel.hpp"
#include "sparse/formats/sell.hpp"

namespace amgkit
{
inline std::int64_t sell_slices(int rows) { return (std::int64_t{rows} + sell_rows - 1) / sell_rows; }

AMGKIT_FN inline bool is_representable_in_single(double a)
{
  constexpr double most = 1e18, least = 1.2e-38;
  const double size = a < 0 ? -a : a;
  return size == 0 || (size >= least && size <= most);
}

template <class T> AMGKIT_FN bool is_representable(double a)
{
  if constexpr (std::is_same_v<T, float>)
    return is_representable_in_single(a);
  else
    return true;
}

struct RowRange {
  int begin, length;
};
AMGKIT_FN inline RowRange row_range(const CsrView<double> &A, std::int64_t i)
{
  if (i >= A.rows) return {0, 0};
  return {A.ptr[i], A.ptr[i + 1] - A.ptr[i]};
}

// Where the rows of slices are: row r of slice s, and the two of thread t of all slices' threads. Those of the last slice may lie beyond
// A's.
struct KeptRows {
  AMGKIT_FN std::int64_t row(std::int64_t s, int r) const { return s * sell_rows + r; }
  AMGKIT_FN SellPair<std::int64_t> pair(std::int64_t t) const
  {
    const std::int64_t first = t / sell_threads * sell_rows + t % sell_threads;
    return {{first, first + sell_threads}};
  }
};
struct SortedRows {
  const SellPair<std::uint16_t> *order; // of a SellView
  AMGKIT_FN static std::int64_t window(std::int64_t s) { return s * sell_rows / sell_window * sell_window; }
  AMGKIT_FN std::int64_t row(std::int64_t s, int r) const
  {
    return window(s) + order[s * sell_threads + r % sell_threads].of[r / sell_threads];
  }
  AMGKIT_FN SellPair<std::int64_t> pair(std::int64_t t) const
  {
    const std::int64_t first = window(t / sell_threads);
    const SellPair<std::uint16_t> place = order[t];
    return {{first + place.of[0], first + place.of[1]}};
  }
};
// f(rows) for those of this order, or of none
template <class F> PetscErrorCode with_rows(const SellPair<std::uint16_t> *order, F f)
{
  return order ? f(SortedRows{order}) : f(KeptRows{});
}

constexpr int tile_positions = 8;
template <class T> struct SliceTile {
  T of[tile_positions][sell_rows + 4]; // more than 64, so that lanes that fill a tile of 4-byte entries use 32 banks
};

// How many teams share the positions of a slice, so that few slices of long rows fill a GPU.
inline int teams_of_slice(std::int64_t slices, double average)
{
  constexpr std::int64_t enough = 4096;
  const std::int64_t wanted = (enough + slices - 1) / std::max<std::int64_t>(slices, 1);
  return static_cast<int>(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(average) / tile_positions, 1, std::max<std::int64_t>(wanted, 1)));
}

// How many lanes share what one thread would do in so many steps one after the other: few threads would leave the GPU waiting for memory.
inline int lanes_of_rows(std::int64_t threads, double steps)
{
  constexpr std::int64_t enough = 1 << 17;
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= steps && 2 * lanes * threads <= enough) lanes *= 2;
  return lanes;
}

// Which of the teams of a slice it is.
struct TeamOfSlice {
  int number, all;
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

// What becomes of (A x)_i: read(i) is on its way before that is known.
template <class V> struct SellProduct {
  struct Read {};
  AMGKIT_FN Read read(std::int64_t) const { return {}; }
  AMGKIT_FN V operator()(const Read &, V s) const { return s; }
};
template <class V> struct SellAdded {
  struct Read {
    V y;
  };
  const V *y;
  AMGKIT_FN Read read(std::int64_t i) const { return {y[i]}; }
  AMGKIT_FN V operator()(const Read &at, V s) const { return at.y + s; }
};
template <class V> struct SellResidual {
  struct Read {
    V b;
  };
  const V *b;
  AMGKIT_FN Read read(std::int64_t i) const { return {b[i]}; }
  AMGKIT_FN V operator()(const Read &at, V s) const { return at.b - s; }
};
template <class D, class V> struct SellRelaxed {
  struct Read {
    D d;
    V b, x, previous;
  };
  V momentum, factor;
  const D *d;
  const V *b, *x, *previous;
  AMGKIT_FN Read read(std::int64_t i) const { return {d[i], b[i], x[i], momentum != 0 && previous ? previous[i] : V{0}}; }
  AMGKIT_FN V operator()(const Read &at, V s) const
  {
    V moved = 0;
    if (momentum != 0) moved = momentum * (previous ? at.x - at.previous : at.x);
    return at.x + moved + factor * static_cast<V>(at.d) * (at.b - s);
  }
};

// For both rows i of a thread, of which the second, or both, may lie beyond the matrix: f.read(i); and y_i = f(that, s_i)
template <class F> struct TwoReads {
  typename F::Read of[2];
};
template <class F> AMGKIT_FN TwoReads<F> read_two(int rows, const SellPair<std::int64_t> &i, const F &f)
{
  TwoReads<F> at{};
  for (int h = 0; h < 2; h++) {
    if (i.of[h] < rows) at.of[h] = f.read(i.of[h]);
  }
  return at;
}
template <class F, class S, class V>
AMGKIT_FN void store_two(int rows, const SellPair<std::int64_t> &i, const F &f, const TwoReads<F> &at, const SellPair<S> &s, V *y)
{
  for (int h = 0; h < 2; h++) {
    if (i.of[h] < rows) y[i.of[h]] = f(at.of[h], static_cast<V>(s.of[h]));
  }
}
} // namespace amgkit
