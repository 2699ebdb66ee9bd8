// The host's memory: PETSc's allocator, so that -malloc_dump sees it.
#include "base/memory.hpp"

#include "base/copies_within.hpp"
#include "base/log.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace amgkit
{
namespace
{
// Linux may give a large array pages of 2 MiB, with a small part of the page faults and of the misses in the address translation. Only a
// hint, of which the result does not matter.
void ask_for_large_pages([[maybe_unused]] void *p, [[maybe_unused]] std::size_t bytes)
{
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t large = std::size_t{1} << 20;
  if (bytes < large) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)), first = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t begin = (first + page - 1) / page * page, end = (first + bytes) / page * page;
  static_cast<void>(madvise(static_cast<char *>(p) + (begin - first), end - begin, MADV_HUGEPAGE));
#endif
}
} // namespace

PetscErrorCode memory_allocate(Host &, Memory, std::size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc(bytes, p));
  ask_for_large_pages(*p, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_allocate(Debug &ex, Memory kind, std::size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (ex.allocations++ == ex.fail_at) PetscFunctionReturn(PETSC_ERR_MEM);
  PetscCall(memory_allocate(static_cast<Host &>(ex), kind, bytes, p));
  if (*p) std::memset(*p, 0xff, bytes); // NaN as double, -1 as index
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_reallocate(Host &, std::size_t bytes, void **p)
{
  void *q = *p;

  PetscFunctionBegin;
  PetscCall(PetscRealloc(bytes, &q)); // q is nullptr if it fails
  *p = q;
  ask_for_large_pages(*p, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_free(Host &, Memory, void *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode memory_copy(Host &, void *to, const void *from, std::size_t bytes)
{
  if (bytes) std::memcpy(to, from, bytes);
  return PETSC_SUCCESS;
}

PetscErrorCode memory_zero(Host &, void *p, std::size_t bytes)
{
  if (bytes) std::memset(p, 0, bytes);
  return PETSC_SUCCESS;
}

PetscErrorCode memory_to_host(Host &ex, void *to, const void *from, std::size_t bytes) { return memory_copy(ex, to, from, bytes); }
namespace
{
// As on a GPU: one for the process
std::array<unsigned char, posted_bytes> &posted()
{
  static std::array<unsigned char, posted_bytes> memory;
  return memory;
}
} // namespace
PetscErrorCode post_to_host(Host &ex, const void *from, std::size_t bytes) { return memory_copy(ex, posted().data(), from, bytes); }
PetscErrorCode take_posted(Host &ex, void *to, std::size_t bytes) { return memory_copy(ex, to, posted().data(), bytes); }
PetscErrorCode memory_from_host(Host &ex, void *to, const void *from, std::size_t bytes) { return memory_copy(ex, to, from, bytes); }

// Debug logs the waits of a GPU's host.
PetscErrorCode memory_to_host(Debug &ex, void *to, const void *from, std::size_t bytes)
{
  if (bytes == 0) return PETSC_SUCCESS;
  const LogPhase logged(Phase::wait);
  return memory_copy(ex, to, from, bytes);
}
PetscErrorCode take_posted(Debug &ex, void *to, std::size_t bytes)
{
  const LogPhase logged(Phase::wait);
  return memory_copy(ex, to, posted().data(), bytes);
}
PetscErrorCode memory_from_host(Debug &ex, void *to, const void *from, std::size_t bytes)
{
  constexpr std::size_t few = 128; // as on a GPU, where these go with a launch
  return bytes <= few ? memory_copy(ex, to, from, bytes) : memory_to_host(ex, to, from, bytes);
}

PetscErrorCode copy_in(Host &ex, void *to, const void *from, std::size_t bytes) { return memory_copy(ex, to, from, bytes); }
PetscErrorCode copy_out(Host &ex, void *to, const void *from, std::size_t bytes) { return memory_copy(ex, to, from, bytes); }
PetscErrorCode queue_copy_in(Host &ex, std::size_t, void *to, const void *from, std::size_t bytes)
{
  return memory_copy(ex, to, from, bytes);
}
PetscErrorCode queue_copy_out(Host &ex, std::size_t, void *to, const void *from, std::size_t bytes)
{
  return memory_copy(ex, to, from, bytes);
}
PetscErrorCode queue_copy_within(Host &ex, std::size_t, void *to, const void *from, std::size_t bytes)
{
  return memory_copy(ex, to, from, bytes);
}
PetscErrorCode copy_has_ended(Host &, std::size_t, bool *ended)
{
  *ended = true;
  return PETSC_SUCCESS;
}
PetscErrorCode copy_in_narrow(Host &, int *to, const std::int64_t *from, std::int64_t n)
{
  for (std::int64_t k = 0; k < n; k++) to[k] = static_cast<int>(from[k]);
  return PETSC_SUCCESS;
}
} // namespace amgkit
