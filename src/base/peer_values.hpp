// Values from peers, for kernels that read them where they arrive: see peer_memory.hpp.
#pragma once
#include "base/space.hpp"

#include <cstdint>

#if defined(__CUDACC__)
  #include <cuda/atomic>
#endif

namespace amgkit
{
#if defined(__CUDACC__)
using PeerWord = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

// Waits until the number has come, or a later one; false: until the clock has passed the limit, where there is one.
__device__ inline bool await_number(const unsigned &arrived, unsigned number, long long limit = 0)
{
  const PeerWord word(const_cast<unsigned &>(arrived));
  const long long begin = limit ? clock64() : 0;
  while (static_cast<int>(word.load(cuda::memory_order_acquire) - number) < 0) {
    if (limit && clock64() - begin > limit) return false;
  }
  return true;
}
#endif

// The values of the last exchange, by the arguments of peer_receive(), which is then not called. Kernels may read them until the next
// exchange.
template <class T> struct PeerValues {
  const char *box;
  std::int64_t other;
  const unsigned *arrived, *number;
  int neighbours;

  // The values, when all neighbours have sent theirs. Called by all threads of a block, of which there are neighbours or more.
  AMGKIT_FN const T *await() const
  {
    const unsigned now = *number;
#if defined(__CUDACC__)
    if (static_cast<int>(threadIdx.x) < neighbours) await_number(arrived[threadIdx.x], now);
    __syncthreads();
#endif
    return reinterpret_cast<const T *>(box + (now & 1) * other);
  }
};
} // namespace amgkit
