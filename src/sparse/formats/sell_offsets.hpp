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
// A lane's rows of a slice: two on a GPU.
constexpr int rows_of_lane = sell_rows / sell_threads;
__device__ inline int row_of_lane(const CudaTeam<sell_threads> &team, int h) { return team.rank() + h * sell_threads; }
// Those with f(h) for the lane's row h, for every lane
template <class F> __device__ SellMask rows_with(const CudaTeam<sell_threads> &team, F f)
{
  const bool first = f(0), second = f(1);
  return {{team.tile.ballot(first), team.tile.ballot(second)}};
}
// What the lane that has row r knows of it
__device__ inline double of_row(const CudaTeam<sell_threads> &team, const double *of_lane, int r)
{
  return team.tile.shfl(r < sell_threads ? of_lane[0] : of_lane[1], r % sell_threads);
}
#else
inline int count_rows(const SellMask &rows) { return std::popcount(rows.of[0]) + std::popcount(rows.of[1]); }
inline int first_row(const SellMask &rows)
{
  return rows.of[0] ? std::countr_zero(rows.of[0]) : sell_threads + std::countr_zero(rows.of[1]);
}
constexpr int rows_of_lane = sell_rows;
template <class Team> int row_of_lane(const Team &, int h) { return h; }
template <class Team, class F> SellMask rows_with(const Team &, F f)
{
  SellMask rows{};
  for (int r = 0; r < sell_rows; r++) rows.of[r / sell_threads] |= static_cast<std::uint32_t>(f(r)) << r % sell_threads;
  return rows;
}
template <class Team> double of_row(const Team &, const double *of_lane, int r) { return of_lane[r]; }
#endif

constexpr int offset_tile = 4; // entries of a row
struct OffsetTile {
  static constexpr int words = 512;
  union {
    double value[offset_tile][sell_rows + 4]; // more than 64, so that lanes that fill the tile use all banks
    std::uint32_t seen_bits[words];           // before there are values: see have_more()
  };
  int offset[offset_tile][sell_rows + 8];
  int first[sell_rows], end[sell_rows];
};

// A row of a lane: the entry that the tile has first, the next one, the end; and the offset of the next one, or none_left or not_in_tile.
struct OffsetRow {
  int first, next, end, offset;
};
constexpr int none_left = INT32_MAX, not_in_tile = -INT32_MAX;
template <class Team> AMGKIT_FN void begin_rows(const Team &team, const CsrView<double> &A, std::int64_t s, OffsetRow *row)
{
  for (int h = 0; h < rows_of_lane; h++) {
    const RowRange range = row_range(A, s * sell_rows + row_of_lane(team, h));
    row[h] = {range.begin, range.begin, range.begin + range.length, none_left};
  }
}

// Each row's next entries into the tile, all lanes together.
template <class Team>
AMGKIT_FN void load_tile(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t first_of_slice, bool values,
                         OffsetRow *row)
{
  team.sync();
  for (int h = 0; h < rows_of_lane; h++) {
    const int r = row_of_lane(team, h);
    row[h].first = row[h].next;
    tile.first[r] = row[h].next;
    tile.end[r] = row[h].end;
  }
  team.sync();
  for (int e : team.share(0, offset_tile * sell_rows)) {
    const int r = e / offset_tile, j = e % offset_tile, k = tile.first[r] + j;
    if (k >= tile.end[r]) continue;
    tile.offset[j][r] = A.col[k] - static_cast<int>(first_of_slice + r);
    if (values) tile.value[j][r] = A.val[k];
  }
  team.sync();
  for (int h = 0; h < rows_of_lane; h++) row[h].offset = row[h].next < row[h].end ? tile.offset[0][row_of_lane(team, h)] : none_left;
}

// The entries of the rows of slice s, which begin_rows() has begun, by ascending offset: see(offset, rows) with the rows that have it;
// while it returns true and want_values(), see_value(offset, value, rows) for each value that is there. Called on every lane. Values that
// are not wanted once are never wanted again.
template <class Team, class See, class Want, class SeeValue>
AMGKIT_FN void for_offsets(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, OffsetRow *row, See see,
                           Want want_values, SeeValue see_value)
{
  load_tile(team, tile, A, s * sell_rows, want_values(), row);
  for (;;) {
    int least = none_left;
    for (int h = 0; h < rows_of_lane; h++) least = row[h].offset < least ? row[h].offset : least;
    least = -team.max(-least);
    if (least == none_left) return;
    if (least == not_in_tile) {
      load_tile(team, tile, A, s * sell_rows, want_values(), row);
      continue;
    }
    const SellMask rows = rows_with(team, [&](int h) { return row[h].offset == least; });
    if (!see(least, rows)) return;
    if (want_values()) {
      double mine[rows_of_lane];
      for (int h = 0; h < rows_of_lane; h++)
        mine[h] = row[h].offset == least ? tile.value[row[h].next - row[h].first][row_of_lane(team, h)] : 0;
      for (SellMask left = rows; !is_empty(left) && want_values();) {
        const double value = of_row(team, mine, first_row(left));
        const SellMask same = rows_with(team, [&](int h) { return row[h].offset == least && bits_of(mine[h]) == bits_of(value); });
        see_value(least, value, same);
        for (int h = 0; h < 2; h++) left.of[h] &= ~same.of[h];
      }
    }
    for (int h = 0; h < rows_of_lane; h++) {
      if (row[h].offset != least) continue;
      const int at = ++row[h].next - row[h].first;
      row[h].offset = row[h].next == row[h].end ? none_left : at == offset_tile ? not_in_tile : tile.offset[at][row_of_lane(team, h)];
    }
  }
}

// Whether the entries k of slice s, in its rows r, have more than `most` different key(k, r). Rows of coarse matrices say so soon, as each
// has others than those before. Where a row brings few new ones, the answer is no. Keys are hashed to bits, which two may share: there are
// no fewer than are counted.
template <class Team, class Key>
AMGKIT_FN bool have_more(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, int most, Key key)
{
  constexpr int few = 32, far_apart = 37; // an odd number reaches all rows
  constexpr unsigned words = OffsetTile::words;
  int keys = 0;
  if (most < few) return false;
  for (int w : team.share(0, OffsetTile::words)) tile.seen_bits[w] = 0;
  team.sync();
  for (int n = 0; n < sell_rows && keys <= most; n++) {
    const int r = n * far_apart % sell_rows;
    const RowRange row = row_range(A, s * sell_rows + r);
    const int fresh = team.for_chosen(
        row.begin, row.begin + row.length, [&](int k) { return key(k, r); },
        [&](unsigned mine) {
          const unsigned bit = 1U << mine / words % 32;
          return (atomic_or(&tile.seen_bits[mine % words], bit) & bit) == 0;
        },
        [](int, int, unsigned) {});
    keys += fresh;
    if (n > 0 && fresh < row.length / 8) break;
  }
  team.sync();
  return keys > most;
}

// Bytes of a position, with values in single precision.
constexpr double plain_bytes = sell_rows * (sizeof(std::uint16_t) + sizeof(float)) + sizeof(int);
constexpr double stencil_bytes = sell_rows * sizeof(float) + sizeof(SellMask) + sizeof(int);
constexpr double constant_bytes = sizeof(SellConstant) + sizeof(double);
// How many positions a stencil may have to take fewer bytes than so many plain ones.
AMGKIT_FN inline int most_of_stencil(int plain)
{
  return static_cast<int>((static_cast<std::int64_t>(plain_bytes) * plain - 1) / static_cast<std::int64_t>(stencil_bytes));
}
inline double bytes_of(const SellStart &positions)
{
  return stencil_bytes * positions.mask + plain_bytes * positions.low + constant_bytes * positions.constant;
}

// A hash of a slice's entries, of 128 bits: different slices share one with a probability of about 3e-39.
struct SliceHash {
  std::uint64_t of[2] = {0, 0};
};
// Of slice s. All entries are added, so that lanes read them as they lie in memory.
template <class Team> AMGKIT_FN SliceHash hash_of_slice(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s)
{
  struct Entry {
    int column;
    double value;
  };
  const std::int64_t first = s * sell_rows, end = first + sell_rows < A.rows ? first + sell_rows : A.rows;
  SliceHash sum;
  int r = 0; // the row of the lane's entry
  for (int t : team.share(0, static_cast<int>(end - first))) tile.end[t] = A.ptr[first + t + 1];
  team.sync();
  team.for_chosen(
      A.ptr[first], A.ptr[end],
      [&](int k) {
        return Entry{A.col[k], A.val[k]};
      },
      [](const Entry &) { return true; },
      [&](int k, int, const Entry &entry) {
        while (k >= tile.end[r]) r++;
        const auto offset = static_cast<std::uint32_t>(entry.column - static_cast<int>(first + r));
        const std::uint64_t place = std::uint64_t{offset} << 8 | static_cast<std::uint64_t>(r);
        // bijections: entries in one place that differ have other hashes, and those with the same first one have another second one
        const std::uint64_t here = hash64(place * 0x9e3779b97f4a7c15ULL ^ bits_of(entry.value));
        sum.of[0] += here;
        sum.of[1] += hash64(here + place);
      });
  for (std::uint64_t &word : sum.of) word = team.sum(word);
  return sum;
}

// What slices there may be besides plain ones. A position costs time even where it has few bytes: a constant slice has at most so many
// for each entry of its longest row. Of nodes it may have more where all slices are constant, as the Krylov method's product in double
// precision then reads no matrix; beside plain slices, a list longer than twice the longest row does not pay (NOTES.md).
struct SliceKinds {
  bool stencil;
  int most_constants;
};
constexpr SliceKinds kinds_of_rows{true, 2}, kinds_of_nodes{false, 8}, kinds_beside_plain{false, 2};

// How many entries the longest row of a slice has, and all of them; no positions of constants or of a stencil pay that are more than these.
struct SliceSize {
  int longest, entries, most_constants, most_stencil;
};
template <class Team> AMGKIT_FN SliceSize size_of_slice(const Team &team, const CsrView<double> &A, std::int64_t s, const SliceKinds &kinds)
{
  int longest = 0, entries = 0;
  for (int h = 0; h < rows_of_lane; h++) {
    const int length = row_range(A, s * sell_rows + row_of_lane(team, h)).length;
    longest = longest < length ? length : longest;
    entries += length;
  }
  longest = team.max(longest);
  return {longest, team.sum(entries), kinds.most_constants * longest, kinds.stencil ? most_of_stencil(longest) : -1};
}

// What the first look at a slice says of it.
enum class SliceLook { plain, perhaps_stencil, perhaps_constant };
template <class Team>
AMGKIT_FN SliceLook look_at_slice(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, const SliceSize &size)
{
  const auto offset_of = [&](int k, int r) { return static_cast<unsigned>(A.col[k] - r); };
  const auto constant_of = [&](int k, int r) { return static_cast<unsigned>(hash64(hash64(offset_of(k, r)) ^ bits_of(A.val[k]))); };
  if (size.longest == 0) return SliceLook::plain;
  if (!have_more(team, tile, A, s, size.most_constants, constant_of)) return SliceLook::perhaps_constant;
  const bool plain = size.most_stencil < 0 || have_more(team, tile, A, s, size.most_stencil, offset_of);
  return plain ? SliceLook::plain : SliceLook::perhaps_stencil;
}

// What a slice that is not all plain at first sight takes in the form with the fewest bytes. constant: it may be that.
template <class Team>
AMGKIT_FN SellStart fewest_bytes(const Team &team, OffsetTile &tile, const CsrView<double> &A, std::int64_t s, const SliceKinds &kinds,
                                 bool constant)
{
  const SliceSize size = size_of_slice(team, A, s, kinds);
  int entries = size.entries, offsets = 0, constants = 0;
  OffsetRow row[rows_of_lane];
  // the entries that have not been seen take at least so many more positions
  const auto more = [&] { return (entries + sell_rows - 1) / sell_rows; };
  const auto may_be_constant = [&] { return constant = constant && constants + more() <= size.most_constants; };
  const auto may_be_stencil = [&] { return offsets + more() <= size.most_stencil; };
  begin_rows(team, A, s, row);
  for_offsets(
      team, tile, A, s, row,
      [&](int, const SellMask &rows) {
        offsets++;
        entries -= count_rows(rows);
        return may_be_stencil() || may_be_constant();
      },
      may_be_constant,
      [&](int, double value, const SellMask &) {
        constant = constant && value - value == 0; // 0 * inf would be seen by rows that lack the entry
        constants++;
      });
  const bool stencil = may_be_stencil();
  const double others = stencil ? stencil_bytes * offsets : plain_bytes * size.longest;
  if (may_be_constant() && constant_bytes * (constants + 1) < others) return {0, 0, 0, constants + 1};
  return stencil ? SellStart{offsets, 0, offsets, 0} : SellStart{size.longest, size.longest, 0, 0};
}

// Slices with the same entries: a table of hashes, twice as many places as slices. The first one of them owns what they have.
struct SliceTable {
  std::int64_t places, slices;
  std::uint64_t *hash; // 0: nothing is here
  int *owner;          // less the number of slices, so that 0 is none
  SliceHash *of_slice;
  int *place_of_slice;
};
AMGKIT_FN inline void enter(const SliceTable &table, std::int64_t s, SliceHash slice)
{
  slice.of[0] |= 1;
  int place = static_cast<int>(slice.of[1] % static_cast<std::uint64_t>(table.places));
  for (;;) {
    std::uint64_t here = atomic_load(table.hash + place);
    if (here == 0) here = atomic_compare_swap(table.hash + place, std::uint64_t{0}, slice.of[0]);
    if (here == 0 || here == slice.of[0]) break;
    place = place + 1 < table.places ? place + 1 : 0;
  }
  const int mine = static_cast<int>(s - table.slices);
  if (atomic_load(table.owner + place) > mine) atomic_min(table.owner + place, mine);
  table.of_slice[s] = slice;
  table.place_of_slice[s] = place;
}
AMGKIT_FN inline int owner_of(const SliceTable &table, std::int64_t s)
{
  const auto owner = static_cast<std::int64_t>(table.owner[table.place_of_slice[s]]) + table.slices;
  return static_cast<int>(table.of_slice[owner].of[1] == table.of_slice[s].of[1] ? owner : s);
}
} // namespace amgkit
