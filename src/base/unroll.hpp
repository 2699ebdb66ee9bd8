// Before a loop: how many rounds of it the GPU's compiler writes out, all or so many. Nothing for other compilers.
#pragma once

#if defined(__CUDACC__)
  #define AMGKIT_UNROLL_PRAGMA(words) _Pragma(#words)
  #define AMGKIT_UNROLL _Pragma("unroll")
  #define AMGKIT_UNROLL_BY(rounds) AMGKIT_UNROLL_PRAGMA(unroll rounds)
#else
  #define AMGKIT_UNROLL
  #define AMGKIT_UNROLL_BY(rounds)
#endif
