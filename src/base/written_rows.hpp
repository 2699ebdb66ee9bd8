// for_rows() where a team writes a number for each entry of its rows, and does little else; included by *_kernels.hpp files only.
#pragma once
#include "base/parallel.hpp"

namespace amgkit
{
// for_rows() gives rows of up to 32 entries 4 lanes. A warp then writes to eight places at a time, 4 entries each: copies of rows of 29
// entries took three times as long as moving their bytes would (NVIDIA H100), and with 16 lanes, which longer rows have, no longer than
// that. Rows of 7 entries are copied as fast as their bytes with 4. The limit lies between these. Kernels that write a byte an entry, or
// search for it, are faster with for_rows().
template <class Ex, class F> PetscErrorCode for_written_rows(Ex &ex, std::int64_t n, double average, F f)
{
  constexpr double short_rows = 12, longer = 33; // the latter: what for_rows() gives 16 lanes
  return for_rows(ex, n, average > short_rows ? std::max(average, longer) : average, f);
}
} // namespace amgkit
