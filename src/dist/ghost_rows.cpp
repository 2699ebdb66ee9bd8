#include "dist/ghost_rows.hpp"

#include "base/log.hpp"
#include "base/marks.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
namespace
{
constexpr int block_entries = 256; // of 8 bytes
}

template <class Ex> GhostRows<Ex>::~GhostRows()
{
  static_cast<void>(PetscSFDestroy(&sf_));
  if (block_ != MPI_DATATYPE_NULL) static_cast<void>(MPI_Type_free(&block_));
}

// rows_of_rank: the place of each rank's first row, and the end; row, length: as in offsets_of_rows(). first_entry[q] <- the first entry of
// the q-th of these places, in stream order. Local.
template <class Ex>
PetscErrorCode GhostRows<Ex>::Side::count(Ex &ex, const std::vector<int> &rows_of_rank, const int *row, const int *length, int *first_entry)
{
  const std::int64_t rows = rows_of_rank.back();

  PetscFunctionBegin;
  PetscCall(ptr.allocate(ex, rows + 1));
  PetscCall(offsets_of_rows(ex, rows, row, length, ptr.data(), nullptr));
  PetscCall(upload(ex, rows_of_rank, piece));
  PetscCall(gather(ex, piece.size(), piece.data(), ptr.data(), first_entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// entry: first_entry of count(), which may have wrapped around. Differences modulo 2^32 are right, as one rank's entries are not so many.
// Local.
template <class Ex> PetscErrorCode GhostRows<Ex>::Side::allocate(Ex &ex, const int *entry)
{
  std::vector<std::int64_t> shifts;

  PetscFunctionBegin;
  block.assign(1, 0);
  entries = 0;
  for (std::int64_t r = 0; r + 1 < piece.size(); r++) {
    const unsigned length = static_cast<unsigned>(entry[r + 1]) - static_cast<unsigned>(entry[r]);
    shifts.push_back(std::int64_t{block.back()} * block_entries - entries);
    block.push_back(block.back() + static_cast<int>((length + block_entries - 1) / block_entries));
    entries += length;
    PetscCheck(entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "More than 2^31 - 1 entries in rows received from, or sent to, other processes: use more processes");
  }
  PetscCall(upload(ex, shifts, shift));
  PetscCall(buffer.allocate(ex, std::int64_t{block.back()} * block_entries, Memory::communicated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local. length: entries of each row of B; those of the ghosts have arrived. Columns are packed beside the values.
template <class Ex> PetscErrorCode GhostRows<Ex>::pack(Ex &ex, const int *length, const DistRows &B, Columns &columns)
{
  const std::vector<int> &to = halo_->sent_to_rank(), &from_rank = halo_->ghosts_of_rank();
  Array<PetscInt, Ex> ghost;
  Array<int, Ex> first_entry; // of both sides, for one wait
  std::vector<int> entry;
  const int *row = halo_->sent_rows().data();

  PetscFunctionBegin;
  PetscCall(first_entry.allocate(ex, static_cast<std::int64_t>(to.size() + from_rank.size())));
  PetscCall(sent_.count(ex, to, row, length, first_entry.data()));
  PetscCall(arrived_.count(ex, from_rank, nullptr, halo_->template ghost<int>(), first_entry.data() + to.size()));
  PetscCall(download(ex, first_entry.data(), first_entry.size(), entry));
  PetscCall(sent_.allocate(ex, entry.data()));
  PetscCall(arrived_.allocate(ex, entry.data() + to.size()));
  PetscCall(exchange_.reserve(sent_.buffer.bytes(), arrived_.buffer.bytes()));
  rows_ = static_cast<int>(arrived_.ptr.size()) - 1;
  PetscCall(columns.sent.allocate(ex, sent_.buffer.size(), Memory::communicated));
  PetscCall(columns.arrived.allocate(ex, arrived_.buffer.size(), Memory::communicated));
  PetscCall(val_.allocate(ex, arrived_.entries));
  PetscCall(upload(ex, *B.ghosts, ghost));
  const int before = ghosts_before(*B.ghosts, B.first);
  const SplitRows from = {B.diag, B.offd, B.first, ghost.data(), before};
  PetscCall(pack_columns(ex, sent_.message(row), from, columns.sent.data()));
  PetscCall(pack_values(ex, sent_.message(row), from, sent_.buffer.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
template <class Ex> PetscErrorCode GhostRows<Ex>::connect(MPI_Comm comm, Columns &columns)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous(block_entries, MPI_UINT64_T, &block_));
  PetscCallMPI(MPI_Type_commit(&block_));
  PetscCall(mpi_sees<Ex>(&direct_));
  if (direct_) {
    PetscCall(messages_.create(comm, sent_.block, arrived_.block));
    PetscCall(columns.messages.create(comm, sent_.block, arrived_.block));
  } else {
    PetscCall(make_forest(comm));
  }
  connected_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: where the owners' blocks for this rank begin, and the SF.
template <class Ex> PetscErrorCode GhostRows<Ex>::make_forest(MPI_Comm comm)
{
  std::vector<int> at(arrived_.block.size() - 1);
  std::vector<PetscSFNode> roots;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Alltoall(sent_.block.data(), 1, MPI_INT, at.data(), 1, MPI_INT, comm));
  for (std::size_t r = 0; r < at.size(); r++) {
    for (int b = arrived_.block[r]; b < arrived_.block[r + 1]; b++) {
      PetscSFNode root;
      root.rank = static_cast<decltype(root.rank)>(r);
      root.index = at[r] + b - arrived_.block[r];
      roots.push_back(root);
    }
  }
  PetscCall(PetscSFCreate(comm, &sf_));
  PetscCall(PetscSFSetGraph(sf_, sent_.block.back(), static_cast<PetscInt>(roots.size()), nullptr, PETSC_COPY_VALUES, roots.data(),
                            PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the values, and columns if there are any, whose messages travel beside theirs.
template <class Ex> PetscErrorCode GhostRows<Ex>::exchange(Ex &ex, Columns *columns)
{
  PetscFunctionBegin;
  if (direct_) {
    constexpr std::size_t bytes = block_entries * sizeof(std::uint64_t);
    LogPhase logged(Phase::halo);
    PetscCall(mark(ex));
    PetscCall(wait_for_mark(ex));
    if (columns) PetscCall(columns->messages.start(block_, bytes, columns->sent.data(), columns->arrived.data(), false));
    PetscCall(messages_.start(block_, bytes, sent_.buffer.data(), arrived_.buffer.data(), false));
    logged.next(Phase::halo); // as an exchange that other work goes on beside
    if (columns) PetscCall(columns->messages.wait());
    PetscCall(messages_.wait());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const auto by_forest = [&](auto &sent, auto &arrived) {
    PetscFunctionBegin;
    PetscCall(exchange_.begin(ex, sf_, block_, {sent.data(), sent.bytes()}, {arrived.data(), arrived.bytes()}, false));
    PetscCall(exchange_.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  if (columns) PetscCall(by_forest(columns->sent, columns->arrived));
  PetscCall(by_forest(sent_.buffer, arrived_.buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: from the global columns that have arrived, and B's ghosts, the distinct ghosts and the numbers of both. There are `end` columns.
template <class Ex>
PetscErrorCode GhostRows<Ex>::number_columns(Ex &ex, const DistRows &B, std::uint64_t end, const std::uint64_t *columns_arrived)
{
  const std::vector<std::uint64_t> known(B.ghosts->begin(), B.ghosts->end());
  const auto k = static_cast<std::int64_t>(known.size()), n = k + arrived_.entries;
  GhostedColumns columns = {static_cast<std::uint64_t>(B.first), B.diag.cols};
  std::vector<std::uint64_t> distinct;
  Array<std::uint64_t, Ex> global, key;
  Array<int, Ex> position;

  PetscFunctionBegin;
  PetscCheck(n <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries in other processes' rows: use more processes");
  PetscCall(allocate_each(ex, n, global, key, position));
  PetscCall(memory_from_host(ex, global.data(), known.data(), known.size() * sizeof(std::uint64_t)));
  PetscCall(unpack(ex, arrived_.message(nullptr), columns_arrived, global.data() + k));
  PetscCall(keys_of_ghosts(ex, n, global.data(), columns, key.data()));
  PetscCall(number_distinct(ex, key, end, position.data(), distinct));
  ghosts_.assign(distinct.begin(), distinct.end());
  before_ = ghosts_before(ghosts_, B.first);
  const auto cols = static_cast<std::int64_t>(ghosts_.size()) + columns.own;
  PetscCheck(cols <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than 2^31 - 1 columns on one process: use more processes");
  cols_ = static_cast<int>(cols);
  columns.before = before_;
  PetscCall(column_of_ghost_.allocate(ex, k));
  PetscCall(col_.allocate(ex, arrived_.entries));
  PetscCall(merged_numbers(ex, k, global.data(), position.data(), columns, column_of_ghost_.data()));
  PetscCall(merged_numbers(ex, arrived_.entries, global.data() + k, position.data() + k, columns, col_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: of a halo without ghosts on any rank, as that of one rank is. There are no rows. B's own ghosts are numbered, if it has any; else
// nothing is waited for.
template <class Ex> PetscErrorCode GhostRows<Ex>::create_empty(Ex &ex, const DistRows &B)
{
  PetscFunctionBegin;
  PetscCall(arrived_.ptr.allocate(ex, 1));
  PetscCall(memory_zero(ex, arrived_.ptr.data(), arrived_.ptr.bytes()));
  cols_ = B.diag.cols;
  if (!B.ghosts->empty()) PetscCall(number_columns(ex, B, static_cast<std::uint64_t>(B.ghosts->back()) + 1, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what has arrived.
template <class Ex> PetscErrorCode GhostRows<Ex>::take_values(Ex &ex)
{
  return unpack(ex, arrived_.message(nullptr), static_cast<const double *>(arrived_.buffer.data()), val_.data());
}

template <class Ex>
PetscErrorCode GhostRows<Ex>::create(Ex &ex, MPI_Comm comm, Halo<Ex> &halo, const DistRows &B, const LocalWork &before,
                                     const LocalWork &after)
{
  Array<int, Ex> length;
  Columns columns;
  std::int64_t end = B.first + B.diag.cols; // of the columns of all ranks

  PetscFunctionBegin;
  halo_ = &halo;
  if (!halo.active())
    PetscFunctionReturn(attempt(comm, [&] {
      PetscFunctionBegin;
      PetscCall(before());
      PetscCall(create_empty(ex, B));
      PetscCall(after());
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  const auto measure = [&] {
    PetscFunctionBegin;
    PetscCall(before());
    PetscCall(length.allocate(ex, B.diag.rows));
    PetscCall(row_lengths(ex, {B.diag, B.offd}, length.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(attempt(comm, measure, {&end, 1}));
  PetscCall(halo.exchange(ex, length.data()));
  PetscCall(attempt(comm, [&] { return pack(ex, length.data(), B, columns); }));
  length.release();
  PetscCall(connect(comm, columns));
  PetscCall(exchange(ex, &columns));
  columns.sent.release();
  PetscCall(take_values(ex));
  PetscCall(attempt(comm, [&] {
    PetscFunctionBegin;
    PetscCall(number_columns(ex, B, static_cast<std::uint64_t>(end), columns.arrived.data()));
    columns.arrived.release();
    PetscCall(after());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GhostRows<Ex>::update(Ex &ex, const DistRows &B)
{
  PetscFunctionBegin;
  if (!connected_) PetscFunctionReturn(PETSC_SUCCESS);
  const int before = ghosts_before(*B.ghosts, B.first);
  PetscCall(pack_values(ex, sent_.message(halo_->sent_rows().data()), {B.diag, B.offd, B.first, nullptr, before}, sent_.buffer.data()));
  PetscCall(exchange(ex, nullptr));
  PetscCall(take_values(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, GhostRows)
} // namespace amgkit
