// Sizes of tables, and how many lanes share one.
#pragma once
#include "sparse/spgemm/spgemm.hpp"
#include "sparse/spgemm/spgemm_factors.hpp"
#include "sparse/spgemm/spgemm_tables.hpp"

namespace amgkit::spgemm
{
constexpr int tables = SpgemmPlan<Host>::tables;
constexpr int most_places = 256; // of a row, that a byte tells apart
constexpr int noted_tables = 3;  // whose rows have no more columns
static_assert(columns_of(noted_tables - 1) <= most_places && columns_of(noted_tables) > most_places);

// Where the factors consist of blocks, the shapes whose values are summed by blocks, and the sizes of tables with their sums: 48 KiB of
// scratch hold the largest of the largest blocks.
struct BlockShape {
  int rows, inner, run;
};
inline constexpr BlockShape block_shapes[] = {{2, 2, 2}, {2, 2, 3}, {3, 2, 3}, {3, 3, 3}, {3, 3, 6}, {6, 3, 6}, {6, 6, 6}};
constexpr int count_block_shapes = sizeof(block_shapes) / sizeof(block_shapes[0]);
constexpr int first_wide_shape = 4, most_narrow = 3; // in files of their own: see spgemm_blocks_kernels.hpp
static_assert(block_shapes[first_wide_shape - 1].run <= most_narrow && block_shapes[first_wide_shape].run > most_narrow);
constexpr int block_slots_of(int t) { return 32 << t; }
constexpr int block_columns_of(int t) { return block_slots_of(t) / 2; }

inline bool is_block_shape(int rows, int inner, int run)
{
  for (const BlockShape &shape : block_shapes) {
    if (shape.rows == rows && shape.inner == inner && shape.run == run) return true;
  }
  return false;
}

// f(Size<t>) for the sizes of tables
template <int T> struct Size {
  static constexpr int value = T;
};
template <class F> PetscErrorCode for_sizes(F f)
{
  PetscFunctionBegin;
  static_assert(tables == 4);
  PetscCall(f(Size<0>{}));
  PetscCall(f(Size<1>{}));
  PetscCall(f(Size<2>{}));
  PetscCall(f(Size<3>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Lanes that suit rows of B of this average length.
inline int lanes_for(double average) { return average <= 5 ? 4 : average <= 10 ? 8 : average <= 24 ? 16 : 32; }
// f(lanes) with so many lanes a row of C, Least or more; so many that a warp's tables fit in 24 KiB, if one does.
template <int Count> struct Lanes {
  static constexpr int value = Count;
};
template <class Table, int Least = 4, class F> PetscErrorCode with_lanes(int suited, F f)
{
  constexpr std::size_t most = 24576, bytes = sizeof(Table);
  if constexpr (teams_are_threads) {
    return f(Lanes<1>{}); // or the same would be compiled four times
  } else {
    if constexpr (Least <= 4 && 8 * bytes <= most) {
      if (suited <= 4) return f(Lanes<4>{});
    }
    if constexpr (Least <= 8 && 4 * bytes <= most) {
      if (suited <= 8) return f(Lanes<8>{});
    }
    if constexpr (2 * bytes <= most) {
      if (suited <= 16) return f(Lanes<16>{});
    }
    return f(Lanes<32>{});
  }
}

// A kernel for fewer rows than fill a GPU takes as long as one of them. So a list of few rows goes with the next list that has any. On
// hosts fewer are few, so that tests see lists of both kinds.
template <class Ex> constexpr std::int64_t few_teams = Ex::on_device ? 4096 : 4;
// Tables of size t with one sum a column: as many as take 24 of the 30 MB of scratch of an H200.
template <class Ex> constexpr std::int64_t few_with_table(int t)
{
  return std::min<std::int64_t>(few_teams<Ex>, (24 << 20) / (sizeof(KeyedSums<0, 1>) << (2 * t)));
}

// Of the first n lists, by size of table. begin[t]: where list t begins, which ends at begin[t + 1].
template <class Ex> void join_lists_of_few(int n, std::int64_t *begin)
{
  for (int t = 0; t + 1 < n; t++) {
    int larger = t + 1;
    while (larger < n && begin[larger] == begin[larger + 1]) larger++;
    if (larger < n && begin[t + 1] - begin[t] <= few_with_table<Ex>(larger)) std::fill(begin + t + 1, begin + larger + 1, begin[t]);
  }
}

// f(lanes) for a list of n rows of C: as many as suit the rows of B. Where these do not fill a GPU, more, up to a warp: with 32 lanes,
// 2 * 4096 rows are as many threads as an H200 runs at once.
template <class Ex, class Table, class F> PetscErrorCode with_lanes_for_list(std::int64_t n, double average, F f)
{
  constexpr std::int64_t few = few_teams<Ex>;
  const int filling = n <= 2 * few ? 32 : n <= 4 * few ? 16 : n <= 8 * few ? 8 : 4;
  return with_lanes<Table>(std::max(lanes_for(average), filling), f);
}

// f(lanes, readers) for columns, which may be found in any order: lanes beyond those that suit a row of B read other rows at the same time.
template <class Ex, class Table, class F> PetscErrorCode with_readers_for_list(std::int64_t n, double average, F f)
{
  return with_lanes_for_list<Ex, Table>(n, average, [&](auto lanes) {
    if constexpr (decltype(lanes)::value > 4) {
      const int suited = lanes_for(average);
      if (suited < lanes.value) return f(lanes, PartOfTeam{suited});
    }
    return f(lanes, WholeTeam{});
  });
}
} // namespace amgkit::spgemm
