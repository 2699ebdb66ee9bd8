// The sizes of the parts that partition() of parallel.hpp makes, and the sums that it takes.
#pragma once
#include "base/space.hpp"

#include <cstdint>

namespace amgkit
{
// Of an index: its part, and numbers to be added. Of all: the size of each part, and the sums.
template <int Numbers> struct Member {
  int part;
  std::int64_t numbers[Numbers];
};
template <int Parts, int Numbers> struct PartSizes {
  static constexpr int count = Parts + Numbers;
  std::int64_t of[Parts], numbers[Numbers];

  AMGKIT_FN std::int64_t &at(int k) { return k < Parts ? of[k] : numbers[k - Parts]; }
  AMGKIT_FN void add(const Member<Numbers> &one)
  {
    for (int p = 0; p < Parts; p++) of[p] += one.part == p;
    for (int k = 0; k < Numbers; k++) numbers[k] += one.numbers[k];
  }
};
} // namespace amgkit
