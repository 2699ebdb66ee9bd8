#include "dist/peers.hpp"

#include "base/device.hpp"
#include "base/memory.hpp"
#include "dist/comm_attribute.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <petscsys.h>

namespace amgkit
{
namespace
{
bool &gpus_are_shared()
{
  static bool shared = false;
  return shared;
}
} // namespace

void let_peers_share_gpus(bool shared) { gpus_are_shared() = shared; }

#if defined(AMGKIT_HAVE_CUDA)
namespace
{
PetscErrorCode all_ranks(MPI_Comm comm, int *yes)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, yes, 1, MPI_INT, MPI_MIN, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::size_t bytes_of_sums(int size) // with the words for numbers behind them
{
  return static_cast<std::size_t>(size) * (2 * most_peer_sums * sizeof(double) + sizeof(unsigned)) + sizeof(unsigned);
}
} // namespace

// What a rank says of itself.
struct Peers::Card {
  std::array<char, PETSC_MAX_PATH_LEN> host;
  std::array<char, 64> device; // empty: no memory of it is there for others
  PeerHandle handle;
  std::int64_t sums;
};

Peers::~Peers()
{
  if (own_sums_ >= 0) give_back_peer_memory(own_sums_);
}

PetscErrorCode Peers::write_card(Cuda &ex, int size, Card *card)
{
  std::string device;
  char *memory;
  PetscBool wanted = PETSC_TRUE;

  PetscFunctionBegin;
  *card = Card{};
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-amgkit_peer_memory", &wanted, nullptr));
  if (!wanted || size > most_peers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetHostName(card->host.data(), card->host.size()));
  PetscCall(name_of_device(&device));
  PetscCall(open_peer_memory(ex, &card->handle, &memory));
  if (memory) own_sums_ = take_peer_memory(bytes_of_sums(size));
  if (own_sums_ < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(clear_peer_memory(ex, memory + own_sums_, bytes_of_sums(size)));
  card->sums = own_sums_;
  device.copy(card->device.data(), card->device.size() - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::map_memory(const std::vector<Card> &cards, int rank, int *mapped)
{
  const auto size = static_cast<int>(cards.size());

  PetscFunctionBegin;
  memory_.assign(cards.size(), nullptr);
  sums_.size = size;
  sums_.rank = rank;
  for (int r = 0; r < size; r++) {
    const Card &card = cards[static_cast<std::size_t>(r)];
    char *&memory = memory_[static_cast<std::size_t>(r)];
    PeerHandle unused;
    if (r == rank) {
      Cuda ex;
      PetscCall(open_peer_memory(ex, &unused, &memory));
    } else
      PetscCall(map_peer_memory(card.handle, &memory));
    if (!memory) PetscFunctionReturn(PETSC_SUCCESS);
    sums_.values[r] = reinterpret_cast<double *>(memory + card.sums);
    sums_.arrived[r] = reinterpret_cast<unsigned *>(sums_.values[r] + 2 * size * most_peer_sums);
  }
  sums_.number = sums_.arrived[rank] + size;
  *mapped = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether what the ranks tell each other in this way comes, and in time.
PetscErrorCode Peers::try_sum(Cuda &ex, int *right)
{
  constexpr double seconds = 2;
  double *x, sum = 1 + sums_.rank;
  void *memory;

  PetscFunctionBegin;
  *right = 0;
  PetscCall(scratch_memory(ex, sizeof sum, &memory));
  x = static_cast<double *>(memory);
  PetscCall(memory_from_host(ex, x, &sum, sizeof sum));
  PetscCall(peer_sum(ex, sums_, 1, x, seconds));
  PetscCall(memory_to_host(ex, &sum, x, sizeof sum));
  *right = sum == static_cast<double>(sums_.size) * (sums_.size + 1) / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::introduce(Cuda &ex, MPI_Comm comm, bool *all)
{
  Card mine;
  int size, rank, yes = 0;

  PetscFunctionBegin;
  *all = false;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(write_card(ex, size, &mine));
  std::vector<Card> cards(static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm));
  for (std::size_t r = 0; r < cards.size(); r++) {
    if (!cards[r].device[0] || cards[r].host != mine.host) PetscFunctionReturn(PETSC_SUCCESS);
    for (std::size_t q = 0; q < r && !gpus_are_shared(); q++) {
      if (cards[q].device == cards[r].device) PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(map_memory(cards, rank, &yes));
  PetscCall(all_ranks(comm, &yes));
  if (!yes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(try_sum(ex, &yes));
  PetscCall(all_ranks(comm, &yes));
  *all = yes != 0;
  PetscCall(PetscInfo(nullptr, "GPUs of %d processes write into each other's memory: %s\n", size, *all ? "yes" : "no"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Peers::sum(Cuda &ex, int n, double *x) { return peer_sum(ex, sums_, n, x); }

namespace
{
struct PeersOfComm {
  bool known = false;
  std::unique_ptr<Peers> peers;
};
} // namespace

PetscErrorCode peers_of(Cuda &ex, MPI_Comm comm, Peers **peers)
{
  PeersOfComm *of_comm;
  bool all;

  PetscFunctionBegin;
  PetscCall(CommAttribute<PeersOfComm>::of(comm, &of_comm));
  if (!of_comm->known) {
    auto met = std::make_unique<Peers>();
    PetscCall(met->introduce(ex, comm, &all));
    if (all) of_comm->peers = std::move(met);
    of_comm->known = true;
  }
  *peers = of_comm->peers.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
} // namespace amgkit
