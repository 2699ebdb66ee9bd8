// The ranks of a communicator whose GPUs write into each other's memory: see base/peer_memory.hpp.
#pragma once
#include "base/peer_memory.hpp"

#include <vector>

namespace amgkit
{
class Peers {
public:
  Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;
  Peers(Peers &&) = delete;
  Peers &operator=(Peers &&) = delete;
  ~Peers();

  // Collective: introduces the ranks to each other. *all: each of them can write into the memory of each.
  PetscErrorCode introduce(Cuda &, MPI_Comm, bool *all);
  // Rank r's memory, as this rank sees it.
  char *memory(std::size_t r) const { return memory_[r]; }
  // Collective: x[k] <- sum over the ranks, k < n <= most_peer_sums, the same to the last bit on all of them. In stream order.
  PetscErrorCode sum(Cuda &, int n, double *x);

private:
  struct Card;
  PetscErrorCode write_card(Cuda &, int size, Card *);
  PetscErrorCode map_memory(const std::vector<Card> &, int rank, int *mapped);
  PetscErrorCode try_sum(Cuda &, int *right);

  std::vector<char *> memory_;
  PeerSums sums_{};
  std::int64_t own_sums_ = -1; // offset
};

// Collective at the first call for a communicator, which keeps what it finds: its peers, or nullptr where it has one rank, where its ranks
// are not on one node with a GPU each, where one of these cannot write into the memory of another, or where -amgkit_peer_memory is no.
PetscErrorCode peers_of(Cuda &, MPI_Comm, Peers **);
inline PetscErrorCode peers_of(Host &, MPI_Comm, Peers **peers)
{
  *peers = nullptr;
  return PETSC_SUCCESS;
}
// For tests on one GPU: ranks may share it. While one of them waits for another, it has the GPU until the driver gives that the other one,
// which takes milliseconds. Before peers_of().
void let_peers_share_gpus(bool);
} // namespace amgkit
