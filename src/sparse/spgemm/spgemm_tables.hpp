// Hash tables of one team, in its scratch memory: linear probing, a column a slot.
#pragma once
#include "base/array.hpp"
#include "base/parallel.hpp"
#include "base/unroll.hpp"

namespace amgkit::spgemm
{
// Size t of them; a table that must not overflow holds half as many columns.
constexpr int slots_of(int t) { return 32 << (2 * t); }
constexpr int columns_of(int t) { return slots_of(t) / 2; }
// A table that may overflow is given up when it holds more columns than these: the last free slots take long to find.
constexpr int most_keys(int slots) { return slots - slots / 8; }

constexpr int bits_below(int slots) { return slots > 1 ? 1 + bits_below(slots / 2) : 0; }
template <int Slots> struct SlotKeys {
  static constexpr int slots = Slots, unused_bits = 32 - bits_below(Slots); // of a hash, which has 32
  static_assert(std::uint64_t{slots} << unused_bits == std::uint64_t{1} << 32);
  int key[Slots]; // a column, or -1
};
template <int T> struct CountedKeys : SlotKeys<slots_of(T)> {
  static constexpr int most = most_keys(slots_of(T));
  int used;
};
// The columns are listed as they come, up to so many.
template <int T, int Columns> struct ListedKeys : CountedKeys<T> {
  static constexpr int columns = Columns, room = Columns + 1; // as for_sorted() needs it
  int list[room];
};
// place[s]: the place of slot s's column among those of a row.
template <int Slots> struct PlacedKeys : SlotKeys<Slots> {
  unsigned short place[Slots];
};
// M sums for each of the columns. Lanes that add to those of different columns use different banks.
template <int Columns, int M> struct RunSums {
  double sum[M][Columns];
};
template <int Slots, int M> struct SumTable : PlacedKeys<Slots>, RunSums<Slots / 2, M> {};
template <int T, int M> using KeyedSums = SumTable<slots_of(T), M>;
// The sums of a block together, as a lane reads and writes all of them; at an odd distance, as lanes have different blocks.
template <int Columns, int Sums> struct BlockSumsOf {
  double sum[Columns][Sums | 1];
};
template <int Slots, int Sums> struct BlockTable : PlacedKeys<Slots>, BlockSumsOf<Slots / 2, Sums> {};

template <class Team, class Table> AMGKIT_FN void clear(const Team &team, Table &table)
{
  for (int s : team.share(0, Table::slots)) table.key[s] = -1;
}

// Multiplies with 2^32 times the golden ratio: the upper bits spread neighbours, and columns at equal distances.
template <class Table> AMGKIT_FN int slot_at(const Table &, int column, int probe)
{
  const unsigned first = static_cast<unsigned>(column) * 2654435769U >> Table::unused_bits;
  return static_cast<int>(first + static_cast<unsigned>(probe)) & (Table::slots - 1);
}

// found(p) for p = 0, 1, ..., Most - 1, until one is true. Nearly all searches end at one of the first slots: these are written out, the
// others are a loop. By itself nvcc writes out all slots of tables with up to 64, and four at a time of larger ones. With 16, setups of
// amgsa and amgclassical take a fifth less on an H100, and blocks need a quarter less code. With 8 they take a twentieth to a tenth more
// than with 16, with 4 a fifth more. On a CPU there is one loop.
inline constexpr int likely_probes = 16;
template <int Most, class F> AMGKIT_FN bool probe_until(F found)
{
  constexpr int likely = !unrolls_when_told || Most < likely_probes ? Most : likely_probes;
  AMGKIT_UNROLL
  for (int p = 0; p < likely; p++) {
    if (found(p)) return true;
  }
  AMGKIT_UNROLL_BY(1)
  for (int p = likely; p < Most; p++) {
    if (found(p)) return true;
  }
  return false;
}

struct Slot {
  int at;     // -1 when the table is full
  bool fresh; // taken by this call
};
template <class Table> AMGKIT_FN Slot insert(Table &table, int column)
{
  Slot slot = {-1, false};
  probe_until<Table::slots>([&](int probe) {
    const int s = slot_at(table, column, probe);
    const int old = atomic_compare_swap(&table.key[s], -1, column);
    const bool found = old == -1 || old == column;
    if (found) slot = {s, old == -1};
    return found;
  });
  return slot;
}

// The slot of a column in a table that nobody changes, -1 when it is not there.
template <class Table> AMGKIT_FN int find(const Table &table, int column)
{
  int slot = -1;
  probe_until<Table::slots>([&](int probe) {
    const int s = slot_at(table, column, probe), key = table.key[s];
    if (key == column) slot = s;
    return key == column || key == -1;
  });
  return slot;
}

// How a product finds its place: by its column, in a table with the n ascending runs of so many columns that col begins with; for all
// lanes.
struct ByColumn {
  template <class Team, class Table> AMGKIT_FN void prepare(const Team &team, Table &table, int n, const int *col, int run) const
  {
    clear(team, table);
    team.sync();
    for (int t : team.share(0, n)) table.place[insert(table, col[run * t] / run).at] = static_cast<unsigned short>(t);
    team.sync();
  }
  AMGKIT_FN int load(const CsrView<double> &B, int k, int) const { return B.col[k]; }
  template <class Table> AMGKIT_FN int place(const Table &table, int column) const
  {
    const int slot = find(table, column);
    return slot < 0 ? -1 : table.place[slot];
  }
};
// As it was noted, for the n-th product of the row.
struct AsNoted {
  const unsigned char *to;

  template <class Team, class Table> AMGKIT_FN void prepare(const Team &team, Table &, int, const int *, int) const { team.sync(); }
  AMGKIT_FN int load(const CsrView<double> &, int, int n) const { return to[n]; }
  template <class Table> AMGKIT_FN int place(const Table &, int place) const { return place; }
};
// Of the rows of C
struct AllByColumn {
  AMGKIT_FN ByColumn of(int) const { return {}; }
};
struct AllAsNoted {
  const int *first;
  const unsigned char *place;

  AMGKIT_FN AsNoted of(int i) const { return {place + first[i]}; }
};
} // namespace amgkit::spgemm
