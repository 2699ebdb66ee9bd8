// How the processes of a node's GPUs write into each other's memory, and how they know that all has arrived.
//
// Who sends number k stores its values, and then the number, with release semantics for the whole system: that covers what its other thread
// blocks stored, as each of them counted itself done with release semantics for the device. Who receives waits for the numbers of all its
// neighbours and reads the values. It sends number k + 1 when all kernels that read them have ended, by the order of its stream. So a
// neighbour that has seen k + 1 may overwrite the values of number k: with two boxes nobody waits for more than the numbers. Neighbours
// send each other numbers also where they have no values to give.
#include "base/launch_cuda.hpp"
#include "base/peer_memory.hpp"
#include "base/peer_values.hpp"

#include <cstring>
#include <map>
#include <petscsys.h>
#include <vector>

namespace amgkit
{
namespace
{
static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(PeerHandle));

// Of the process, from its first use to PetscFinalize.
class PeerMemory {
public:
  static constexpr std::size_t bytes = std::size_t{64} << 20;

  bool open() const { return memory_; }
  char *memory() const { return memory_; }
  cudaError_t create()
  {
    if (const cudaError_t status = cudaMalloc(reinterpret_cast<void **>(&memory_), bytes)) return status;
    free_[0] = bytes;
    return cudaMemset(memory_, 0, bytes);
  }
  PetscErrorCode destroy()
  {
    PetscFunctionBegin;
    for (const auto &[handle, memory] : mapped_) {
      if (memory) AMGKIT_CALL_CUDA(cudaIpcCloseMemHandle(memory));
    }
    AMGKIT_CALL_CUDA(cudaFree(memory_));
    *this = PeerMemory{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  char *map(const PeerHandle &handle)
  {
    const auto [found, fresh] = mapped_.try_emplace(handle.bytes, nullptr);
    if (!fresh) return static_cast<char *>(found->second);
    cudaIpcMemHandle_t of_driver;
    std::memcpy(&of_driver, &handle, sizeof of_driver);
    if (cudaIpcOpenMemHandle(&found->second, of_driver, cudaIpcMemLazyEnablePeerAccess)) {
      found->second = nullptr;
      static_cast<void>(cudaGetLastError());
    }
    return static_cast<char *>(found->second);
  }
  std::int64_t take(std::size_t size)
  {
    size = (size + alignment - 1) / alignment * alignment;
    for (auto [offset, room] : free_) { // first fit
      if (room < size) continue;
      free_.erase(offset);
      if (room > size) free_[offset + size] = room - size;
      taken_[offset] = size;
      return static_cast<std::int64_t>(offset);
    }
    return -1;
  }
  void give_back(std::size_t offset)
  {
    const auto taken = taken_.find(offset);
    if (taken == taken_.end()) return; // after PetscFinalize
    auto place = free_.emplace(offset, taken->second).first;
    taken_.erase(taken);
    if (const auto next = std::next(place); next != free_.end() && offset + place->second == next->first) {
      place->second += next->second;
      free_.erase(next);
    }
    if (place == free_.begin()) return;
    if (const auto before = std::prev(place); before->first + before->second == offset) {
      before->second += place->second;
      free_.erase(place);
    }
  }

private:
  static constexpr std::size_t alignment = 256;

  char *memory_ = nullptr;
  std::map<std::size_t, std::size_t> free_, taken_; // bytes at each offset
  std::map<std::array<char, 64>, void *> mapped_;
};
PeerMemory &peer_memory()
{
  static PeerMemory of_process;
  return of_process;
}
PetscErrorCode destroy_peer_memory() { return peer_memory().destroy(); }

template <class T>
__global__ void send_kernel(int n, const int *place, const T *from, const PeerBox *boxes, int count, unsigned *sent, unsigned *done)
{
  __shared__ bool last;
  detail::wait_for_kernels_before();
  const unsigned number = *sent + 1;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x)) {
    int b = 0;
    while (i >= boxes[b].end) b++;
    const PeerBox box = boxes[b];
    reinterpret_cast<T *>(box.values + (number & 1) * box.other)[i + box.shift] = from[place ? place[i] : i];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    last = gridDim.x == 1 ||
           cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*done).fetch_add(1, cuda::memory_order_acq_rel) + 1 == gridDim.x;
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) {
    *done = 0;
    *sent = number;
  }
  for (int b = static_cast<int>(threadIdx.x); b < count; b += static_cast<int>(blockDim.x))
    PeerWord(*boxes[b].arrived).store(number, cuda::memory_order_release);
}

template <class T>
__global__ void receive_kernel(int n, const char *box, std::int64_t other, const unsigned *arrived, int count, const unsigned *sent, T *to)
{
  detail::wait_for_kernels_before();
  const unsigned number = *sent;
  const T *values = reinterpret_cast<const T *>(box + (number & 1) * other);
  for (int b = static_cast<int>(threadIdx.x); b < count; b += static_cast<int>(blockDim.x)) await_number(arrived[b], number);
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x))
    to[i] = __ldcg(values + i);
}

__global__ void sum_kernel(const PeerSums peers, int n, double *x, long long limit)
{
  __shared__ bool all;
  const int me = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  detail::wait_for_kernels_before();
  const unsigned number = *peers.number + 1;
  const int box = static_cast<int>(number & 1) * peers.size * most_peer_sums;
  if (me == 0) all = true;
  for (int t = me; t < peers.size * n; t += threads) peers.values[t / n][box + peers.rank * most_peer_sums + t % n] = x[t % n];
  __syncthreads();
  if (me < peers.size) {
    PeerWord(peers.arrived[me][peers.rank]).store(number, cuda::memory_order_release);
    if (!await_number(peers.arrived[peers.rank][me], number, limit)) all = false;
  }
  __syncthreads();
  for (int k = me; k < n; k += threads) {
    double sum = all ? 0 : nan("");
    for (int r = 0; r < peers.size; r++) sum += __ldcg(peers.values[peers.rank] + box + r * most_peer_sums + k);
    x[k] = sum;
  }
  if (me == 0) *peers.number = number;
}

constexpr int threads = 256;
unsigned blocks_for(int n)
{
  constexpr int most = 64; // more do not store faster, and each has to be counted
  const int blocks = (n + threads - 1) / threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
} // namespace

PetscErrorCode open_peer_memory(Cuda &, PeerHandle *handle, char **memory)
{
  cudaIpcMemHandle_t of_driver;

  PetscFunctionBegin;
  *memory = nullptr;
  if (!peer_memory().open()) {
    if (peer_memory().create()) static_cast<void>(cudaGetLastError());
    if (!peer_memory().open()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscRegisterFinalize(destroy_peer_memory));
  }
  if (cudaIpcGetMemHandle(&of_driver, peer_memory().memory())) {
    static_cast<void>(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::memcpy(handle, &of_driver, sizeof of_driver);
  *memory = peer_memory().memory();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode map_peer_memory(const PeerHandle &handle, char **memory)
{
  PetscFunctionBegin;
  *memory = peer_memory().map(handle);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::int64_t take_peer_memory(std::size_t bytes) { return peer_memory().take(bytes); }
void give_back_peer_memory(std::int64_t offset) { peer_memory().give_back(static_cast<std::size_t>(offset)); }

PetscErrorCode clear_peer_memory(Cuda &ex, void *p, std::size_t bytes)
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaMemsetAsync(p, 0, bytes, ex.stream));
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode peer_send(Cuda &ex, int n, std::size_t entry_bytes, const int *place, const void *from, const PeerBox *boxes, int count,
                         unsigned *number, unsigned *done)
{
  const auto send = [&](auto entry) {
    using T = decltype(entry);
    return detail::launch(ex, blocks_for(n), threads, send_kernel<T>, n, place, static_cast<const T *>(from), boxes, count, number, done);
  };
  return entry_bytes == sizeof(std::uint32_t) ? send(std::uint32_t{}) : send(std::uint64_t{});
}

PetscErrorCode peer_receive(Cuda &ex, int n, std::size_t entry_bytes, const char *box, std::int64_t other, const unsigned *arrived,
                            int count, const unsigned *number, void *to)
{
  const auto receive = [&](auto entry) {
    using T = decltype(entry);
    return detail::launch(ex, blocks_for(n), threads, receive_kernel<T>, n, box, other, arrived, count, number, static_cast<T *>(to));
  };
  return entry_bytes == sizeof(std::uint32_t) ? receive(std::uint32_t{}) : receive(std::uint64_t{});
}

PetscErrorCode peer_sum(Cuda &ex, const PeerSums &peers, int n, double *x, double limit)
{
  constexpr double clocks_a_second = 2e9; // at most
  return detail::launch(ex, 1, threads, sum_kernel, peers, n, x, static_cast<long long>(limit * clocks_a_second));
}
} // namespace amgkit
