#include "dist/staged_copies.hpp"

#include "base/log.hpp"

#include <cstring>
#include <deque>

namespace amgkit
{
// What the head does for the others while a copy is under way.
class StagedCopies::Service {
public:
  Service() = default;
  Service(const Service &) = delete;
  Service &operator=(const Service &) = delete;
  virtual ~Service() = default;
  virtual bool go_on() = 0; // without waiting; whether there was anything to do
  virtual bool over() const = 0;
  PetscErrorCode code = PETSC_SUCCESS;
};

template <class Ex> class StagedCopies::ServiceIn final : public Service {
public:
  ServiceIn(StagedCopies &copies, Ex &ex, bool in, const std::vector<void *> &arrays) : of_(copies), ex_(ex), in_(in), arrays_(arrays) {}

  bool go_on() override
  {
    bool any = false;
    for (int r = 0; r < of_.size_; r++) {
      std::uint64_t &taken = of_.taken_[static_cast<std::size_t>(r)];
      const Lane &lane = of_.lanes_[r];
      if (ended_[static_cast<std::size_t>(r)]) continue; // what it posts is for the next copy
      const std::uint64_t posted = lane.posted.load(std::memory_order_acquire);
      any = any || taken < posted;
      while (taken < posted && !ended_[static_cast<std::size_t>(r)]) queue(r, taken++);
    }
    while (!queued_.empty() && has_ended(queued_.front())) {
      of_.lanes_[queued_.front().process].copied.fetch_add(1, std::memory_order_release);
      queued_.pop_front();
      any = true;
    }
    return any;
  }
  bool over() const override { return left_ == 0 && queued_.empty(); }

private:
  struct Queued {
    int process;
    std::size_t number;
    bool copied; // whether the device does it
  };
  // After an error of the device the others are still told that they can go on.
  void queue(int process, std::uint64_t number)
  {
    const Piece &piece = of_.lanes_[process].pieces[number % slots];
    const std::size_t event = static_cast<std::size_t>(process) * slots + number % slots;
    const bool copies = !piece.last && code == PETSC_SUCCESS;
    if (copies) {
      char *there = static_cast<char *>(arrays_[piece.array]) + piece.at;
      char *here = piece.in_space ? of_.in_space_.part(process) + piece.from : of_.buffer(process, number);
      if (piece.in_space)
        code = queue_copy_within(ex_, event, in_ ? there : here, in_ ? here : there, piece.bytes);
      else
        code = in_ ? queue_copy_in(ex_, event, there, here, piece.bytes) : queue_copy_out(ex_, event, here, there, piece.bytes);
    }
    if (piece.last) {
      ended_[static_cast<std::size_t>(process)] = true;
      left_--;
    }
    queued_.push_back({process, event, copies && code == PETSC_SUCCESS});
  }
  bool has_ended(const Queued &queued)
  {
    bool ended = true;
    if (!queued.copied || code) return true;
    code = copy_has_ended(ex_, queued.number, &ended);
    return ended || code;
  }

  StagedCopies &of_;
  Ex &ex_;
  bool in_;
  const std::vector<void *> &arrays_;
  std::vector<bool> ended_ = std::vector<bool>(static_cast<std::size_t>(of_.size_), false);
  int left_ = of_.size_;
  std::deque<Queued> queued_;
};

PetscErrorCode StagedCopies::create(MPI_Comm group, int head, bool has_device)
{
  constexpr std::size_t together = std::size_t{32} << 20, least = std::size_t{256} << 10, most = std::size_t{2} << 20, page = 4096;

  PetscFunctionBegin;
  group_ = group;
  PetscCallMPI(MPI_Comm_rank(group, &rank_));
  PetscCallMPI(MPI_Comm_size(group, &size_));
  const auto size = static_cast<std::size_t>(size_);
  const std::size_t signals = (size * sizeof(Lane) + page - 1) / page * page;
  piece_bytes_ = std::clamp(together / (slots * size) / page * page, least, most);
  PetscCall(memory_.allocate(group, signals + size * slots * piece_bytes_));
  lanes_ = memory_.at<Lane>(0);
  buffers_ = memory_.at<char>(signals);
  new (lanes_ + rank_) Lane;
  if (rank_ == head) taken_.assign(size, 0);
  if (rank_ == head && has_device) memory_.lock_pages();
  in_space_.create(group, head, has_device);
  memory_.synchronise();
  PetscCallMPI(MPI_Barrier(group));
  memory_.synchronise();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void StagedCopies::post(const Piece &piece)
{
  wait_for_copies(posted_ < slots ? 0 : posted_ - slots + 1);
  lanes_[rank_].pieces[posted_ % slots] = piece;
  lanes_[rank_].posted.store(++posted_, std::memory_order_release);
}

// The head works for all meanwhile, and sleeps only if there is nothing to do.
void StagedCopies::wait_until(const std::function<bool()> &over)
{
  bool is_over = over();
  while (!is_over) {
    const PetscErrorCode code = wait_patiently(group_, [&] {
      const bool went_on = service_ && service_->go_on();
      is_over = over();
      return is_over || went_on;
    });
    note(code);
    if (code) return;
  }
}

// Of this process's pieces, so many since the beginning.
void StagedCopies::wait_for_copies(std::uint64_t number)
{
  wait_until([&] { return lanes_[rank_].copied.load(std::memory_order_acquire) >= number; });
}

char *StagedCopies::free_buffer()
{
  if (posted_ >= slots) wait_for_copies(posted_ - slots + 1);
  return buffer(rank_, posted_);
}

void StagedCopies::Giver::flush()
{
  if (piece_.bytes > 0) copies_.post(piece_);
  piece_.at += piece_.bytes;
  piece_.bytes = 0;
  buffer_ = nullptr;
}

void StagedCopies::take(void *to, std::size_t at, std::size_t bytes)
{
  const std::uint64_t count = (bytes + piece_bytes_ - 1) / piece_bytes_, before = posted_;

  for (std::uint64_t taken = 0, asked = 0; taken < count; taken++) {
    for (; asked < count && asked < taken + slots; asked++) {
      const std::size_t from = asked * piece_bytes_;
      post({0, at + from, std::min(piece_bytes_, bytes - from), false, false, 0});
    }
    wait_for_copies(before + taken + 1);
    const std::size_t from = taken * piece_bytes_;
    std::memcpy(static_cast<char *>(to) + from, buffer(rank_, before + taken), std::min(piece_bytes_, bytes - from));
  }
}

// The head has copied what was there before: nothing is left in this process's part of in_space().
template <class Ex> void StagedCopies::give_in_space(Ex &ex, const Piece &piece, const void *elements)
{
  if (piece.bytes == 0) return;
  wait_for_copies(posted_before_);
  const auto copy = [&] {
    PetscFunctionBegin;
    PetscCall(memory_copy(ex, in_space_.part(rank_) + piece.from, elements, piece.bytes));
    PetscCall(synchronise(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  note(copy());
  post(piece);
}

void StagedCopies::begin(Service *service)
{
  service_ = service;
  posted_before_ = posted_;
}

// This process's part is done; on the head, all processes' are.
PetscErrorCode StagedCopies::end()
{
  Piece last;
  last.last = true;
  post(last);
  if (service_) {
    wait_until([&] { return service_->over(); });
    note(service_->code);
  }
  service_ = nullptr;
  const PetscErrorCode code = code_;
  code_ = PETSC_SUCCESS;
  return code;
}

template <class Ex>
PetscErrorCode StagedCopies::to_head(Ex *ex, const std::vector<void *> &arrays, const std::function<void(Giver &)> &give)
{
  std::unique_ptr<Service> service = ex ? std::make_unique<ServiceIn<Ex>>(*this, *ex, true, arrays) : nullptr;

  PetscFunctionBegin;
  const LogPhase logged(Phase::hand_up);
  begin(service.get());
  Giver giver(*this);
  give(giver);
  giver.flush();
  PetscCall(end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// take_part() is what this process takes.
template <class Ex> PetscErrorCode StagedCopies::serve(Ex *ex, const void *array, const std::function<void()> &take_part)
{
  const std::vector<void *> arrays = {const_cast<void *>(array)};
  std::unique_ptr<Service> service = ex ? std::make_unique<ServiceIn<Ex>>(*this, *ex, false, arrays) : nullptr;

  PetscFunctionBegin;
  const LogPhase logged(Phase::hand_down);
  begin(service.get());
  take_part();
  PetscCall(end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StagedCopies::from_head(Ex *ex, const void *array, void *to, std::size_t at, std::size_t bytes)
{
  return serve(ex, array, [&] { take(to, at, bytes); });
}

template <class Ex>
PetscErrorCode StagedCopies::from_head_in_space(Ex *ex, Ex &mine, const void *array, void *to, std::size_t at, std::size_t bytes)
{
  return serve(ex, array, [&] {
    if (bytes == 0) return;
    wait_for_copies(posted_before_);
    post({0, at, bytes, false, true, 0});
    wait_for_copies(posted_);
    note(memory_copy(mine, to, in_space_.part(rank_), bytes));
    note(synchronise(mine));
  });
}

#define AMGKIT_INSTANTIATE_COPIES(Ex)                                                                                                      \
  template PetscErrorCode StagedCopies::to_head(Ex *, const std::vector<void *> &, const std::function<void(Giver &)> &);                  \
  template PetscErrorCode StagedCopies::from_head(Ex *, const void *, void *, std::size_t, std::size_t);                                   \
  template PetscErrorCode StagedCopies::from_head_in_space(Ex *, Ex &, const void *, void *, std::size_t, std::size_t);                    \
  template void StagedCopies::give_in_space(Ex &, const Piece &, const void *);
AMGKIT_FOR_ALL_SPACES(AMGKIT_INSTANTIATE_COPIES)
} // namespace amgkit
