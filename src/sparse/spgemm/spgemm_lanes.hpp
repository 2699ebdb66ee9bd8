// Sizes of tables, and how many lanes share one.
#pragma once
#include "sparse/spgemm/spgemm.hpp"
#include "sparse/spgemm/spgemm_tables.hpp"

namespace amgkit::spgemm
{
constexpr int tables = SpgemmPlan<Host>::tables;
constexpr int most_places = 256; // of a row, that a byte tells apart

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

// f(lanes) with as many lanes a row of C, Least or more, as suit rows of B of this length; so many that a warp's tables fit in 24 KiB, if
// one does.
template <int Count> struct Lanes {
  static constexpr int value = Count;
};
template <class Table, int Least = 4, class F> PetscErrorCode with_lanes(double average, F f)
{
  constexpr std::size_t most = 24576, bytes = sizeof(Table);
  if constexpr (teams_are_threads) {
    return f(Lanes<1>{}); // or the same would be compiled four times
  } else {
    if constexpr (Least <= 4 && 8 * bytes <= most) {
      if (average <= 5) return f(Lanes<4>{});
    }
    if constexpr (Least <= 8 && 4 * bytes <= most) {
      if (average <= 10) return f(Lanes<8>{});
    }
    if constexpr (2 * bytes <= most) {
      if (average <= 24) return f(Lanes<16>{});
    }
    return f(Lanes<32>{});
  }
}
} // namespace amgkit::spgemm
