// Rows of a group in the space where its head computes: every process sends its own there. The heads' Mat is a shell that leads to them.
#include "dist/attempt.hpp"
#include "dist/raw_rows.hpp"
#include "dist/space_matrix.hpp"
#include "dist/staged_copies.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
namespace
{
using Giver = StagedCopies::Giver;

// A block of the head's as arrays of a copy, and what of the user's rows goes there.
struct Part {
  enum Array : std::size_t { ptr, col, val, count };
  std::size_t first_array;
  Places places;
  bool own;                 // whether it takes the entries in own columns
  std::vector<bool> chosen; // of ghosts
  bool all() const { return own && std::find(chosen.begin(), chosen.end(), false) == chosen.end(); }
};

template <class Ex> class StagedRows final : public RowsOfHeads {
public:
  explicit StagedRows(const LayoutOfHeads &layout) : layout_(layout) {}
  StagedRows(const StagedRows &) = delete;
  StagedRows &operator=(const StagedRows &) = delete;
  ~StagedRows() override
  {
    if (mat_) static_cast<void>(detach(mat_));
    static_cast<void>(MatDestroy(&mat_));
    rows_.own = {};
    rows_.others = {};
    raw_.release();
    static_cast<void>(close(ex_));
  }
  PetscErrorCode create(Mat user, bool in_space, Mat *of_heads) override;
  PetscErrorCode take_values(Mat user, bool in_space, Mat) override { return send(user, false, in_space); }

private:
  PetscErrorCode plan();
  PetscErrorCode agree_on_parts();
  PetscErrorCode agree_on_ghosts();
  PetscErrorCode make_room();
  PetscErrorCode allocate(const Part &, Csr<double, Ex> *);
  PetscErrorCode send(Mat user, bool pattern, bool in_space);
  PetscErrorCode choose_way(Mat user, bool in_space);
  PetscErrorCode copy(bool pattern);
  PetscErrorCode copy_raw(bool pattern);
  void give_pointers(Giver &, const Part &) const;
  void give_columns(Giver &, const Part &) const;
  void give_values(Giver &, const Part &) const;
  Csr<double, Ex> &block(const Part &part) { return part.own ? rows_.own : rows_.others; }
  PetscErrorCode make_matrix(Mat user, Mat *of_heads);

  LayoutOfHeads layout_;
  UserRows user_;                 // while they are open
  std::vector<PetscInt> numbers_; // of ghosts of this process, among the group's own columns or the group's ghosts
  std::vector<Part> parts_;       // own, and others where there is more than one head
  Ex ex_;
  SpaceMatrixIn<Ex> rows_; // on heads
  RawRows<Ex> raw_{layout_, ex_};
  bool is_raw_ = false; // whether rows and values go from space to space, the same on all ranks
  Mat mat_ = nullptr;
};

// Of this process. Local
template <class Ex> PetscErrorCode StagedRows<Ex>::plan()
{
  const std::vector<PetscInt> ghosts = user_.ghosts();
  std::vector<bool> in_group(ghosts.size()), elsewhere(ghosts.size());

  PetscFunctionBegin;
  numbers_.resize(ghosts.size());
  for (std::size_t g = 0; g < ghosts.size(); g++) {
    in_group[g] = layout_.is_own(ghosts[g]);
    elsewhere[g] = !in_group[g];
    numbers_[g] = ghosts[g] - layout_.first;
  }
  parts_.push_back({0, {}, true, std::move(in_group)});
  parts_.push_back({Part::count, {}, false, std::move(elsewhere)});
  const std::int64_t every = user_.count_of_first(user_.rows());
  std::int64_t &mine = parts_[0].places.mine;
  const bool all = parts_[0].all();
  if (all) mine = every;
  for (PetscInt i = 0; i < user_.rows() && !all; i++) mine += user_.count(i, true, parts_[0].chosen);
  parts_[1].places.mine = every - mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the ghosts of each group, ascending, and this process's numbers in them.
template <class Ex> PetscErrorCode StagedRows<Ex>::agree_on_ghosts()
{
  const NodeGroups &groups = layout_.groups;
  const std::vector<PetscInt> ghosts = user_.ghosts();
  std::vector<PetscInt> mine, of_group;
  int size;

  PetscFunctionBegin;
  for (std::size_t g = 0; g < ghosts.size(); g++) {
    if (parts_[1].chosen[g]) mine.push_back(ghosts[g]);
  }
  PetscCallMPI(MPI_Comm_size(groups.group(), &size));
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), begins(counts.size());
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, groups.group()));
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  of_group.resize(static_cast<std::size_t>(begins.back()) + static_cast<std::size_t>(counts.back()));
  PetscCallMPI(MPI_Allgatherv(mine.data(), count, MPIU_INT, of_group.data(), counts.data(), begins.data(), MPIU_INT, groups.group()));
  std::sort(of_group.begin(), of_group.end());
  of_group.erase(std::unique(of_group.begin(), of_group.end()), of_group.end());
  for (std::size_t g = 0; g < ghosts.size(); g++) {
    if (parts_[1].chosen[g])
      numbers_[g] = static_cast<PetscInt>(std::lower_bound(of_group.begin(), of_group.end(), ghosts[g]) - of_group.begin());
  }
  if (groups.is_head()) rows_.ghosts = std::move(of_group);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On heads
template <class Ex> PetscErrorCode StagedRows<Ex>::allocate(const Part &part, Csr<double, Ex> *block)
{
  PetscFunctionBegin;
  block->rows = static_cast<int>(layout_.rows);
  block->cols = part.own ? block->rows : static_cast<int>(rows_.ghosts.size());
  PetscCall(block->ptr.allocate(ex_, std::int64_t{block->rows} + 1));
  PetscCall(block->col.allocate(ex_, part.places.of_group));
  PetscCall(block->val.allocate(ex_, part.places.of_group));
  PetscCall(memory_zero(ex_, block->ptr.data(), sizeof(int))); // of no process
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void StagedRows<Ex>::give_pointers(Giver &giver, const Part &part) const
{
  std::int64_t end = part.places.before;

  giver.begin<int>(part.first_array + Part::ptr, layout_.before + 1);
  if (part.all())
    giver.put<int>(user_.rows(), [&](std::int64_t i) { return end + user_.count_of_first(static_cast<PetscInt>(i) + 1); });
  else
    giver.put<int>(user_.rows(), [&](std::int64_t i) { return end += user_.count(static_cast<PetscInt>(i), part.own, part.chosen); });
}

template <class Ex> void StagedRows<Ex>::give_columns(Giver &giver, const Part &part) const
{
  const PetscInt shift = user_.first() - layout_.first;

  giver.begin<int>(part.first_array + Part::col, part.places.before);
  user_.visit_runs(part.own, part.chosen, [&](const UserRows::Run &run) {
    const PetscInt *columns = user_.columns(run);
    if (run.block == 0)
      giver.put<int>(run.end - run.begin, [&](std::int64_t k) { return columns[k] + shift; });
    else
      giver.put<int>(run.end - run.begin, [&](std::int64_t k) { return numbers_[columns[k]]; });
  });
}

template <class Ex> void StagedRows<Ex>::give_values(Giver &giver, const Part &part) const
{
  giver.begin<double>(part.first_array + Part::val, part.places.before);
  user_.visit_runs(part.own, part.chosen, [&](const UserRows::Run &run) {
    const PetscScalar *values = user_.values(run);
    giver.put<double>(run.end - run.begin, [&](std::int64_t k) { return values[k]; });
  });
}

// Collective
template <class Ex> PetscErrorCode StagedRows<Ex>::copy(bool pattern)
{
  const bool head = layout_.groups.is_head();
  const Csr<double, Ex> *blocks[] = {&rows_.own, &rows_.others};
  std::vector<void *> arrays;
  double bytes = 0;

  PetscFunctionBegin;
  for (const Csr<double, Ex> *block : blocks) {
    for (const void *array : {static_cast<const void *>(block->ptr.data()), static_cast<const void *>(block->col.data()),
                              static_cast<const void *>(block->val.data())})
      arrays.push_back(const_cast<void *>(array));
    bytes += static_cast<double>(block->val.bytes() + (pattern ? block->ptr.bytes() + block->col.bytes() : 0));
  }
  if (pattern || !is_raw_)
    PetscCall(attempt(layout_.groups.all(), [&] {
      return layout_.groups.copies().to_head(head ? &ex_ : nullptr, arrays, [&](Giver &giver) {
        for (const Part &part : parts_) {
          if (pattern) give_pointers(giver, part);
          if (is_raw_) continue;
          if (pattern) give_columns(giver, part);
          give_values(giver, part);
        }
      });
    }));
  if (is_raw_) PetscCall(copy_raw(pattern));
  rows_.copied.patterns += pattern;
  rows_.copied.values++;
  rows_.copied.bytes += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: what is left of it. A pattern that came another way is there, but not what its values need.
template <class Ex> PetscErrorCode StagedRows<Ex>::copy_raw(bool pattern)
{
  std::vector<std::vector<PetscInt>> numbers;
  std::vector<RowsOfHead> to;

  PetscFunctionBegin;
  for (const Part &part : parts_) {
    numbers.push_back(numbers_);
    for (std::size_t g = 0; g < numbers_.size(); g++) {
      if (!part.chosen[g]) numbers.back()[g] = -1;
    }
    Csr<double, Ex> &rows = block(part);
    to.push_back({part.own, rows.ptr.data(), pattern ? rows.col.data() : nullptr, rows.val.data(), numbers.back().data()});
  }
  if (pattern || !raw_.knows_pattern()) PetscCall(raw_.take_pattern(user_, to));
  PetscCall(raw_.take_values(user_, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the values are read on the host if they do not go from space to space.
template <class Ex> PetscErrorCode StagedRows<Ex>::choose_way(Mat user, bool in_space)
{
  std::string why_not;

  PetscFunctionBegin;
  PetscCall(raw_.reserve(user_, in_space, &why_not));
  is_raw_ = why_not.empty();
  if (is_raw_)
    PetscCall(PetscInfo(user, "the values stay on the GPU on their way to the process that works for others: CUDA IPC\n"));
  else
    PetscCall(PetscInfo(user, "the values go to the process that works for others through the host: %s\n", why_not.c_str()));
  if (!is_raw_) PetscCall(attempt(layout_.groups.all(), [&] { return user_.open_values(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
template <class Ex> PetscErrorCode StagedRows<Ex>::agree_on_parts()
{
  PlacesOfBlocks places = {parts_[0].places, parts_[1].places};

  PetscFunctionBegin;
  PetscCall(agree_on_places(layout_, &places));
  parts_[0].places = places.own;
  parts_[1].places = places.others;
  if (layout_.groups.count() == 1)
    parts_.pop_back();
  else
    PetscCall(agree_on_ghosts());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On heads
template <class Ex> PetscErrorCode StagedRows<Ex>::make_room()
{
  PetscFunctionBegin;
  PetscCall(open(ex_));
  for (const Part &part : parts_) PetscCall(allocate(part, &block(part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the user's rows are given back also after an error.
template <class Ex> PetscErrorCode StagedRows<Ex>::send(Mat user, bool pattern, bool in_space)
{
  const NodeGroups &groups = layout_.groups;
  const auto work = [&] {
    PetscFunctionBegin;
    PetscCall(attempt(groups.all(), [&] {
      PetscFunctionBegin;
      PetscCall(user_.open_pattern(user));
      if (pattern) PetscCall(plan());
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(choose_way(user, in_space));
    if (pattern) PetscCall(agree_on_parts());
    if (pattern) PetscCall(attempt(groups.all(), [&] { return groups.is_head() ? make_room() : PETSC_SUCCESS; }));
    PetscCall(copy(pattern));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  const PetscErrorCode code = work();
  PetscCall(user_.close());
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On heads
template <class Ex> PetscErrorCode StagedRows<Ex>::make_matrix(Mat user, Mat *of_heads)
{
  const PetscInt rows = layout_.rows;
  PetscInt all_rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(user, &all_rows, nullptr));
  PetscCall(MatCreateShell(layout_.groups.heads(), rows, rows, all_rows, all_rows, nullptr, &mat_));
  PetscCall(attach(mat_, &rows_));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(mat_)));
  *of_heads = mat_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StagedRows<Ex>::create(Mat user, bool in_space, Mat *of_heads)
{
  PetscFunctionBegin;
  PetscCall(send(user, true, in_space));
  PetscCall(layout_.groups.on_heads([&] { return make_matrix(user, of_heads); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::unique_ptr<RowsOfHeads> make_staged_rows(const LayoutOfHeads &layout, [[maybe_unused]] SpaceKind space)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (space == SpaceKind::gpu) return std::make_unique<StagedRows<Cuda>>(layout);
#endif
  return std::make_unique<StagedRows<Debug>>(layout);
}
} // namespace amgkit
