// Sets as bits of words.
#pragma once
#include "base/space.hpp"

namespace amgkit
{
AMGKIT_FN inline int bits_set(unsigned x)
{
  x -= x >> 1 & 0x55555555U;
  x = (x & 0x33333333U) + (x >> 2 & 0x33333333U);
  return static_cast<int>(((x + (x >> 4)) & 0x0f0f0f0fU) * 0x01010101U >> 24);
}

// use(b) for the bits b that are set, ascending
template <class F> AMGKIT_FN void for_bits(unsigned word, F use)
{
  for (; word != 0; word &= word - 1) use(bits_set((word & (~word + 1)) - 1));
}
} // namespace amgkit
