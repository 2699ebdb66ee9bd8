// Processes of a node in groups, one of each of which works for all: its head. The others, its members, hand it what they have.
#pragma once
#include "dist/staged_copies.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace amgkit
{
// What a head tells its members. Up to the sender and receiver what the numbers mean.
struct Word {
  int what = 0, number = 0;
  double value = 0;
  int more = 0;
};

class NodeGroups {
public:
  NodeGroups() = default;
  NodeGroups(const NodeGroups &) = delete;
  NodeGroups &operator=(const NodeGroups &) = delete;
  NodeGroups(NodeGroups &&) = delete;
  NodeGroups &operator=(NodeGroups &&) = delete;
  ~NodeGroups();

  // Collective. At most heads_a_node groups on each node, of consecutive ranks; 0: as many as its processes have devices. device: what
  // tells this process's from others of the node, the same string for the same one; heads have different ones if they can. *why_not: empty,
  // or why there are no groups, the same on all ranks; then this can only be destroyed.
  PetscErrorCode create(MPI_Comm comm, int heads_a_node, const std::string &device, std::string *why_not);

  // Whether ranks and devices allow groups, whatever else is missing.
  bool possible() const { return group_ != MPI_COMM_NULL && count_ < processes_; }

  MPI_Comm all() const { return all_; }
  MPI_Comm group() const { return group_; }
  int group_size() const { return size_; }
  MPI_Comm heads() const { return heads_; } // MPI_COMM_NULL on members
  bool is_head() const { return heads_ != MPI_COMM_NULL; }
  int head_of_group() const { return head_; } // its rank in the group
  int processes() const { return processes_; }
  int count() const { return count_; }     // of heads
  int on_node() const { return on_node_; } // of heads of this node
  int devices() const { return devices_; } // of all nodes; 0: create() has had no names of them

  // Members say that their part is done; the head waits for all of them. Collective over the group; no other order between members.
  PetscErrorCode gather() const;
  // The head tells; members wait for it. Of two words in a row, the second one waits until all have heard the first.
  PetscErrorCode tell(const Word &) const;
  PetscErrorCode hear(Word *) const;
  // Collective over all ranks, as attempt(): work() on the heads, while members sleep.
  PetscErrorCode on_heads(const std::function<PetscErrorCode()> &work) const;
  // Collective over all ranks: from here on there are copies(). *why_not: empty, or why not, the same on all ranks.
  PetscErrorCode need_copies(std::string *why_not);
  StagedCopies &copies() const { return *copies_; }
  // Collective over the group: the head's bytes for all of it.
  PetscErrorCode share(void *data, std::size_t bytes) const;
  PetscErrorCode share(std::string *) const;
  PetscErrorCode share(std::vector<double> *) const;
  // Collective over the group: on its head, *all <- the parts of its processes, one after the other.
  PetscErrorCode collect(const std::vector<double> &mine, std::vector<double> *all) const;

private:
  struct Signals;
  PetscErrorCode create_groups(MPI_Comm node, int groups, const std::string &device);
  PetscErrorCode where_shared(const std::function<PetscErrorCode()> &work, std::string *why_not) const;
  PetscErrorCode create_signals();

  MPI_Comm all_ = MPI_COMM_NULL, group_ = MPI_COMM_NULL, heads_ = MPI_COMM_NULL;
  int head_ = 0, rank_ = 0, size_ = 0; // in the group
  int processes_ = 0, count_ = 0, on_node_ = 0, devices_ = 0;
  std::unique_ptr<StagedCopies> copies_; // of the group
  SharedMemory memory_;
  Signals *signals_ = nullptr; // in memory_, of each process of the group
  mutable std::uint64_t gathered_ = 0, words_ = 0;
};

// Collective over comm: groups for these arguments of NodeGroups::create(). They are made once, and are there until comm or PETSc ends.
PetscErrorCode groups_of(MPI_Comm comm, int heads_a_node, const std::string &device, std::shared_ptr<NodeGroups> *, std::string *why_not);

// groups[r]: of the processes of a node, r its rank there, in blocks of consecutive ones that differ by at most one process; heads[g]: the
// head's rank. devices[r]: the number of the device of process r; heads have different devices as far as the blocks allow.
struct Blocks {
  std::vector<int> groups, heads;
};
Blocks blocks_of(const std::vector<int> &devices, int groups);
} // namespace amgkit
