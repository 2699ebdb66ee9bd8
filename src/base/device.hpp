// Which GPU a process has.
#pragma once
#include "base/compat.hpp"

#include <cstddef>
#include <string>

namespace amgkit
{
// What tells the device that is chosen for this process from others of the node, without opening it; empty: there is none, or none that
// answers, as in a build without GPUs.
#if defined(AMGKIT_HAVE_CUDA)
PetscErrorCode name_of_device(std::string *);
// Whether that device serves several processes at once, by NVIDIA's Multi-Process Service, and does not make them take turns. Opens
// nothing.
bool serves_processes_at_once();
#else
inline bool serves_processes_at_once() { return false; }
inline PetscErrorCode name_of_device(std::string *name)
{
  name->clear();
  return PETSC_SUCCESS;
}
#endif
// Chooses the device and opens there what all spaces of the process share, unless that is done. PETSC_ERR_MEM: it has no memory left. In a
// build for GPUs alone.
PetscErrorCode try_device();
// Host memory that a device reads or writes often: copies are faster if its pages are locked, which takes longer than one copy. Whether
// they are now; no is no error. The same for a build without GPUs, which never locks.
#if defined(AMGKIT_HAVE_CUDA)
bool lock_pages(void *p, std::size_t bytes);
void unlock_pages(void *p);
#else
inline bool lock_pages(void *, std::size_t) { return false; }
inline void unlock_pages(void *) {}
#endif
} // namespace amgkit
