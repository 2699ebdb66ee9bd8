// The host's memory: PETSc's allocator, so that -malloc_dump sees it.
#include "base/memory.hpp"

#include <cstring>

namespace amgkit
{
PetscErrorCode memory_allocate(Host &, Memory, std::size_t bytes, void **p)
{
  PetscFunctionBegin;
  *p = nullptr;
  if (bytes == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc(bytes, p));
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
PetscErrorCode memory_from_host(Host &ex, void *to, const void *from, std::size_t bytes) { return memory_copy(ex, to, from, bytes); }
} // namespace amgkit
