// The atomic operations of parallel.hpp on CUDA.
#pragma once

namespace amgkit
{
// Relaxed, device-wide. 64-bit values go through CUDA's unsigned long long.
template <class T> __device__ T atomic_compare_swap(T *p, T expected, T desired)
{
  if constexpr (sizeof(T) == 8) {
    using Word = unsigned long long;
    return static_cast<T>(atomicCAS(reinterpret_cast<Word *>(p), static_cast<Word>(expected), static_cast<Word>(desired)));
  } else {
    return atomicCAS(p, expected, desired);
  }
}
__device__ inline int atomic_increment(int *p) { return atomicAdd(p, 1); }
__device__ inline unsigned atomic_or(unsigned *p, unsigned bits) { return atomicOr(p, bits); }
__device__ inline void atomic_min(int *p, int x) { atomicMin(p, x); }
__device__ inline void atomic_add(int *p, int x) { atomicAdd(p, x); }
template <class T> __device__ T atomic_load(const T *p) { return *static_cast<const volatile T *>(p); }
template <class T> __device__ void atomic_store(T *p, T x) { *static_cast<volatile T *>(p) = x; }
} // namespace amgkit
