// A deterministic hash of 64-bit integers, the same in every space.
#pragma once
#include "base/space.hpp"

namespace amgkit
{
// splitmix64 (Steele, Lea, Flood 2014). A bijection: different numbers have different hashes.
AMGKIT_FN inline std::uint64_t hash64(std::uint64_t z)
{
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}
} // namespace amgkit
