// Where a GPU's memory comes from: a stream-ordered pool for what stays on one GPU, cudaMalloc for what MPI sees and for what is very
// large.
#include "base/given_memory.hpp"
#include "base/memory.hpp"
#include "base/pools_cuda.hpp"
#include "base/suballocator.hpp"

#include <algorithm>
#include <map>
#include <petscsys.h>
#include <set>

namespace amgkit
{
namespace
{
// A block of the chunks that the driver gives by give(bytes, p). If it has no memory for a chunk, it may have some for the block alone.
template <class Give> cudaError_t take_block(Suballocator &blocks, std::size_t bytes, void **p, Give give)
{
  *p = blocks.take(bytes);
  if (*p) return cudaSuccess;
  void *chunk = nullptr;
  std::size_t size = blocks.next_chunk(bytes);
  cudaError_t status = give(size, &chunk);
  if (status == cudaErrorMemoryAllocation && size > Suballocator::least_chunk(bytes)) {
    (void)cudaGetLastError();
    size = Suballocator::least_chunk(bytes);
    status = give(size, &chunk);
  }
  if (status) return status;
  blocks.add_chunk(chunk, size);
  *p = blocks.take(bytes);
  return cudaSuccess;
}

// One for the process, from its first use to PetscFinalize.
Suballocator &communicated_memory()
{
  constexpr std::size_t chunk = std::size_t{32} << 20;
  static Suballocator memory(chunk, chunk);
  return memory;
}
PetscErrorCode destroy_communicated_memory()
{
  PetscFunctionBegin;
  for (void *chunk : communicated_memory().drop_chunks()) AMGKIT_CALL_CUDA(cudaFree(chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode allocate_communicated(std::size_t bytes, void **p, cudaError_t *status)
{
  PetscFunctionBegin;
  const bool first = communicated_memory().empty();
  *status = take_block(communicated_memory(), bytes, p, [](std::size_t size, void **chunk) { return cudaMalloc(chunk, size); });
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

// Arrays of up to so many bytes are blocks of chunks of a pool's memory, by stream. A setup takes and frees some hundred of them. To ask
// the driver each time costs 1.4 and 1 us, and 5 each where UCX watches the memory of a process: 2 to 4 ms of a setup on several GPUs.
// Larger ones are few, and would leave more of a chunk unused.
constexpr std::size_t small_bytes = std::size_t{16} << 20, least_chunk_bytes = std::size_t{4} << 20,
                      most_chunk_bytes = std::size_t{32} << 20;
using SmallBlocks = std::map<std::pair<cudaMemPool_t, cudaStream_t>, Suballocator>;
SmallBlocks &small_blocks()
{
  static SmallBlocks of_stream;
  return of_stream;
}
// Whether there are such blocks, as -amgkit_small_blocks said when the first pool was made.
bool &cuts_small_blocks()
{
  static bool cuts = true;
  return cuts;
}
Suballocator &small_blocks_of(const Cuda &ex)
{
  return small_blocks().try_emplace({ex.pool, ex.stream}, least_chunk_bytes, most_chunk_bytes).first->second;
}
cudaError_t allocate_small(const Cuda &ex, std::size_t bytes, void **p)
{
  return take_block(small_blocks_of(ex), bytes, p,
                    [&](std::size_t size, void **chunk) { return cudaMallocFromPoolAsync(chunk, size, ex.pool, ex.stream); });
}

// Looks everywhere: a block may be freed on another stream than it was taken on, as recording uses a stream of its own.
bool release_small_block(void *p)
{
  return std::any_of(small_blocks().begin(), small_blocks().end(), [p](auto &blocks) { return blocks.second.release(p); });
}

// At the end of the program, when the streams may be gone and what is in use no longer counts
PetscErrorCode destroy_pools()
{
  PetscFunctionBegin;
  for (auto &[where, blocks] : small_blocks()) {
    for (void *chunk : blocks.drop_chunks()) AMGKIT_CALL_CUDA(cudaFree(chunk));
  }
  small_blocks().clear();
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
} // namespace

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
  if (pools().empty()) {
    PetscCall(PetscRegisterFinalize(destroy_pools));
    PetscBool cuts = PETSC_TRUE;
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-amgkit_small_blocks", &cuts, nullptr));
    cuts_small_blocks() = cuts;
  }
  pools()[device].handle = *pool;
  AMGKIT_CALL_CUDA(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep));
  PetscFunctionReturn(PETSC_SUCCESS);
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

// What is in use and the rest of so many bytes stay in the pool. So does a chunk of small blocks while one of these is in use. Waits.
PetscErrorCode trim_to(Cuda &ex, std::size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(free_scratch(ex));
  for (void *chunk : small_blocks_of(ex).drop_unused_chunks()) AMGKIT_CALL_CUDA(cudaFreeAsync(chunk, ex.stream));
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

namespace
{
// *p = nullptr and PETSC_ERR_MEM, quietly, where take(p, &status) finds no memory, also after what is free has gone back to the driver.
template <class Take> PetscErrorCode take_memory(Cuda &ex, void **p, Take take)
{
  cudaError_t status = cudaSuccess;

  PetscFunctionBegin;
  *p = nullptr;
  for (int round = 0; round < 2; round++) {
    PetscCall(take(p, &status));
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
} // namespace

PetscErrorCode memory_to_give(Cuda &ex, std::size_t bytes, void **p)
{
  return take_memory(ex, p, [&](void **block, cudaError_t *status) {
    *status = cudaMallocFromPoolAsync(block, bytes, ex.pool, ex.stream);
    return PETSC_SUCCESS;
  });
}

PetscErrorCode memory_allocate(Cuda &ex, Memory kind, std::size_t bytes, void **p)
{
  *p = nullptr;
  if (bytes == 0) return PETSC_SUCCESS;
  return take_memory(ex, p, [&](void **block, cudaError_t *status) {
    PetscFunctionBegin;
    if (kind == Memory::communicated)
      PetscCall(allocate_communicated(bytes, block, status));
    else if (bytes >= large_bytes)
      *status = allocate_large(bytes, block);
    else if (bytes <= small_bytes && cuts_small_blocks())
      *status = allocate_small(ex, bytes, block);
    else
      *status = cudaMallocFromPoolAsync(block, bytes, ex.pool, ex.stream);
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

PetscErrorCode memory_available(Cuda &ex, std::int64_t *bytes)
{
  std::size_t free, total;
  std::uint64_t used, reserved;

  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaMemGetInfo(&free, &total));
  AMGKIT_CALL_CUDA(cudaMemPoolGetAttribute(ex.pool, cudaMemPoolAttrUsedMemCurrent, &used));
  AMGKIT_CALL_CUDA(cudaMemPoolGetAttribute(ex.pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  used -= small_blocks_of(ex).free_bytes();
  *bytes = static_cast<std::int64_t>(free + reserved - used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_free(Cuda &ex, Memory kind, void *p)
{
  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  // Blocks are used again in stream order, as all work of a space is on one stream, and those that are communicated after MPI has ended.
  if (kind == Memory::communicated)
    PetscCheck(communicated_memory().release(p), PETSC_COMM_SELF, PETSC_ERR_PLIB, "This is no memory that MPI was shown");
  else if (large_blocks().erase(p))
    AMGKIT_CALL_CUDA(cudaFree(p)); // waits for the device
  else if (!release_small_block(p))
    AMGKIT_CALL_CUDA(cudaFreeAsync(p, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
