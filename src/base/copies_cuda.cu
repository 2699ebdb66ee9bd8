// Copies between the user's memory on the host, which is pageable, and the device.
//
// A large copy is cut into pieces. Each of a few threads takes the next piece, fills one of its two page-locked buffers, queues the
// transfer of it, and goes on with the other buffer: the processor's copies, which a single core does at 5 to 15 GB/s, and the transfers,
// at 20 to 60 GB/s, overlap. The driver's own way with pageable memory takes a single core.
#include "base/copies_ahead.hpp"
#include "base/copies_within.hpp"
#include "base/cuda.hpp"
#include "base/gpu.hpp"
#include "base/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <petscsys.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace amgkit
{
namespace
{
// Bytes. A thread takes 15 microseconds to start, and page-locking half a millisecond a megabyte: hence few threads for a vector, and small
// buffers. Copies of fewer bytes than for_a_thread are left to the driver, which is faster at 2 MB.
constexpr std::size_t largest_piece = std::size_t{2} << 20, least_piece = largest_piece / 4, for_a_thread = std::size_t{3} << 20;
constexpr int most_by_default = 8; // threads

// Two buffers of a thread; done: what was queued last for each.
struct Lane {
  std::array<void *, 2> buffer{};
  std::array<cudaEvent_t, 2> done{};
};

// One set for the process, from the first use to PetscFinalize: page-locking takes a millisecond a buffer. The thread that starts the
// GPU may make buffers, which serve every device; the events are made by the program's own thread, as each belongs to a device.
struct Lanes {
  std::mutex change;                  // of open, device, buffered and what these count
  bool open = false;                  // until PetscFinalize
  int device = 0;                     // that was used for the first buffers
  std::size_t buffered = 0, made = 0; // with buffers; with events, too
  std::array<Lane, most_copy_threads> of{};
};
Lanes &lanes()
{
  static_assert(std::is_trivially_destructible_v<Lanes>); // a thread may use it to the process's end
  static Lanes of_process;
  return of_process;
}
PetscErrorCode destroy_lanes()
{
  const std::lock_guard<std::mutex> locked(lanes().change);
  const std::size_t made = std::exchange(lanes().made, 0), buffered = std::exchange(lanes().buffered, 0);
  int device = 0;

  PetscFunctionBegin;
  lanes().open = false;
  if (buffered == 0) PetscFunctionReturn(PETSC_SUCCESS);
  AMGKIT_CALL_CUDA(cudaGetDevice(&device));
  AMGKIT_CALL_CUDA(cudaSetDevice(lanes().device)); // or the program's, which it may not have used, would be opened
  for (std::size_t t = 0; t < made; t++) {
    for (cudaEvent_t event : lanes().of[t].done) AMGKIT_CALL_CUDA(cudaEventDestroy(event));
  }
  for (std::size_t t = 0; t < buffered; t++) {
    for (void *buffer : lanes().of[t].buffer) AMGKIT_CALL_CUDA(cudaFreeHost(buffer));
  }
  AMGKIT_CALL_CUDA(cudaSetDevice(device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode open_lanes()
{
  const std::lock_guard<std::mutex> locked(lanes().change);

  PetscFunctionBegin;
  if (!lanes().open) PetscCall(PetscRegisterFinalize(destroy_lanes));
  lanes().open = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Any thread: the buffers of one more lane, if fewer than count have theirs. *buffered: how many have.
cudaError_t make_buffers(std::size_t count, std::size_t *buffered)
{
  const std::lock_guard<std::mutex> locked(lanes().change);
  std::array<void *, 2> buffer{};
  cudaError_t status = cudaSuccess;

  *buffered = lanes().buffered;
  if (!lanes().open || *buffered >= count) return status;
  if (*buffered == 0) status = cudaGetDevice(&lanes().device);
  for (void *&one : buffer) {
    if (!status) status = cudaMallocHost(&one, largest_piece);
  }
  if (status) {
    for (void *one : buffer) static_cast<void>(one ? cudaFreeHost(one) : cudaSuccess);
    static_cast<void>(cudaGetLastError());
    return status;
  }
  lanes().of[lanes().buffered++].buffer = buffer;
  *buffered = lanes().buffered;
  return status;
}

// The program's thread. *count: wanted, or those that there are, which do the work, where there is no memory for more
PetscErrorCode make_lanes(std::size_t *count)
{
  std::size_t buffered = 0;

  PetscFunctionBegin;
  PetscCall(open_lanes());
  while (buffered < *count) {
    const cudaError_t status = make_buffers(*count, &buffered);
    if (status && buffered == 0) AMGKIT_CALL_CUDA(status);
    if (status) *count = buffered;
  }
  for (; lanes().made < *count; lanes().made++) {
    for (cudaEvent_t &event : lanes().of[lanes().made].done) AMGKIT_CALL_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
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
  std::size_t piece = largest_piece;
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
    const std::size_t at = copy.next.fetch_add(copy.piece);
    if (at >= copy.bytes) break;
    const std::size_t bytes = std::min(copy.piece, copy.bytes - at);
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
    at[k] = copy.next.fetch_add(copy.piece);
    bytes[k] = at[k] < copy.bytes ? std::min(copy.piece, copy.bytes - at[k]) : 0;
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

// As many as there are cores for each process, where a machine runs them all.
PetscErrorCode default_copy_threads(PetscInt *threads)
{
  cpu_set_t cores;
  int ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const int there = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  *threads = std::min(most_by_default, std::max(there / ranks, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_threads(std::size_t bytes, std::size_t *threads)
{
  PetscInt wanted;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-amgkit_copy_threads", &wanted, &set));
  if (!set) PetscCall(default_copy_threads(&wanted));
  *threads =
      std::min(static_cast<std::size_t>(std::clamp<PetscInt>(wanted, 1, most_copy_threads)), (bytes + for_a_thread - 1) / for_a_thread);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So that a thread has three pieces, and the transfer of its first one begins early.
std::size_t piece_of(std::size_t bytes, std::size_t threads)
{
  constexpr std::size_t page = 4096;
  const std::size_t share = (bytes / (3 * threads) + page - 1) / page * page;
  return std::clamp(share, least_piece, largest_piece);
}

PetscErrorCode run(Cuda &ex, Copy &copy, cudaError_t (*part)(Copy &, const Lane &))
{
  std::size_t count;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaGetDevice(&copy.device));
  copy.stream = ex.stream;
  PetscCall(count_threads(copy.bytes, &count));
  PetscCall(make_lanes(&count));
  copy.piece = piece_of(copy.bytes, count);
  std::vector<cudaError_t> status(count, cudaSuccess);
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (std::size_t t = 1; t < count; t++) threads.emplace_back([&, t] { status[t] = part(copy, lanes().of[t]); });
  } catch (const std::system_error &) { // those that there are do the work
  }
  status[0] = part(copy, lanes().of[0]);
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

PetscErrorCode expect_copies(PetscInt threads, int *count)
{
  PetscFunctionBegin;
  PetscCall(open_lanes());
  if (threads == 0) PetscCall(default_copy_threads(&threads));
  *count = static_cast<int>(std::clamp<PetscInt>(threads, 1, most_copy_threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int make_buffers_ahead(int count)
{
  std::size_t buffered;
  return make_buffers(static_cast<std::size_t>(count), &buffered) ? -1 : static_cast<int>(buffered);
}

PetscErrorCode copy_in(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  Copy copy = {0, nullptr, static_cast<char *>(to), from, nullptr, bytes, fill};

  PetscFunctionBegin;
  if (bytes < for_a_thread || is_page_locked(from)) {
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
  if (bytes < for_a_thread || is_page_locked(to)) {
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
