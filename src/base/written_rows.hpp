// for_rows() where a team writes something for each entry of its rows; included by *_kernels.hpp files only.
#pragma once
#include "base/parallel.hpp"

namespace amgkit
{
// With 4 lanes a row, as rows of up to 32 entries have that are only read, a warp writes to eight places at a time, 4 entries each. A copy
// of rows of 29 entries then takes three times as long as its bytes (NVIDIA H100); 16 lanes write long enough pieces.
template <class Ex, class F> PetscErrorCode for_written_rows(Ex &ex, std::int64_t n, double average, F f)
{
  constexpr double few = 12, of_16_lanes = 33;
  return for_rows(ex, n, average > few ? std::max(average, of_16_lanes) : average, f);
}
} // namespace amgkit
