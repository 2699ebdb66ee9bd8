#include "dist/node_groups.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <numeric>

namespace amgkit
{
// A process's own, on cache lines of its own: how often it has taken part in gather(), and how many words it has told or heard. MPI aligns
// shared memory to 8 bytes alone.
struct NodeGroups::Signals {
  std::atomic<std::uint64_t> gathered = 0, words = 0;
  Word word;                     // of the head
  std::array<char, 128> apart{}; // from the next one's
};

namespace
{
void free_if_any(MPI_Comm &comm)
{
  if (comm != MPI_COMM_NULL) static_cast<void>(MPI_Comm_free(&comm));
}

// Numbers the strings of all ranks by their first occurrence.
PetscErrorCode number_devices(MPI_Comm node, const std::string &device, std::vector<int> *numbers)
{
  constexpr std::size_t length = 64;
  std::array<char, length> mine{};
  std::map<std::string, int> known;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(node, &size));
  std::copy_n(device.begin(), std::min(device.size(), length - 1), mine.begin());
  std::vector<char> all(length * static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(mine.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, node));
  for (int r = 0; r < size; r++) {
    const std::string name = all.data() + length * static_cast<std::size_t>(r);
    numbers->push_back(known.try_emplace(name, static_cast<int>(known.size())).first->second);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// Augmenting paths of the bipartite graph of blocks and devices.
Blocks blocks_of(const std::vector<int> &devices, int groups)
{
  const auto size = static_cast<int>(devices.size());
  Blocks blocks;
  std::map<int, int> head_on; // device -> group
  std::vector<bool> tried;

  for (int r = 0; r < size; r++) blocks.groups.push_back(static_cast<int>(std::int64_t{r} * groups / size));
  for (int g = 0; g < groups; g++)
    blocks.heads.push_back(static_cast<int>(std::find(blocks.groups.begin(), blocks.groups.end(), g) - blocks.groups.begin()));
  const std::function<bool(int)> find_device = [&](int group) {
    for (int r = 0; r < size; r++) {
      const auto device = static_cast<std::size_t>(devices[r]);
      if (blocks.groups[r] != group || tried[device]) continue;
      tried[device] = true;
      const auto taken = head_on.find(devices[r]);
      if (taken != head_on.end() && !find_device(taken->second)) continue;
      head_on[devices[r]] = group;
      blocks.heads[group] = r;
      return true;
    }
    return false;
  };
  for (int g = 0; g < groups; g++) {
    tried.assign(devices.empty() ? 0 : static_cast<std::size_t>(*std::max_element(devices.begin(), devices.end())) + 1, false);
    find_device(g);
  }
  return blocks;
}

NodeGroups::~NodeGroups()
{
  copies_.reset(); // whose processes may have to wait for one another
  free_if_any(group_);
  free_if_any(heads_);
}

PetscErrorCode NodeGroups::create_groups(MPI_Comm node, int groups, const std::string &device)
{
  std::vector<int> devices;
  int rank, rank_of_all, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(all_, &rank_of_all));
  PetscCallMPI(MPI_Comm_rank(node, &rank));
  PetscCallMPI(MPI_Comm_size(node, &size));
  PetscCall(number_devices(node, device, &devices));
  devices_ = *std::max_element(devices.begin(), devices.end()) + 1;
  const Blocks blocks = blocks_of(devices, std::min(size, groups > 0 ? groups : devices_));
  const int group = blocks.groups[rank];
  on_node_ = static_cast<int>(blocks.heads.size());
  const bool head = blocks.heads[group] == rank;
  PetscCallMPI(MPI_Comm_split(node, group, rank, &group_));
  PetscCallMPI(MPI_Comm_rank(group_, &rank_));
  PetscCallMPI(MPI_Comm_size(group_, &size_));
  PetscCallMPI(MPI_Comm_split(all_, head ? 0 : MPI_UNDEFINED, rank_of_all, &heads_));
  head_ = head ? rank_ : -1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &head_, 1, MPI_INT, MPI_MAX, group_));
  std::array<int, 2> sums = {head, rank == 0 ? devices_ : 0};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT, MPI_SUM, all_));
  count_ = sums[0];
  devices_ = device.empty() ? 0 : sums[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: work(), which ends alike on all ranks. That nothing can be shared is a reason, and no error.
PetscErrorCode NodeGroups::where_shared(const std::function<PetscErrorCode()> &work, std::string *why_not) const
{
  PetscErrorCode code;
  std::string message;

  PetscFunctionBegin;
  PetscCall(outcome_of(work, &code, &message));
  PetscCheck(!code || code == PETSC_ERR_SYS, all_, code, "%s", message.c_str());
  if (code) *why_not = message;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::create_signals()
{
  PetscFunctionBegin;
  PetscCall(attempt(all_, [&] { return memory_.allocate(group_, sizeof(Signals) * static_cast<std::size_t>(size_)); }));
  signals_ = memory_.at<Signals>(0);
  new (signals_ + rank_) Signals;
  memory_.synchronise();
  PetscCallMPI(MPI_Barrier(group_));
  memory_.synchronise();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::create(MPI_Comm comm, int heads_a_node, const std::string &device, std::string *why_not)
{
  MPI_Comm node;
  int rank, size;

  PetscFunctionBegin;
  *why_not = "";
  all_ = comm;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &processes_));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &size));
  std::array<int, 2> last_and_first = {rank, -rank};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, last_and_first.data(), 2, MPI_INT, MPI_MAX, node));
  int scattered = last_and_first[0] + last_and_first[1] + 1 != size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &scattered, 1, MPI_INT, MPI_MAX, comm));
  if (!scattered) PetscCall(create_groups(node, heads_a_node, device));
  PetscCallMPI(MPI_Comm_free(&node));
  if (scattered)
    *why_not = "the processes of a node do not have consecutive ranks: let mpiexec place them by node or by core";
  else if (count_ == processes_)
    *why_not = devices_ == processes_ ? "each process has a GPU of its own" : "no process would work for another";
  if (why_not->empty()) PetscCall(where_shared([&] { return create_signals(); }, why_not));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::need_copies(std::string *why_not)
{
  PetscFunctionBegin;
  *why_not = "";
  if (copies_) PetscFunctionReturn(PETSC_SUCCESS);
  auto copies = std::make_unique<StagedCopies>();
  PetscCall(where_shared([&] { return attempt(all_, [&] { return copies->create(group_, head_, devices_ > 0); }); }, why_not));
  if (why_not->empty()) copies_ = std::move(copies);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::gather() const
{
  PetscFunctionBegin;
  gathered_++;
  memory_.synchronise();
  signals_[rank_].gathered.store(gathered_, std::memory_order_release);
  if (!is_head()) PetscFunctionReturn(PETSC_SUCCESS);
  for (int r = 0; r < size_; r++) {
    const Signals &of = signals_[r];
    PetscCall(wait_patiently(group_, [&] { return of.gathered.load(std::memory_order_acquire) >= gathered_; }));
  }
  memory_.synchronise();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::tell(const Word &word) const
{
  PetscFunctionBegin;
  for (int r = 0; r < size_; r++) {
    const Signals &of = signals_[r];
    PetscCall(wait_patiently(group_, [&] { return of.words.load(std::memory_order_acquire) >= words_; }));
  }
  signals_[rank_].word = word;
  memory_.synchronise();
  signals_[rank_].words.store(++words_, std::memory_order_release);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::hear(Word *word) const
{
  const Signals &head = signals_[head_];

  PetscFunctionBegin;
  words_++;
  const LogPhase logged(Phase::await);
  PetscCall(wait_patiently(group_, [&] { return head.words.load(std::memory_order_acquire) >= words_; }));
  memory_.synchronise();
  *word = head.word;
  signals_[rank_].words.store(words_, std::memory_order_release);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NodeGroups::on_heads(const std::function<PetscErrorCode()> &work) const
{
  const auto work_or_wait = [&]() -> PetscErrorCode {
    Word word;
    if (!is_head()) return hear(&word);
    PetscErrorCode code = PETSC_ERR_LIB;
    std::exception_ptr thrown;
    try {
      code = work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const PetscErrorCode told = tell(word);
    if (thrown) std::rethrow_exception(thrown);
    return code ? code : told;
  };
  return attempt(all_, work_or_wait);
}

PetscErrorCode NodeGroups::share(void *data, std::size_t bytes) const
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, head_, group_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// A string or a vector
template <class T> PetscErrorCode share_all(const NodeGroups &groups, T *of_head)
{
  auto length = static_cast<int>(of_head->size());

  PetscFunctionBegin;
  PetscCall(groups.share(&length, sizeof length));
  of_head->resize(static_cast<std::size_t>(length));
  PetscCall(groups.share(of_head->data(), of_head->size() * sizeof(typename T::value_type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode NodeGroups::share(std::string *text) const { return share_all(*this, text); }
PetscErrorCode NodeGroups::share(std::vector<double> *numbers) const { return share_all(*this, numbers); }

PetscErrorCode NodeGroups::collect(const std::vector<double> &mine, std::vector<double> *all) const
{
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size_)), begins(static_cast<std::size_t>(size_));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, group_));
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  if (is_head()) all->resize(static_cast<std::size_t>(begins.back()) + static_cast<std::size_t>(counts.back()));
  PetscCallMPI(MPI_Gatherv(mine.data(), count, MPI_DOUBLE, all->data(), counts.data(), begins.data(), MPI_DOUBLE, head_, group_));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
