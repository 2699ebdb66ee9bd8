// Entries with 40 significant bits, in 48: a float, and 16 bits of what rounding to it took.
//
// With the bits of doubles as integers: rest = (bits(a) - bits(rounded)) / 2^13, to the nearest, and back. Rounding to a float moves a by
// 2^28 units in its last place at most, so that |rest| is at most 2^15, for which 2^15 - 1 is stored: what is read differs from a by at
// most 2^-39 |a|.
#pragma once
#include "base/space.hpp"

#include <bit>
#include <cstdint>

namespace amgkit
{
#if defined(__CUDACC__)
__device__ inline std::uint64_t bits_of(double a) { return static_cast<std::uint64_t>(__double_as_longlong(a)); }
__device__ inline double double_of(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
#else
inline std::uint64_t bits_of(double a) { return std::bit_cast<std::uint64_t>(a); }
inline double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }
#endif

constexpr std::int64_t rest_unit = 1 << 13;

struct LongFloat {
  float rounded;
  std::int16_t rest;
  AMGKIT_FN operator double() const
  {
    return double_of(bits_of(rounded) + static_cast<std::uint64_t>(rest * rest_unit)); // modulo 2^64: also where rest < 0
  }
};

// The rest of an a that is representable in single precision.
AMGKIT_FN inline std::int16_t rest_of(double a)
{
  const auto taken = static_cast<std::int64_t>(bits_of(a) - bits_of(static_cast<float>(a)));
  const std::int64_t rest = (taken + (taken < 0 ? -rest_unit : rest_unit) / 2) / rest_unit;
  return static_cast<std::int16_t>(rest > INT16_MAX ? INT16_MAX : rest);
}
} // namespace amgkit
