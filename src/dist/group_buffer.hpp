// Memory in the space of a group's head that all its processes write and read there: what a process has in a space crosses without the
// host.
#pragma once
#include "base/ipc_memory.hpp"
#include "dist/shared_memory.hpp"

#include <vector>

namespace amgkit
{
// Each process has a part. On a GPU the head has the memory, and the others open it once, by CUDA IPC, so that nothing of PETSc's is ever
// exported: PETSc may free its arrays at any time. Otherwise it is shared memory of the node, which stands for a GPU's in the space debug.
class GroupBuffer {
public:
  GroupBuffer() = default;
  GroupBuffer(const GroupBuffer &) = delete;
  GroupBuffer &operator=(const GroupBuffer &) = delete;
  GroupBuffer(GroupBuffer &&) = delete;
  GroupBuffer &operator=(GroupBuffer &&) = delete;
  ~GroupBuffer() { release(); } // collective

  // The group must outlive this.
  void create(MPI_Comm group, int head, bool on_device);
  // Collective over the group, between copies: from here on the part of this process has at least so many bytes. can: whether it has what
  // it would put there. *why_not: empty, or why that cannot be, the same on all processes of the group, which then do without.
  PetscErrorCode reserve(std::size_t bytes, bool can, std::string *why_not);
  char *part(int process) const { return base_ ? base_ + begins_[static_cast<std::size_t>(process)] : nullptr; }
  explicit operator bool() const { return base_ != nullptr; }

private:
  PetscErrorCode allocate(std::size_t bytes);
  PetscErrorCode open_on_all(std::size_t bytes);
  void release();

  MPI_Comm group_ = MPI_COMM_NULL;
  int head_ = 0, rank_ = 0, size_ = 0;
  bool on_device_ = false, taken_ = false;  // taken_: the same on all processes
  std::vector<std::size_t> sizes_, begins_; // of the parts
  char *base_ = nullptr;                    // as this process sees it
  std::string refused_;                     // why there will never be any: another attempt takes time, and ends like the last one
  SharedMemory on_host_;
};
} // namespace amgkit
