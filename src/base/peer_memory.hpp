// Memory of a GPU that the processes of the node's other GPUs write into. Values go from GPU to GPU with it, and no host waits: a kernel of
// the giver stores them there and then a number, for which a kernel of the receiver looks (CUDA IPC; the stores travel over NVLink or
// PCIe).
#pragma once
#include "base/space.hpp"

#include <array>
#include <cstddef>

namespace amgkit
{
inline constexpr int most_peers = 32;     // of which peer_sum() adds values
inline constexpr int most_peer_sums = 64; // at once

// What another process needs to map the memory of this one.
struct PeerHandle {
  std::array<char, 64> bytes;
};
// What is given to one neighbour, as a kernel needs it: of values i of the giver, begin <= i < end go to place i + shift of the box. The
// box is in the neighbour's memory. There are two, for exchanges of even and of odd numbers.
struct PeerBox {
  char *values;       // the box for even numbers
  std::int64_t other; // bytes from there to that for odd ones
  unsigned *arrived;  // the neighbour's word for the number of the last exchange that has come from here
  int begin, end, shift;
};
// Rank r's boxes for the values that ranks add, and its words for their numbers; all of them have the same form.
struct PeerSums {
  double *values[most_peers]; // two times size times most_peer_sums
  unsigned *arrived[most_peers];
  unsigned *number; // this rank's: of the last sum
  int size, rank;
};

// In a build for GPUs alone:
// This process's memory, zeroed, which it keeps until PetscFinalize: taken by the first call. *memory is nullptr where there is none.
PetscErrorCode open_peer_memory(Cuda &, PeerHandle *, char **memory);
// That of another process, as it is seen here; nullptr where it cannot be mapped. Closed in PetscFinalize.
PetscErrorCode map_peer_memory(const PeerHandle &, char **memory);
// A part of this process's memory: its offset, or -1 where there is not as much left.
std::int64_t take_peer_memory(std::size_t bytes);
void give_back_peer_memory(std::int64_t offset);
// p[...] <- 0, when all that was queued before has ended. The host waits for it.
PetscErrorCode clear_peer_memory(Cuda &, void *p, std::size_t bytes);

// In stream order, and so that a CUDA graph may repeat them: numbers are kept in this process's peer memory, where they begin with 0.
// Begins the next exchange, *number + 1, of n values of 4 or 8 bytes: each box <- its part of from[i], or of from[place[i]]. done: a word
// that is 0 between launches. Each call is followed by peer_receive(), or by a kernel that awaits PeerValues.
PetscErrorCode peer_send(Cuda &, int n, std::size_t entry_bytes, const int *place, const void *from, const PeerBox *boxes, int count,
                         unsigned *number, unsigned *done);
// to[i] <- this process's box[i], after `count` neighbours have sent exchange *number. other: bytes from the box for even numbers to that
// for odd ones.
PetscErrorCode peer_receive(Cuda &, int n, std::size_t entry_bytes, const char *box, std::int64_t other, const unsigned *arrived, int count,
                            const unsigned *number, void *to);
// x[k] <- the sum over the ranks in their order, 0 <= k < n <= most_peer_sums. With a limit x becomes NaN after so many seconds.
PetscErrorCode peer_sum(Cuda &, const PeerSums &, int n, double *x, double limit = 0);
} // namespace amgkit
