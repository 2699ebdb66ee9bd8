// Memory of an execution space: allocation, copies within it, and copies to and from the host.
#pragma once
#include "base/space.hpp"

#include <algorithm>
#include <cstddef>

namespace amgkit
{
// communicated: memory that MPI reads or writes. On Cuda it is cut from a few cudaMalloc'd chunks that the process keeps until
// PetscFinalize: CUDA IPC cannot export a stream-ordered pool's memory, and an MPI that has mapped a buffer in another process
// must not see it freed and its address come back. Everything else comes from the pool, but for blocks of a GB and more.
enum class Memory { scratch, communicated };

// They return PETSC_ERR_MEM quietly when there is none left; *p is then nullptr. bytes = 0 gives nullptr.
PetscErrorCode memory_allocate(Host &, Memory, std::size_t bytes, void **p);
PetscErrorCode memory_allocate(Debug &, Memory, std::size_t bytes, void **p);
PetscErrorCode memory_allocate(Cuda &, Memory, std::size_t bytes, void **p);
// Changes the size of *p, which memory_allocate() gave, to bytes > 0. What fits stays. Large memory is moved by its pages, not copied. If
// there is none left, returns PETSC_ERR_MEM, and *p is as before.
PetscErrorCode memory_reallocate(Host &, std::size_t bytes, void **p);
PetscErrorCode memory_free(Host &, Memory, void *p);
PetscErrorCode memory_free(Cuda &, Memory, void *p);

// How many bytes are free, for allocations of the space and of others. A host's memory counts as endless.
inline PetscErrorCode memory_available(Host &, std::int64_t *bytes)
{
  *bytes = INT64_MAX;
  return PETSC_SUCCESS;
}
inline PetscErrorCode memory_available(Debug &ex, std::int64_t *bytes)
{
  *bytes = ex.available;
  return PETSC_SUCCESS;
}
PetscErrorCode memory_available(Cuda &, std::int64_t *bytes);
// What a product may take that is estimated to take so many bytes: as many as are asked for, or for 0, where it would take more than half
// of what is free, that half, else all that there is. Asks the device only for products of a size that may matter.
template <class Ex> PetscErrorCode memory_for_product(Ex &ex, std::int64_t asked, double estimate, double *bytes)
{
  constexpr double matters = Ex::on_device ? 1 << 28 : 0;
  std::int64_t available = INT64_MAX;

  PetscFunctionBegin;
  if (asked == 0 && estimate > matters) PetscCall(memory_available(ex, &available));
  *bytes = asked > 0 ? static_cast<double>(asked) : static_cast<double>(available) / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}
// *taken: how many of these bytes may be used for something that only saves time: at most a sixteenth of the free memory. On a device, up
// to 16 MiB are granted without asking.
template <class Ex> PetscErrorCode part_to_spare(Ex &ex, std::int64_t bytes, std::int64_t *taken)
{
  constexpr std::int64_t matters = Ex::on_device ? 1 << 24 : 0;
  std::int64_t available = INT64_MAX;

  PetscFunctionBegin;
  if (bytes > matters) PetscCall(memory_available(ex, &available));
  *taken = std::min(bytes, available / 16);
  PetscFunctionReturn(PETSC_SUCCESS);
}
// *spare: whether all these bytes may be used so.
template <class Ex> PetscErrorCode memory_to_spare(Ex &ex, std::size_t bytes, bool *spare)
{
  std::int64_t taken = 0;

  PetscFunctionBegin;
  PetscCall(part_to_spare(ex, static_cast<std::int64_t>(bytes), &taken));
  *spare = taken == static_cast<std::int64_t>(bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// At least so many bytes of the device, which the space keeps: what the next call gives may be the same. Errors as memory_allocate().
PetscErrorCode scratch_memory(Cuda &, std::size_t bytes, void **p);

// Within the space, in stream order.
PetscErrorCode memory_copy(Host &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_copy(Cuda &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_zero(Host &, void *p, std::size_t bytes);
PetscErrorCode memory_zero(Cuda &, void *p, std::size_t bytes);

// Across; complete on return, but what goes to a space is there in stream order.
PetscErrorCode memory_to_host(Host &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_to_host(Debug &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_to_host(Cuda &, void *to, const void *from, std::size_t bytes);
// The same in two halves, of at most so many bytes: what is queued between them does not delay the second. One such copy of the process at
// a time: nothing that may post is called between them.
inline constexpr std::size_t posted_bytes = Cuda::host_scalars_bytes;
PetscErrorCode post_to_host(Host &, const void *from, std::size_t bytes);
PetscErrorCode post_to_host(Cuda &, const void *from, std::size_t bytes);
PetscErrorCode take_posted(Host &, void *to, std::size_t bytes);
PetscErrorCode take_posted(Debug &, void *to, std::size_t bytes);
PetscErrorCode take_posted(Cuda &, void *to, std::size_t bytes);
// The user's memory on the host, to a space that is apart and back. On return the user's memory may change, or is filled. What is large
// goes in pieces through page-locked buffers, which several threads fill and empty: see copies_cuda.cu.
PetscErrorCode copy_in(Host &, void *to, const void *from, std::size_t bytes);
PetscErrorCode copy_in(Cuda &, void *to, const void *from, std::size_t bytes);
PetscErrorCode copy_out(Host &, void *to, const void *from, std::size_t bytes);
PetscErrorCode copy_out(Cuda &, void *to, const void *from, std::size_t bytes);
// Indices, made narrower on the way, for PetscInt of 64 bits.
PetscErrorCode copy_in_narrow(Host &, int *to, const std::int64_t *from, std::int64_t n);
PetscErrorCode copy_in_narrow(Cuda &, int *to, const std::int64_t *from, std::int64_t n);
// Between page-locked memory of the host and a space, in stream order: on return neither side may be touched until the copy has ended, of
// which copy_has_ended() tells for the last one with that number. Numbers are of the process: one user of them at a time.
PetscErrorCode queue_copy_in(Host &, std::size_t number, void *to, const void *from, std::size_t bytes);
PetscErrorCode queue_copy_in(Cuda &, std::size_t number, void *to, const void *from, std::size_t bytes);
PetscErrorCode queue_copy_out(Host &, std::size_t number, void *to, const void *from, std::size_t bytes);
PetscErrorCode queue_copy_out(Cuda &, std::size_t number, void *to, const void *from, std::size_t bytes);
PetscErrorCode copy_has_ended(Host &, std::size_t number, bool *ended);
PetscErrorCode copy_has_ended(Cuda &, std::size_t number, bool *ended);
PetscErrorCode memory_from_host(Host &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_from_host(Debug &, void *to, const void *from, std::size_t bytes);
PetscErrorCode memory_from_host(Cuda &, void *to, const void *from, std::size_t bytes);
} // namespace amgkit
