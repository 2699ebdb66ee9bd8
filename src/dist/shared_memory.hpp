// Memory that the processes of a group on one node share, and how they wait for one another without taking the cores of those that work.
#pragma once
#include "base/compat.hpp"

#include <atomic>
#include <cstddef>
#include <functional>

namespace amgkit
{
// Whether this node can share so many bytes, as far as the system tells. Local
bool can_share(double bytes);

// One piece of memory of a group of processes of a node.
class SharedMemory {
public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  SharedMemory(SharedMemory &&) = delete;
  SharedMemory &operator=(SharedMemory &&) = delete;
  ~SharedMemory() { release(); }

  // Collective, once: zeros. PETSC_ERR_SYS, on all ranks of the group, where the node has too little that can be shared. The system frees
  // it with the last of the processes, however they end.
  PetscErrorCode allocate(MPI_Comm group, std::size_t bytes);
  void release(); // local
  // What others have written before a signal that this process has seen is read afterwards, and the other way round. Local.
  void synchronise() const { std::atomic_thread_fence(std::memory_order_seq_cst); }
  // Local: from here on copies between all of it and this process's GPU are as fast as they can be, if the system allows it.
  void lock_pages();
  // Local: `bytes` from the beginning
  template <class T> T *at(std::size_t bytes) const { return reinterpret_cast<T *>(base_ + bytes); }
  explicit operator bool() const { return base_ != nullptr; }

private:
  char *base_ = nullptr;
  std::size_t bytes_ = 0;
  bool locked_ = false;
};

// Waits until over() is true. The process first lets others have its core at once, and soon sleeps; MPI goes on with messages of the
// communicator's processes meanwhile.
PetscErrorCode wait_patiently(MPI_Comm comm, const std::function<bool()> &over);
} // namespace amgkit
