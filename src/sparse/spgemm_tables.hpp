// Hash tables of one team, in its scratch memory: linear probing, a column a slot.
#pragma once
#include "base/parallel.hpp"

namespace amgkit::spgemm
{
// Size t of them; a table that must not overflow holds half as many columns.
constexpr int slots_of(int t) { return 32 << (2 * t); }
constexpr int columns_of(int t) { return slots_of(t) / 2; }

constexpr int bits_below(int slots) { return slots > 1 ? 1 + bits_below(slots / 2) : 0; }
template <int Slots> struct SlotKeys {
  static constexpr int slots = Slots, unused_bits = 32 - bits_below(Slots); // of a hash, which has 32
  static_assert(std::uint64_t{slots} << unused_bits == std::uint64_t{1} << 32);
  int key[Slots]; // a column, or -1
};
template <int T> using Keys = SlotKeys<slots_of(T)>;
// The columns are listed as they come.
template <int T> struct ListedKeys : Keys<T> {
  int used;
  int list[columns_of(T)];
};
// M sums for each column; place[s]: which ones belong to slot s. Lanes that add to those of different columns use different banks.
template <int Slots, int M> struct SumTable : SlotKeys<Slots> {
  unsigned short place[Slots];
  double sum[M][Slots / 2];
};
template <int T, int M> using KeyedSums = SumTable<slots_of(T), M>;
// The sums of a block together, as a lane reads and writes all of them; at an odd distance, as lanes have different blocks.
template <int Slots, int Sums> struct BlockTable : SlotKeys<Slots> {
  unsigned short place[Slots];
  double sum[Slots / 2][Sums | 1];
};

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

struct Slot {
  int at;     // -1 when the table is full
  bool fresh; // taken by this call
};
template <class Table> AMGKIT_FN Slot insert(Table &table, int column)
{
  for (int probe = 0; probe < Table::slots; probe++) {
    const int s = slot_at(table, column, probe);
    const int old = atomic_compare_swap(&table.key[s], -1, column);
    if (old == -1) return {s, true};
    if (old == column) return {s, false};
  }
  return {-1, false};
}

// The slot of a column in a table that nobody changes, -1 when it is not there.
template <class Table> AMGKIT_FN int find(const Table &table, int column)
{
  for (int probe = 0; probe < Table::slots; probe++) {
    const int s = slot_at(table, column, probe);
    if (table.key[s] == column) return s;
    if (table.key[s] == -1) return -1;
  }
  return -1;
}
} // namespace amgkit::spgemm
