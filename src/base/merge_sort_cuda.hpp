// Sorting in a team's scratch, by CUB.
#pragma once
#include <cooperative_groups.h>
#include <cstdint>
#include <cub/warp/warp_merge_sort.cuh>

namespace amgkit
{
// Sorts the n <= Most numbers x, which lie in scratch of the lanes of tile with room for Room numbers. All lanes may read x then. A lane
// has an odd number of them, if there is room, so that lanes use different banks.
template <int Most, int Room, unsigned Lanes, class Parent>
__device__ void merge_sort(const cooperative_groups::thread_block_tile<Lanes, Parent> &tile, int n, int *x)
{
  constexpr int lanes = Lanes, least = (Most + lanes - 1) / lanes, odd = least | 1, each = odd * lanes < Room ? odd : least;
  using Sort = cub::WarpMergeSort<int, each, lanes>;
  static_assert(sizeof(typename Sort::TempStorage) <= Room * sizeof(int));
  const int first = each * static_cast<int>(tile.thread_rank());
  int key[each];
#pragma unroll
  for (int t = 0; t < each; t++) key[t] = first + t < n ? x[first + t] : INT32_MAX;
  tile.sync();
  Sort(*reinterpret_cast<typename Sort::TempStorage *>(x))
      .Sort(
          key, [](int a, int b) { return a < b; }, n, INT32_MAX);
  tile.sync();
#pragma unroll
  for (int t = 0; t < each; t++) {
    if (first + t < n) x[first + t] = key[t];
  }
  tile.sync();
}
} // namespace amgkit
