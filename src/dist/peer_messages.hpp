// Messages of the same pattern, again and again, between the GPUs of a node: what NeighbourMessages is, without MPI.
#pragma once
#include "base/array.hpp"
#include "base/peer_values.hpp"
#include "dist/peers.hpp"

#include <vector>

namespace amgkit
{
// A rank has an array with a piece for each rank that gives it something, and one with a piece for each that gets something from it. On
// spaces that are no device, and where peers_of() finds none, it is never ready.
template <class Ex> class PeerMessages {
public:
  PeerMessages() = default;
  PeerMessages(const PeerMessages &) = delete;
  PeerMessages &operator=(const PeerMessages &) = delete;
  PeerMessages(PeerMessages &&) = delete;
  PeerMessages &operator=(PeerMessages &&) = delete;
  ~PeerMessages() { forget(); }

  // Collective. Rank r's piece of what is given is given_at[r] <= k < given_at[r + 1], and so on. Entries have up to 8 bytes.
  PetscErrorCode create(Ex &, MPI_Comm, const std::vector<int> &given_at, const std::vector<int> &got_at);
  void forget();
  // The same on all ranks.
  bool ready() const { return ready_; }
  // Collective over neighbours, in stream order; a CUDA graph may repeat them. send(): of entries of 4 or 8 bytes, entry k is from[k], or
  // from[place[k]] if place is not nullptr; receive(): puts what has come from the neighbours into to. back: what was got goes to those who
  // gave it.
  PetscErrorCode send(Ex &, std::size_t entry_bytes, const int *place, const void *from, bool back);
  PetscErrorCode receive(Ex &, std::size_t entry_bytes, void *to, bool back);
  // For kernels that take the place of receive(), on a rank that has neighbours.
  template <class T> PeerValues<T> values(bool back) const
  {
    const Way &way = ways_[back ? 1 : 0];
    return {memory_ + way.box, way.other, word(way.arrived), word(way.number), static_cast<int>(neighbours_.size())};
  }

private:
  // One way: what this rank sends, and where it receives. Offsets are of its own memory.
  struct Way {
    int sent = 0, received = 0;
    std::int64_t box = 0, other = 0, arrived = 0, done = 0, number = 0;
    Array<PeerBox, Ex> boxes;
  };
  struct Invitation;
  unsigned *word(std::int64_t offset) const { return reinterpret_cast<unsigned *>(memory_ + offset); }
  PetscErrorCode take_memory(Ex &);
  PetscErrorCode upload_boxes(Ex &, const std::vector<std::array<Invitation, 2>> &from, const std::vector<int> &given_at, int back);

  bool ready_ = false;
  Peers *peers_ = nullptr;
  char *memory_ = nullptr; // this rank's
  std::int64_t offset_ = -1;
  std::vector<int> neighbours_;
  std::array<Way, 2> ways_; // the second: back
};
} // namespace amgkit
