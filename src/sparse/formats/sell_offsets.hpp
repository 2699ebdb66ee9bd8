// Stencil and constant slices of sliced ELL: what the rows of a slice have in common.
#pragma once
#include "base/hash.hpp"
#include "sparse/formats/sell_tiles.hpp"

#include <bit>

namespace amgkit
{
// Sets of a slice's rows.
AMGKIT_FN inline bool has_row(const SellMask &rows, int r) { return rows.of[r / sell_threads] >> r % sell_threads & 1; }
AMGKIT_FN inline bool is_empty(const SellMask &rows) { return (rows.of[0] | rows.of[1]) == 0; }
#if defined(__CUDACC__)
__device__ inline int first_row(const SellMask &rows)
{
  return rows.of[0] ? __ffs(static_cast<int>(rows.of[0])) - 1 : sell_threads + __ffs(static_cast<int>(rows.of[1])) - 1;
}
__device__ inline int count_rows(const SellMask &rows) { return __popc(rows.of[0]) + __popc(rows.of[1]); }
// Those with f(r), for every lane
template <class F> __device__ SellMask rows_with(const CudaTeam<sell_threads> &team, F f)
{
  const bool first = f(team.rank()), second = f(team.rank() + sell_threads);
  return {{team.tile.ballot(first), team.tile.ballot(second)}};
}
#else
inline int count_rows(const SellMask &rows) { return std::popcount(rows.of[0]) + std::popcount(rows.of[1]); }
inline int first_row(const SellMask &rows)
{
  return rows.of[0] ? std::countr_zero(rows.of[0]) : sell_threads + std::countr_zero(rows.of[1]);
}
template <class Team, class F> SellMask rows_with(const Team &team, F f)
{
  SellMask rows{};
  for (int r : team.share(0, sell_rows)) rows.of[r / sell_threads] |= static_cast<std::uint32_t>(f(r)) << r % sell_threads;
  return rows;
}
#endif

// A position of a constant slice
struct SeenConstant {
  double value;
  SellMask rows;
  int offset;
};

constexpr int offset_tile = 4; // entries of a row
struct OffsetTile {
  double value[offset_tile][sell_rows];
  int offset[offset_tile][sell_rows];
  int begin[sell_rows], length[sell_rows];
  int first[sell_rows], next[sell_rows]; // the row's entry that offset[0] has; its entry that is next
  SeenConstant seen[sell_threads];
};

// Each row's next entries into the tile, all lanes together.
template <class Team> AMGKIT_FN void load_tile(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t first_of_slice)
{
  team.sync();
  for (int r : team.share(0, sell_rows)) tile.first[r] = tile.next[r];
  team.sync();
  for (int e : team.share(0, offset_tile * sell_rows)) {
    const int r = e / offset_tile, j = e % offset_tile, k = tile.first[r] + j;
    if (k >= tile.length[r]) continue;
    tile.offset[j][r] = A.col[tile.begin[r] + k] - static_cast<int>(first_of_slice + r);
    tile.value[j][r] = A.val[tile.begin[r] + k];
  }
  team.sync();
}

// The entries of the rows of slice s by ascending offset: see(offset, rows) with the rows that have it; while it returns true and
// want_values(), see_value(offset, value, rows) for each value that is there. Called on every lane.
template <class Team, class See, class Want, class SeeValue>
AMGKIT_FN void for_offsets(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, See see, Want want_values,
                           SeeValue see_value)
{
  for (int r : team.share(0, sell_rows)) {
    const RowRange row = row_range(A, s * sell_rows + r);
    tile.begin[r] = row.begin;
    tile.length[r] = row.length;
    tile.next[r] = 0;
  }
  load_tile(team, tile, A, s * sell_rows);
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
      load_tile(team, tile, A, s * sell_rows);
      continue;
    }
    least = -team.max(-least);
    if (least == INT32_MAX) return;
    const SellMask rows =
        rows_with(team, [&](int r) { return tile.next[r] < tile.length[r] && tile.offset[tile.next[r] - tile.first[r]][r] == least; });
    if (!see(least, rows)) return;
    for (SellMask left = rows; !is_empty(left) && want_values();) {
      const int one = first_row(left);
      const double value = tile.value[tile.next[one] - tile.first[one]][one];
      const SellMask same = rows_with(
          team, [&](int r) { return has_row(left, r) && bits_of(tile.value[tile.next[r] - tile.first[r]][r]) == bits_of(value); });
      see_value(least, value, same);
      for (int h = 0; h < 2; h++) left.of[h] &= ~same.of[h];
    }
    team.sync();
    for (int r : team.share(0, sell_rows)) tile.next[r] += has_row(rows, r);
    team.sync();
  }
}

// Bytes of a position, with values in single precision.
constexpr double plain_bytes = sell_rows * (sizeof(std::uint16_t) + sizeof(float)) + sizeof(int);
constexpr double stencil_bytes = sell_rows * sizeof(float) + sizeof(SellMask) + sizeof(int);
constexpr double constant_bytes = sizeof(SellConstant) + sizeof(double);
inline double bytes_of(const SellStart &positions)
{
  return stencil_bytes * positions.mask + plain_bytes * positions.low + constant_bytes * positions.constant;
}

// 128 bits that stand for a list: two that differ have the same with a probability of 1e-38.
struct ListHash {
  std::uint64_t of[2] = {0, 0};
};
// Adds elements first to first + n - 1, which are in seen: one lane each, in any order.
template <class Team> AMGKIT_FN void add_seen(const Team &team, const SeenConstant *seen, int first, int n, ListHash &hash)
{
  team.sync();
  for (int e : team.share(0, n)) {
    const std::uint64_t place = static_cast<std::uint64_t>(first + e) << 32 | static_cast<std::uint32_t>(seen[e].offset);
    const std::uint64_t rows = std::uint64_t{seen[e].rows.of[1]} << 32 | seen[e].rows.of[0];
    const std::uint64_t here = hash64(hash64(hash64(place) ^ bits_of(seen[e].value)) ^ rows);
    hash.of[0] += here;
    hash.of[1] += hash64(hash64(~here) ^ rows) ^ hash64(place + 1) * bits_of(seen[e].value);
  }
  team.sync();
}

// What a slice takes in the form with the fewest bytes; of a constant one the elements of its list.
struct SliceForm {
  SellStart counts;
  ListHash list;
};
// What slices there may be besides plain ones. A position costs time even where it has few bytes: a constant slice has at most so many
// for each entry of its longest row. A block has more bytes than an entry, and so costs less beside them.
struct SliceKinds {
  bool stencil;
  int most_constants;
};
constexpr SliceKinds kinds_of_rows{true, 2}, kinds_of_nodes{false, 8};

template <class Team>
AMGKIT_FN SliceForm fewest_bytes(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, const SliceKinds &kinds)
{
  int longest = 0, entries = 0, offsets = 0, constants = 0;
  bool constant = true; // once it is not, values may have been left out
  ListHash list;
  for (int r : team.share(0, sell_rows)) {
    const int length = row_range(A, s * sell_rows + r).length;
    longest = longest < length ? length : longest;
    entries += length;
  }
  longest = team.max(longest);
  entries = team.sum(entries);
  // the entries that have not been seen take at least so many more positions
  const auto more = [&] { return (entries + sell_rows - 1) / sell_rows; };
  const auto may_be_constant = [&] { return constant = constant && constants + more() <= kinds.most_constants * longest; };
  const auto may_be_stencil = [&] { return kinds.stencil && stencil_bytes * (offsets + more()) < plain_bytes * longest; };
  for_offsets(
      team, tile, A, s,
      [&](int, const SellMask &rows) {
        offsets++;
        entries -= count_rows(rows);
        return may_be_stencil() || may_be_constant();
      },
      may_be_constant,
      [&](int offset, double value, const SellMask &rows) {
        constant = constant && value - value == 0; // 0 * inf would be seen by rows that lack the entry
        team.once([&] { tile.seen[constants % sell_threads] = {value, rows, offset}; });
        constants++;
        if (constants % sell_threads == 0) add_seen(team, tile.seen, constants - sell_threads, sell_threads, list);
      });
  add_seen(team, tile.seen, constants / sell_threads * sell_threads, constants % sell_threads, list);
  for (std::uint64_t &word : list.of) word = team.sum(word);
  const bool stencil = may_be_stencil();
  const double others = stencil ? stencil_bytes * offsets : plain_bytes * longest;
  if (longest > 0 && may_be_constant() && constant_bytes * (constants + 1) < others) return {{0, 0, 0, constants + 1}, list};
  if (longest > 0 && stencil) return {{offsets, 0, offsets, 0}, list};
  return {{longest, longest, 0, 0}, list};
}

// The lists that slices share: a table of hashes, twice as many places as slices. Of slices with the same list the first one owns it.
struct ListTable {
  std::int64_t places, slices;
  std::uint64_t *hash; // 0: nothing is here
  int *owner;          // less the number of slices, so that 0 is none
  ListHash *of_slice;
  int *place_of_slice;
};
AMGKIT_FN inline void enter(const ListTable &table, std::int64_t s, ListHash list)
{
  list.of[0] |= 1;
  int place = static_cast<int>(list.of[1] % static_cast<std::uint64_t>(table.places));
  for (;;) {
    std::uint64_t here = atomic_load(table.hash + place);
    if (here == 0) here = atomic_compare_swap(table.hash + place, std::uint64_t{0}, list.of[0]);
    if (here == 0 || here == list.of[0]) break;
    place = place + 1 < table.places ? place + 1 : 0;
  }
  const int mine = static_cast<int>(s - table.slices);
  if (atomic_load(table.owner + place) > mine) atomic_min(table.owner + place, mine);
  table.of_slice[s] = list;
  table.place_of_slice[s] = place;
}
AMGKIT_FN inline int owner_of(const ListTable &table, std::int64_t s)
{
  const auto owner = static_cast<std::int64_t>(table.owner[table.place_of_slice[s]]) + table.slices;
  return static_cast<int>(table.of_slice[owner].of[1] == table.of_slice[s].of[1] ? owner : s);
}
} // namespace amgkit
