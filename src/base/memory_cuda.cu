// The Cuda space: its stream and device, and copies.
#include "base/copies_within.hpp"
#include "base/device.hpp"
#include "base/given_memory.hpp"
#include "base/gpu_start.hpp"
#include "base/launch_cuda.hpp"
#include "base/log.hpp"
#include "base/memory.hpp"
#include "base/pools_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <petscsys.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

namespace amgkit
{
namespace
{
// One block of page-locked memory for all spaces, from the first use to PetscFinalize: taking it costs 2 ms. Who lets a kernel write to its
// first half waits for it and reads at once; the second half is post_to_host()'s, and the event says that it is written.
struct HostScalars {
  void *memory = nullptr;
  cudaEvent_t posted = nullptr;
  bool beside_device = false; // the device had memory left, too, once
};
HostScalars &host_scalars()
{
  static HostScalars scalars;
  return scalars;
}
PetscErrorCode destroy_host_scalars()
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaEventDestroy(host_scalars().posted));
  AMGKIT_CALL_CUDA(cudaFreeHost(host_scalars().memory));
  host_scalars() = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode create_host_scalars()
{
  HostScalars made;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaEventCreateWithFlags(&made.posted, cudaEventDisableTiming));
  const cudaError_t status = cudaMallocHost(&made.memory, Cuda::host_scalars_bytes + posted_bytes);
  if (status) static_cast<void>(cudaEventDestroy(made.posted));
  AMGKIT_CALL_CUDA(status);
  host_scalars() = made;
  PetscCall(PetscRegisterFinalize(destroy_host_scalars));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
PetscErrorCode choose_device() { return PetscDeviceInitialize(PETSC_DEVICE_CUDA); }
PetscErrorCode stream_of_process(cudaStream_t *stream)
{
  PetscFunctionBegin;
  PetscCall(choose_device());
  PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
// One for all spaces of the process, from the first use to PetscFinalize.
cudaStream_t &own_stream()
{
  static cudaStream_t stream = nullptr;
  return stream;
}
PetscErrorCode destroy_stream()
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaStreamDestroy(own_stream()));
  own_stream() = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
// The processes take the devices in turn, as PETSc's do where it has CUDA; a device that the program has chosen is kept.
PetscErrorCode choose_device()
{
  int chosen, devices, rank;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaGetDevice(&chosen));
  AMGKIT_CALL_CUDA(cudaGetDeviceCount(&devices));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (chosen == 0) AMGKIT_CALL_CUDA(cudaSetDevice(rank % devices));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode stream_of_process(cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (!own_stream()) {
    PetscCall(choose_device());
    AMGKIT_CALL_CUDA(cudaStreamCreateWithFlags(&own_stream(), cudaStreamNonBlocking));
    PetscCall(PetscRegisterFinalize(destroy_stream));
  }
  *stream = own_stream();
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

// Kernels wait for those before them only in code for compute capability 9.0 or more, which is not what runs where older code is translated
// for a newer device. Captured in graphs from CUDA 12.3 on.
__global__ void probe_kernel() {}
PetscErrorCode find_overlap(int device, bool *overlap)
{
  int major, driver;
  cudaFuncAttributes code;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  AMGKIT_CALL_CUDA(cudaDriverGetVersion(&driver));
  AMGKIT_CALL_CUDA(cudaFuncGetAttributes(&code, probe_kernel));
  *overlap = major >= 9 && code.ptxVersion >= 90 && code.binaryVersion >= 90 && std::min(driver, CUDART_VERSION) >= 12030;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode open(Cuda &ex)
{
  int device;

  PetscFunctionBegin;
  end_loading_ahead();
  PetscCall(stream_of_process(&ex.stream));
  AMGKIT_CALL_CUDA(cudaGetDevice(&device));
  PetscCall(pool_of_device(device, &ex.pool));
  PetscCall(find_overlap(device, &ex.kernels_overlap));
  if (!host_scalars().memory) PetscCall(create_host_scalars());
  ex.host_scalars = host_scalars().memory;
  void *arrived;
  const PetscErrorCode none_left = memory_to_give(ex, sizeof(unsigned), &arrived); // no small block, so that these can all be free
  if (none_left != PETSC_ERR_MEM) PetscCall(none_left);                            // whoever needs more will say so
  if (arrived) PetscCall(memory_zero(ex, arrived, sizeof(unsigned)));
  ex.arrived = static_cast<unsigned *>(arrived);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode open_for_copies(Cuda &ex) { return stream_of_process(&ex.stream); }

PetscErrorCode synchronise(Cuda &ex)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::wait);
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode try_device()
{
  Cuda ex;

  PetscFunctionBegin;
  if (host_scalars().beside_device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(open(ex));
  host_scalars().beside_device = ex.arrived != nullptr;
  PetscCall(memory_free(ex, Memory::scratch, ex.arrived));
  PetscFunctionReturn(host_scalars().beside_device ? PETSC_SUCCESS : PETSC_ERR_MEM);
}

PetscErrorCode close(Cuda &ex)
{
  PetscFunctionBegin;
  PetscCall(memory_free(ex, Memory::scratch, ex.arrived));
  if (ex.pool) PetscCall(trim(ex));
  ex = Cuda{};
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// What a kernel copies or clears: it starts sooner after others than the driver's copies do, by 5 us. In words of 4 bytes.
constexpr std::size_t few_words_bytes = std::size_t{1} << 16;
constexpr int word_threads = 256;
__global__ void copy_words(const unsigned *from, unsigned *to, unsigned words)
{
  detail::wait_for_kernels_before();
  const unsigned i = blockIdx.x * word_threads + threadIdx.x;
  if (i < words) to[i] = from[i];
}
__global__ void zero_words(unsigned *to, unsigned words)
{
  detail::wait_for_kernels_before();
  const unsigned i = blockIdx.x * word_threads + threadIdx.x;
  if (i < words) to[i] = 0;
}
unsigned words_of(std::size_t bytes) { return static_cast<unsigned>(bytes / sizeof(unsigned)); }
unsigned word_blocks(std::size_t bytes) { return (words_of(bytes) + word_threads - 1) / word_threads; }
// Whether these bytes are few whole words. Not where the space is open for copies alone: its process has loaded no kernels.
bool few_words(const Cuda &ex, std::size_t bytes, std::initializer_list<const void *> at)
{
  bool whole = bytes % sizeof(unsigned) == 0;
  for (const void *p : at) whole = whole && p && reinterpret_cast<std::uintptr_t>(p) % sizeof(unsigned) == 0;
  return ex.pool && bytes <= few_words_bytes && whole;
}
} // namespace

PetscErrorCode memory_copy(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (few_words(ex, bytes, {to, from}))
    PetscCall(detail::launch(ex, word_blocks(bytes), word_threads, copy_words, static_cast<const unsigned *>(from),
                             static_cast<unsigned *>(to), words_of(bytes)));
  else
    AMGKIT_CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_zero(Cuda &ex, void *p, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (few_words(ex, bytes, {p}))
    PetscCall(detail::launch(ex, word_blocks(bytes), word_threads, zero_words, static_cast<unsigned *>(p), words_of(bytes)));
  else
    AMGKIT_CALL_CUDA(cudaMemsetAsync(p, 0, bytes, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
__global__ void bytes_kernel(const unsigned char *from, unsigned char *to, unsigned bytes)
{
  detail::wait_for_kernels_before();
  if (threadIdx.x < bytes) to[threadIdx.x] = from[threadIdx.x];
}

struct FewBytes {
  unsigned char of[128];
};
__global__ void few_bytes_kernel(FewBytes from, unsigned char *to, unsigned bytes)
{
  detail::wait_for_kernels_before();
  if (threadIdx.x < bytes) to[threadIdx.x] = from.of[threadIdx.x];
}

// By a kernel, which starts sooner after others than a copy does.
PetscErrorCode send_to_host(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  return detail::launch(ex, 1, static_cast<int>(Cuda::host_scalars_bytes), bytes_kernel, static_cast<const unsigned char *>(from),
                        static_cast<unsigned char *>(to), static_cast<unsigned>(bytes));
}
void *posted(const Cuda &ex) { return static_cast<char *>(ex.host_scalars) + Cuda::host_scalars_bytes; }
} // namespace

PetscErrorCode memory_to_host(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const LogPhase logged(Phase::wait);
  if (bytes <= Cuda::host_scalars_bytes) {
    PetscCall(send_to_host(ex, ex.host_scalars, from, bytes));
    AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
    std::memcpy(to, ex.host_scalars, bytes);
  } else {
    AMGKIT_CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, ex.stream));
    AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  }
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode post_to_host(Cuda &ex, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(send_to_host(ex, posted(ex), from, bytes));
  AMGKIT_CALL_CUDA(cudaEventRecord(host_scalars().posted, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_posted(Cuda &ex, void *to, std::size_t bytes)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::wait);
  AMGKIT_CALL_CUDA(cudaEventSynchronize(host_scalars().posted));
  std::memcpy(to, posted(ex), bytes);
  PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_from_host(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(bytes)));
  if (bytes <= sizeof(FewBytes)) { // with the launch, for which the host does not wait
    FewBytes few;
    std::memcpy(few.of, from, bytes);
    PetscCall(detail::launch(ex, 1, static_cast<int>(sizeof few), few_bytes_kernel, few, static_cast<unsigned char *>(to),
                             static_cast<unsigned>(bytes)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const LogPhase logged(Phase::wait);
  AMGKIT_CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, ex.stream));
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
