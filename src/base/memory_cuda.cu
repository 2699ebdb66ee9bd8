// The device's memory: a stream-ordered pool for what stays on one GPU, cudaMalloc for what MPI sees and for what is very large.
#include "base/communicated_memory_cuda.hpp"
#include "base/copies_within.hpp"
#include "base/device.hpp"
#include "base/gpu_start.hpp"
#include "base/launch_cuda.hpp"
#include "base/log.hpp"
#include "base/memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <petscsys.h>
#include <set>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

namespace amgkit
{
namespace
{
// One for the process, from its first use to PetscFinalize.
CommunicatedMemory &communicated_memory()
{
  static CommunicatedMemory memory;
  return memory;
}
PetscErrorCode destroy_communicated_memory() { return communicated_memory().destroy(); }

PetscErrorCode allocate_communicated(std::size_t bytes, void **p, cudaError_t *status)
{
  PetscFunctionBegin;
  const bool first = communicated_memory().empty();
  *status = communicated_memory().allocate(bytes, p);
  if (first && !communicated_memory().empty()) PetscCall(PetscRegisterFinalize(destroy_communicated_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One for the process and each of its devices, from its first use to PetscFinalize: a setup then finds the memory that the last one has
// freed. New memory takes a millisecond a GB and more: at 7-point 256³ 17 of 219 ms of amgclassical, 9 of 54 of amgmatching.
struct Pool {
  cudaMemPool_t handle = nullptr;
  bool trimmed = false; // once at least
};
std::map<int, Pool> &pools()
{
  static std::map<int, Pool> of_device;
  return of_device;
}
PetscErrorCode destroy_pools()
{
  PetscFunctionBegin;
  for (const auto &[device, pool] : pools()) AMGKIT_CALL_CUDA(cudaMemPoolDestroy(pool.handle));
  pools().clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Blocks of this size and more are taken from the driver, one by one, and given back at once: a pool's are found again by blocks that are
// not larger, and what is free between them cannot be put together. Costs 0.6 ms a GB. Of the 5.1 GB that the pool took for amgclassical at
// 7-point 256³ it saves 0.1; from 512 MB on 0.3, but then it costs up to 3 % of a setup.
constexpr std::size_t large_bytes = std::size_t{1} << 30;
std::set<void *> &large_blocks()
{
  static std::set<void *> blocks;
  return blocks;
}
cudaError_t allocate_large(std::size_t bytes, void **p)
{
  const cudaError_t status = cudaMalloc(p, bytes);
  if (!status) large_blocks().insert(*p);
  return status;
}

PetscErrorCode pool_of_device(int device, cudaMemPool_t *pool)
{
  cudaMemPoolProps properties{};
  std::uint64_t keep = UINT64_MAX; // until trim()

  PetscFunctionBegin;
  if (const auto found = pools().find(device); found != pools().end()) {
    *pool = found->second.handle;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  AMGKIT_CALL_CUDA(cudaMemPoolCreate(pool, &properties));
  if (pools().empty()) PetscCall(PetscRegisterFinalize(destroy_pools));
  pools()[device].handle = *pool;
  AMGKIT_CALL_CUDA(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  const PetscErrorCode none_left = memory_allocate(ex, Memory::scratch, sizeof(unsigned), &arrived);
  if (none_left != PETSC_ERR_MEM) PetscCall(none_left); // whoever needs more will say so
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

namespace
{
PetscErrorCode free_scratch(Cuda &ex)
{
  PetscFunctionBegin;
  PetscCall(memory_free(ex, Memory::scratch, ex.scratch));
  ex.scratch = nullptr;
  ex.scratch_bytes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is in use and the rest of so many bytes stay in the pool.
PetscErrorCode trim_to(Cuda &ex, std::size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(free_scratch(ex));
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  AMGKIT_CALL_CUDA(cudaMemPoolTrimTo(ex.pool, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode scratch_memory(Cuda &ex, std::size_t bytes, void **p)
{
  const std::size_t size = std::max(bytes, std::size_t{1} << 20);

  PetscFunctionBegin;
  if (bytes > ex.scratch_bytes) {
    PetscCall(free_scratch(ex));
    PetscCall(memory_allocate(ex, Memory::scratch, size, &ex.scratch));
    ex.scratch_bytes = size;
  }
  *p = ex.scratch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode close(Cuda &ex)
{
  PetscFunctionBegin;
  PetscCall(memory_free(ex, Memory::scratch, ex.arrived));
  if (ex.pool) PetscCall(trim(ex));
  ex = Cuda{};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode trim(Cuda &ex)
{
  constexpr std::size_t share = 8;
  std::size_t free, total;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaMemGetInfo(&free, &total));
  for (auto &[device, pool] : pools()) {
    if (pool.handle != ex.pool) continue;
    PetscCall(trim_to(ex, pool.trimmed ? total / share : 0));
    pool.trimmed = true;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_allocate(Cuda &ex, Memory kind, std::size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  cudaError_t status = cudaSuccess;
  for (int round = 0; round < 2; round++) {
    if (kind == Memory::communicated)
      PetscCall(allocate_communicated(bytes, p, &status));
    else if (bytes >= large_bytes)
      status = allocate_large(bytes, p);
    else
      status = cudaMallocFromPoolAsync(p, bytes, ex.pool, ex.stream);
    if (status != cudaErrorMemoryAllocation || round > 0) break;
    (void)cudaGetLastError();
    PetscCall(trim_to(ex, 0)); // what the pool keeps for reuse may be what is missing
  }
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); // the caller handles it; later launches must not report it again
    *p = nullptr;
    PetscFunctionReturn(PETSC_ERR_MEM);
  }
  AMGKIT_CALL_CUDA(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_available(Cuda &ex, std::int64_t *bytes)
{
  std::size_t free, total;
  std::uint64_t used, reserved;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaMemGetInfo(&free, &total));
  AMGKIT_CALL_CUDA(cudaMemPoolGetAttribute(ex.pool, cudaMemPoolAttrUsedMemCurrent, &used));
  AMGKIT_CALL_CUDA(cudaMemPoolGetAttribute(ex.pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  *bytes = static_cast<std::int64_t>(free + reserved - used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_free(Cuda &ex, Memory kind, void *p)
{
  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  // communicated blocks are used again in stream order, as all work of a space is on one stream
  if (kind == Memory::communicated)
    communicated_memory().release(p);
  else if (large_blocks().erase(p))
    AMGKIT_CALL_CUDA(cudaFree(p)); // waits for the device
  else
    AMGKIT_CALL_CUDA(cudaFreeAsync(p, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_copy(Cuda &ex, void *to, const void *from, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) AMGKIT_CALL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_zero(Cuda &ex, void *p, std::size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) AMGKIT_CALL_CUDA(cudaMemsetAsync(p, 0, bytes, ex.stream));
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
