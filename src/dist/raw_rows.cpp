#include "dist/raw_rows.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>

namespace amgkit
{
template <class Ex> RawRows<Ex>::Places::Places(const Process &of)
{
  constexpr std::size_t alignment = 256;
  std::size_t next = 0;
  const auto take = [&](PetscInt n, std::size_t size) {
    const std::size_t at = next;
    next = (next + static_cast<std::size_t>(n) * size + alignment - 1) / alignment * alignment;
    return at;
  };
  own_ptr = take(of.rows + 1, sizeof(PetscInt));
  own_col = take(of.own, sizeof(PetscInt));
  ghost_ptr = take(of.rows + 1, sizeof(PetscInt));
  ghost_col = take(of.others, sizeof(PetscInt));
  of_pattern = next;
  next = 0; // the values follow when the pattern has gone
  own_val = take(of.own, sizeof(double));
  ghost_val = take(of.others, sizeof(double));
  of_values = next;
}

template <class Ex> typename RawRows<Ex>::Process RawRows<Ex>::process_of(const UserRows &rows)
{
  const std::vector<PetscInt> ghosts = rows.ghosts();
  Process mine;
  mine.rows = rows.rows();
  mine.own = rows.entries(0);
  mine.others = rows.entries(1);
  mine.ghosts = static_cast<PetscInt>(ghosts.size());
  mine.ghosts_before_own = static_cast<PetscInt>(std::lower_bound(ghosts.begin(), ghosts.end(), rows.first()) - ghosts.begin());
  return mine;
}

template <class Ex> PetscErrorCode RawRows<Ex>::reserve(const UserRows &rows, bool can, std::string *why_not)
{
  const NodeGroups &groups = layout_.groups;
  const Places places(process_of(rows));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(groups.group(), &rank_));
  PetscCall(groups.copies().in_space().reserve(std::max(places.of_pattern, places.of_values), can, why_not));
  int any = !why_not->empty();
  if (groups.count() > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, groups.all()));
  if (any && why_not->empty()) *why_not = "processes of another group cannot";
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over the group: all know all.
template <class Ex> PetscErrorCode RawRows<Ex>::meet(const UserRows &rows)
{
  const Process mine = process_of(rows);
  const std::array<PetscInt, fields> sent = {mine.rows, mine.own, mine.others, mine.ghosts, mine.ghosts_before_own};
  Process before;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(layout_.groups.group(), &size));
  std::vector<PetscInt> all(fields * static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(sent.data(), fields, MPIU_INT, all.data(), fields, MPIU_INT, layout_.groups.group()));
  for (auto at = all.begin(); at != all.end(); at += fields) {
    Process one = {at[0], at[1], at[2], at[3], at[4], before.rows_before, before.others_before, before.ghosts_before};
    processes_.push_back(one);
    before.rows_before += one.rows;
    before.others_before += one.others;
    before.ghosts_before += one.ghosts;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the head
template <class Ex> PetscErrorCode RawRows<Ex>::allocate(std::size_t parts)
{
  const Process &last = processes_.back();
  const std::int64_t rows = std::int64_t{last.rows_before} + last.rows + static_cast<std::int64_t>(processes_.size());

  PetscFunctionBegin;
  PetscCall(own_ptr_.allocate(ex_, rows));
  PetscCall(ghost_ptr_.allocate(ex_, rows));
  PetscCall(ghost_col_.allocate(ex_, std::int64_t{last.others_before} + last.others));
  for (std::size_t p = 0; p < parts; p++) PetscCall(numbers_[p].allocate(ex_, std::int64_t{last.ghosts_before} + last.ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over the group
template <class Ex> PetscErrorCode RawRows<Ex>::give_numbers(const std::vector<RowsOfHead> &to)
{
  const Process &mine = processes_[static_cast<std::size_t>(rank_)];
  return layout_.groups.copies().to_head(layout_.groups.is_head() ? &ex_ : nullptr, {numbers_[0].data(), numbers_[1].data()},
                                         [&](StagedCopies::Giver &giver) {
                                           for (std::size_t p = 0; p < to.size(); p++) {
                                             giver.begin<int>(p, mine.ghosts_before);
                                             giver.put<int>(mine.ghosts, [number = to[p].number](std::int64_t g) { return number[g]; });
                                           }
                                         });
}

template <class Ex> PetscErrorCode RawRows<Ex>::fill_block(const UserRows &rows, int block, bool pattern)
{
  const Process mine = process_of(rows);
  const Places places(mine);
  const std::size_t entries = static_cast<std::size_t>(rows.entries(block)), pointers = static_cast<std::size_t>(mine.rows) + 1;
  char *to = part(rank_);
  RawArrays raw;

  PetscFunctionBegin;
  if (entries == 0) PetscFunctionReturn(PETSC_SUCCESS); // the head knows
  PetscCall(raw_access(ex_, rows.block(block), raw));
  const auto copy = [&] {
    PetscFunctionBegin;
    if (pattern) {
      PetscCall(memory_copy(ex_, to + (block == 0 ? places.own_ptr : places.ghost_ptr), raw.ptr, pointers * sizeof(PetscInt)));
      PetscCall(memory_copy(ex_, to + (block == 0 ? places.own_col : places.ghost_col), raw.col, entries * sizeof(PetscInt)));
    } else {
      PetscCall(memory_copy(ex_, to + (block == 0 ? places.own_val : places.ghost_val), raw.val, entries * sizeof(double)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const PetscErrorCode code = copy();
  PetscCall(raw_release(ex_, rows.block(block), &raw.val));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: complete on return.
template <class Ex> PetscErrorCode RawRows<Ex>::fill(const UserRows &rows, bool pattern)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::hand_up);
  if (!layout_.groups.is_head()) PetscCall(open_for_copies(ex_));
  for (const int block : {0, 1}) PetscCall(fill_block(rows, block, pattern));
  PetscCall(synchronise(ex_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the head: what of a process's pattern is needed for its values.
template <class Ex> PetscErrorCode RawRows<Ex>::keep_pattern(int process)
{
  const Process &of = processes_[static_cast<std::size_t>(process)];
  const Places places(of);
  const std::int64_t pointers = std::int64_t{of.rows} + 1, first = std::int64_t{of.rows_before} + process;
  const char *from = part(process);

  PetscFunctionBegin;
  for (const bool own : {true, false}) {
    int *to = (own ? own_ptr_ : ghost_ptr_).data() + first;
    if ((own ? of.own : of.others) > 0)
      PetscCall(narrow(ex_, pointers, reinterpret_cast<const PetscInt *>(from + (own ? places.own_ptr : places.ghost_ptr)), to));
    else
      PetscCall(memory_zero(ex_, to, static_cast<std::size_t>(pointers) * sizeof(int)));
  }
  if (of.others > 0)
    PetscCall(narrow(ex_, of.others, reinterpret_cast<const PetscInt *>(from + places.ghost_col), ghost_col_.data() + of.others_before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> MergedBlocks RawRows<Ex>::blocks(int process, const RowsOfHead &to, std::size_t part) const
{
  const Process &of = processes_[static_cast<std::size_t>(process)];
  const std::int64_t first = std::int64_t{of.rows_before} + process;
  MergedBlocks made;
  made.rows = static_cast<int>(of.rows);
  made.own = to.own ? own_ptr_.data() + first : nullptr;
  made.ghosts = ghost_ptr_.data() + first;
  made.ghost = ghost_col_.data() + of.others_before;
  made.number = numbers_[part].data() + of.ghosts_before;
  made.before = static_cast<int>(of.ghosts_before_own);
  made.at = to.ptr + of.rows_before;
  made.average = of.rows > 0 ? static_cast<double>(to.own ? of.own : of.others) / static_cast<double>(of.rows) : 0;
  return made;
}

// On the head: complete on return, so that the others may fill the buffer anew.
template <class Ex> PetscErrorCode RawRows<Ex>::merge(const std::vector<RowsOfHead> &to, bool pattern)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::hand_up);
  for (int r = 0; r < static_cast<int>(processes_.size()); r++) {
    const Process &of = processes_[static_cast<std::size_t>(r)];
    const Places places(of);
    const char *from = part(r);
    if (pattern) PetscCall(keep_pattern(r));
    for (std::size_t p = 0; p < to.size() && of.rows > 0; p++) {
      const MergedBlocks in = blocks(r, to[p], p);
      if (!pattern)
        PetscCall(merge_values(ex_, in, reinterpret_cast<const double *>(from + places.own_val),
                               reinterpret_cast<const double *>(from + places.ghost_val), to[p].val));
      else if (to[p].col)
        PetscCall(
            merge_columns(ex_, in, reinterpret_cast<const PetscInt *>(from + places.own_col), static_cast<int>(of.rows_before), to[p].col));
    }
  }
  PetscCall(synchronise(ex_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The end of each attempt is known to all of a group's processes: the buffer is full, and free again.
template <class Ex> PetscErrorCode RawRows<Ex>::take_pattern(const UserRows &rows, const std::vector<RowsOfHead> &to)
{
  const MPI_Comm all = layout_.groups.all();
  const bool head = layout_.groups.is_head();

  PetscFunctionBegin;
  PetscCall(meet(rows));
  PetscCall(attempt(all, [&] { return head ? allocate(to.size()) : PETSC_SUCCESS; }));
  PetscCall(attempt(all, [&] { return give_numbers(to); }));
  PetscCall(attempt(all, [&] { return fill(rows, true); }));
  PetscCall(attempt(all, [&] { return head ? merge(to, true) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode RawRows<Ex>::take_values(const UserRows &rows, const std::vector<RowsOfHead> &to)
{
  const MPI_Comm all = layout_.groups.all();

  PetscFunctionBegin;
  PetscCall(attempt(all, [&] { return fill(rows, false); }));
  PetscCall(attempt(all, [&] { return layout_.groups.is_head() ? merge(to, false) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void RawRows<Ex>::release()
{
  for (Array<int, Ex> *array : {&own_ptr_, &ghost_ptr_, &ghost_col_, numbers_.data(), numbers_.data() + 1}) array->release();
}

AMGKIT_INSTANTIATE_TYPE(class, RawRows)
} // namespace amgkit
