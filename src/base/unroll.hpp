// For the line before a loop. AMGKIT_UNROLL: nvcc unrolls it wholly. AMGKIT_UNROLL_BY(n): by n rounds; by 1, not at all. Other compilers
// see nothing.
#pragma once

namespace amgkit
{
#if defined(__CUDACC__)
inline constexpr bool unrolls_when_told = true;
#else
inline constexpr bool unrolls_when_told = false;
#endif
} // namespace amgkit

#if defined(__CUDACC__)
  #define AMGKIT_UNROLL_PRAGMA(words) _Pragma(#words)
  #define AMGKIT_UNROLL _Pragma("unroll")
  #define AMGKIT_UNROLL_BY(rounds) AMGKIT_UNROLL_PRAGMA(unroll rounds)
#else
  #define AMGKIT_UNROLL
  #define AMGKIT_UNROLL_BY(rounds)
#endif
