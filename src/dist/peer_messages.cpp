#include "dist/peer_messages.hpp"

#include <utility>

namespace amgkit
{
// What a rank tells another: where the values go that come from there, one way.
template <class Ex> struct PeerMessages<Ex>::Invitation {
  std::int64_t box, other, arrived; // offsets, as in Way; arrived: that rank's word
  std::int64_t begin;               // of its piece
};

template <class Ex> void PeerMessages<Ex>::forget()
{
  if constexpr (Ex::on_device) {
    if (offset_ >= 0) give_back_peer_memory(offset_);
  }
  offset_ = -1;
  ready_ = false;
}

// Both ways' two boxes, then their words.
template <class Ex> PetscErrorCode PeerMessages<Ex>::take_memory(Ex &ex)
{
  constexpr std::int64_t line = 128;
  const auto whole_lines = [](std::int64_t bytes) { return (bytes + line - 1) / line * line; };
  const auto words = whole_lines(static_cast<std::int64_t>(neighbours_.size() * sizeof(unsigned)));
  std::int64_t bytes = 0;

  PetscFunctionBegin;
  for (Way &way : ways_) {
    way.other = whole_lines(std::int64_t{8} * way.received);
    way.box = std::exchange(bytes, bytes + 2 * way.other);
  }
  const std::int64_t first_word = bytes;
  for (Way &way : ways_) {
    way.arrived = std::exchange(bytes, bytes + words);
    way.done = std::exchange(bytes, bytes + line);
    way.number = std::exchange(bytes, bytes + line);
  }
  if constexpr (Ex::on_device) {
    offset_ = take_peer_memory(static_cast<std::size_t>(bytes));
    if (offset_ >= 0) PetscCall(clear_peer_memory(ex, memory_ + offset_ + first_word, static_cast<std::size_t>(bytes - first_word)));
  }
  for (Way &way : ways_) {
    for (std::int64_t *at : {&way.box, &way.arrived, &way.done, &way.number}) *at += offset_;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// from[r][back]: r's invitation
template <class Ex>
PetscErrorCode PeerMessages<Ex>::upload_boxes(Ex &ex, const std::vector<std::array<Invitation, 2>> &from, const std::vector<int> &given_at,
                                              int back)
{
  std::vector<PeerBox> boxes;

  PetscFunctionBegin;
  for (const int neighbour : neighbours_) {
    const auto r = static_cast<std::size_t>(neighbour);
    const Invitation &to = from[r][static_cast<std::size_t>(back)];
    char *memory = peers_->memory(r);
    boxes.push_back({memory + to.box, to.other, reinterpret_cast<unsigned *>(memory + to.arrived), given_at[r], given_at[r + 1],
                     static_cast<int>(to.begin) - given_at[r]});
  }
  PetscCall(upload(ex, boxes, ways_[static_cast<std::size_t>(back)].boxes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode PeerMessages<Ex>::create(Ex &ex, MPI_Comm comm, const std::vector<int> &given_at, const std::vector<int> &got_at)
{
  const std::size_t ranks = given_at.size() - 1;
  int rank, fits;

  PetscFunctionBegin;
  forget();
  PetscCall(peers_of(ex, comm, &peers_));
  if (!peers_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  memory_ = peers_->memory(static_cast<std::size_t>(rank));
  neighbours_.clear();
  for (std::size_t r = 0; r < ranks; r++) {
    if (given_at[r] < given_at[r + 1] || got_at[r] < got_at[r + 1]) neighbours_.push_back(static_cast<int>(r));
  }
  ways_[0].sent = ways_[1].received = given_at.back();
  ways_[0].received = ways_[1].sent = got_at.back();
  PetscCall(take_memory(ex));
  std::vector<std::array<Invitation, 2>> to(ranks), from(ranks);
  for (std::size_t t = 0; t < neighbours_.size(); t++) {
    const auto r = static_cast<std::size_t>(neighbours_[t]);
    for (const std::size_t back : {0, 1}) {
      const Way &way = ways_[back];
      to[r][back] = {way.box, way.other, way.arrived + static_cast<std::int64_t>(t * sizeof(unsigned)), (back ? given_at : got_at)[r]};
    }
  }
  PetscCallMPI(MPI_Alltoall(to.data(), sizeof to[0], MPI_BYTE, from.data(), sizeof to[0], MPI_BYTE, comm));
  fits = offset_ >= 0 && !upload_boxes(ex, from, given_at, 0) && !upload_boxes(ex, from, got_at, 1); // fails for want of memory alone
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm));
  if (!fits) forget();
  ready_ = fits != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode PeerMessages<Ex>::send(Ex &ex, std::size_t entry_bytes, const int *place, const void *from, bool back)
{
  const Way &way = ways_[back ? 1 : 0];

  PetscFunctionBegin;
  if constexpr (Ex::on_device) {
    if (neighbours_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(peer_send(ex, way.sent, entry_bytes, place, from, way.boxes.data(), static_cast<int>(neighbours_.size()), word(way.number),
                        word(way.done)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode PeerMessages<Ex>::receive(Ex &ex, std::size_t entry_bytes, void *to, bool back)
{
  const Way &way = ways_[back ? 1 : 0];

  PetscFunctionBegin;
  if constexpr (Ex::on_device) {
    if (neighbours_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(peer_receive(ex, way.received, entry_bytes, memory_ + way.box, way.other, word(way.arrived),
                           static_cast<int>(neighbours_.size()), word(way.number), to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, PeerMessages)
} // namespace amgkit
