// Copies between the user's memory on the host, which is pageable, and the device.
//
// A large copy is cut into pieces. Each of a few threads takes the next piece, fills one of its two page-locked buffers, queues the
// transfer of it, and goes on with the other buffer: the processor's copies, which a single core does at 5 to 15 GB/s, and the transfers,
// at 20 to 60 GB/s, overlap. The driver's own way with pageable memory takes a single core.
#include "base/copies_within.hpp"
#include "base/cuda.hpp"
#include "base/gpu.hpp"
#include "base/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <petscsys.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace amgkit
{
namespace
{
constexpr std::size_t piece = std::size_t{4} << 20; // bytes
constexpr std::size_t large = std::size_t{1} << 20; // bytes from which on pieces are worth it
constexpr int default_threads = 8;

// Two buffers of a thread; done: what was queued last for each.
struct Lane {
  std::array<void *, 2> buffer{};
  std::array<cudaEvent_t, 2> done{};
};

// One set for the process, from the first use to PetscFinalize: page-locking takes half a millisecond a buffer.
std::vector<Lane> &lanes()
{
  static std::vector<Lane> of_process;
  return of_process;
}
PetscErrorCode destroy_lanes()
{
  PetscFunctionBegin;
  for (const Lane &lane : lanes()) {
    for (cudaEvent_t event : lane.done) AMGKIT_CALL_CUDA(cudaEventDestroy(event));
    for (void *buffer : lane.buffer) AMGKIT_CALL_CUDA(cudaFreeHost(buffer));
  }
  lanes().clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode make_lanes(std::size_t count)
{
  PetscFunctionBegin;
  if (lanes().empty()) PetscCall(PetscRegisterFinalize(destroy_lanes));
  while (lanes().size() < count) {
    Lane lane;
    cudaError_t status = cudaSuccess;
    for (cudaEvent_t &event : lane.done) {
      if (!status) status = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }
    for (void *&buffer : lane.buffer) {
      if (!status) status = cudaMallocHost(&buffer, piece);
    }
    if (status) { // those that there are do the work
      for (cudaEvent_t event : lane.done) static_cast<void>(event ? cudaEventDestroy(event) : cudaSuccess);
      for (void *buffer : lane.buffer) static_cast<void>(buffer ? cudaFreeHost(buffer) : cudaSuccess);
      static_cast<void>(cudaGetLastError());
      if (lanes().empty()) AMGKIT_CALL_CUDA(status);
      break;
    }
    lanes().push_back(lane);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A copy of so many bytes of the device, done piece by piece. move: what the processor does with a piece, at a byte of the device's.
struct Copy {
  int device;
  cudaStream_t stream;
  char *there;      // on the device
  const void *from; // on the host, or
  void *to;
  std::size_t bytes;
  void (*move)(const Copy &, void *buffer, std::size_t at, std::size_t bytes);
  std::atomic<std::size_t> next = 0; // byte of the first piece that nobody has taken
};
void fill(const Copy &copy, void *buffer, std::size_t at, std::size_t bytes)
{
  std::memcpy(buffer, static_cast<const char *>(copy.from) + at, bytes);
}
void empty(const Copy &copy, void *buffer, std::size_t at, std::size_t bytes)
{
  std::memcpy(static_cast<char *>(copy.to) + at, buffer, bytes);
}
void fill_narrow(const Copy &copy, void *buffer, std::size_t at, std::size_t bytes)
{
  const std::int64_t *from = static_cast<const std::int64_t *>(copy.from) + at / sizeof(int);
  auto *to = static_cast<int *>(buffer);
  for (std::size_t k = 0; k < bytes / sizeof(int); k++) to[k] = static_cast<int>(from[k]);
}

// One thread's part
cudaError_t send_pieces(Copy &copy, const Lane &lane)
{
  cudaError_t status = cudaSetDevice(copy.device);
  for (std::size_t k = 0; !status; k ^= 1) {
    const std::size_t at = copy.next.fetch_add(piece);
    if (at >= copy.bytes) break;
    const std::size_t bytes = std::min(piece, copy.bytes - at);
    status = cudaEventSynchronize(lane.done[k]);
    if (status) break;
    copy.move(copy, lane.buffer[k], at, bytes);
    status = cudaMemcpyAsync(copy.there + at, lane.buffer[k], bytes, cudaMemcpyHostToDevice, copy.stream);
    if (!status) status = cudaEventRecord(lane.done[k], copy.stream);
  }
  return status;
}
cudaError_t fetch_pieces(Copy &copy, const Lane &lane)
{
  std::array<std::size_t, 2> at{}, bytes{}; // of what each buffer waits for
  cudaError_t status = cudaSetDevice(copy.device);
  for (std::size_t k = 0; !status; k ^= 1) {
    at[k] = copy.next.fetch_add(piece);
    bytes[k] = at[k] < copy.bytes ? std::min(piece, copy.bytes - at[k]) : 0;
    if (bytes[k] > 0) {
      status = cudaMemcpyAsync(lane.buffer[k], copy.there + at[k], bytes[k], cudaMemcpyDeviceToHost, copy.stream);
      if (!status) status = cudaEventRecord(lane.done[k], copy.stream);
    }
    const std::size_t other = k ^ 1;
    if (!status && bytes[other] > 0) {
      status = cudaEventSynchronize(lane.done[other]);
      if (!status) copy.move(copy, lane.buffer[other], at[other], bytes[other]);
      bytes[other] = 0;
    }
    if (bytes[k] == 0) break;
  }
  return status;
}

// As many as there are cores for each process, where a machine runs them all, and pieces.
PetscErrorCode count_threads(std::size_t bytes, std::size_t *threads)
{
  PetscInt wanted = default_threads;
  PetscBool set;
  cpu_set_t cores;
  int ranks;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-amgkit_copy_threads", &wanted, &set));
  if (!set) {
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    const int there = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    wanted = std::min<PetscInt>(wanted, std::max(there / ranks, 1));
  }
  *threads = std::min(static_cast<std::size_t>(std::clamp<PetscInt>(wanted, 1, most_copy_threads)), (bytes + piece - 1) / piece);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(Cuda &ex, Copy &copy, cudaError_t (*part)(Copy &, const Lane &))
{
  std::size_t count;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaGetDevice(&copy.device));
  copy.stream = ex.stream;
  PetscCall(count_threads(copy.bytes, &count));
  PetscCall(make_lanes(count));
  count = std::min(count, lanes().size());
  std::vector<cudaError_t> status(count, cudaSuccess);
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (std::size_t t = 1; t < count; t++) threads.emplace_back([&, t] { status[t] = part(copy, lanes()[t]); });
  } catch (const std::system_error &) { // those that there are do the work
  }
  status[0] = part(copy, lanes()[0]);
  for (std::thread &thread : threads) thread.join();
  for (const cudaError_t one : status) AMGKIT_CALL_CUDA(one);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_page_locked(const void *p)
{
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, p);
  (void)cudaGetLastError();
  return !status && attributes.type == cudaMemoryTypeHost;
}
} // namespace

PetscErrorCode copy_in(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  Copy copy = {0, nullptr, static_cast<char *>(to), from, nullptr, bytes, fill};

  PetscFunctionBegin;
  if (bytes < large || is_page_locked(from)) {
    PetscCall(memory_from_host(ex, to, from, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(run(ex, copy, send_pieces));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_in_narrow(Cuda &ex, int *to, const std::int64_t *from, std::int64_t n)
{
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(int);
  Copy copy = {0, nullptr, reinterpret_cast<char *>(to), from, nullptr, bytes, fill_narrow};

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(run(ex, copy, send_pieces));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_out(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  Copy copy = {0, nullptr, static_cast<char *>(const_cast<void *>(from)), nullptr, to, bytes, empty};

  PetscFunctionBegin;
  if (bytes < large || is_page_locked(to)) {
    PetscCall(memory_to_host(ex, to, from, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(run(ex, copy, fetch_pieces));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// By number, from the first use to PetscFinalize
std::vector<cudaEvent_t> &ends_of_copies()
{
  static std::vector<cudaEvent_t> of_process;
  return of_process;
}
PetscErrorCode destroy_ends()
{
  PetscFunctionBegin;
  for (cudaEvent_t end : ends_of_copies()) AMGKIT_CALL_CUDA(cudaEventDestroy(end));
  ends_of_copies().clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode queue_copy(Cuda &ex, std::size_t number, void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind)
{
  std::vector<cudaEvent_t> &ends = ends_of_copies();

  PetscFunctionBegin;
  if (ends.empty()) PetscCall(PetscRegisterFinalize(destroy_ends));
  while (ends.size() <= number) {
    cudaEvent_t end;
    AMGKIT_CALL_CUDA(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    ends.push_back(end);
  }
  AMGKIT_CALL_CUDA(cudaMemcpyAsync(to, from, bytes, kind, ex.stream));
  AMGKIT_CALL_CUDA(cudaEventRecord(ends[number], ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode queue_copy_in(Cuda &ex, std::size_t number, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(queue_copy(ex, number, to, from, bytes, cudaMemcpyHostToDevice));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode queue_copy_out(Cuda &ex, std::size_t number, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(queue_copy(ex, number, to, from, bytes, cudaMemcpyDeviceToHost));
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode queue_copy_within(Cuda &ex, std::size_t number, void *to, const void *from, std::size_t bytes)
{
  return queue_copy(ex, number, to, from, bytes, cudaMemcpyDeviceToDevice);
}

PetscErrorCode copy_has_ended(Cuda &, std::size_t number, bool *ended)
{
  PetscFunctionBegin;
  const cudaError_t status = cudaEventQuery(ends_of_copies()[number]);
  *ended = status != cudaErrorNotReady;
  if (*ended)
    AMGKIT_CALL_CUDA(status);
  else
    static_cast<void>(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
