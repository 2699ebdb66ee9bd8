#include "dist/redistribution.hpp"

#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/multivector.hpp"
#include "sparse/rows/rearrange.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
// A group's matrix on its way: what a member sends and what a head receives.
template <class Ex> struct Redistribution<Ex>::Message {
  int most_entries = 0; // of a member of any group
  Array<int, Ex> length, col, lengths, cols;
  Array<double, Ex> val, vals;

  PetscErrorCode allocate(Ex &ex, std::int64_t most_rows, std::int64_t members)
  {
    PetscFunctionBegin;
    PetscCall(length.allocate(ex, most_rows, Memory::communicated));
    PetscCall(allocate_each(ex, most_entries, Memory::communicated, col, val));
    PetscCall(lengths.allocate(ex, most_rows * members, Memory::communicated));
    PetscCall(allocate_each(ex, most_entries * members, Memory::communicated, cols, vals));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

namespace
{
void free_comm(MPI_Comm &comm)
{
  if (comm != MPI_COMM_NULL) static_cast<void>(MPI_Comm_free(&comm));
}
void free_type(MPI_Datatype &type)
{
  if (type != MPI_DATATYPE_NULL) static_cast<void>(MPI_Type_free(&type));
}

// So that groups differ by at most one member
int group_of(int rank, int heads, int size) { return static_cast<int>(std::int64_t{rank} * heads / size); }

// The largest n of all ranks
PetscErrorCode largest(MPI_Comm comm, std::int64_t n, int *most)
{
  std::int64_t all = n;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_MAX, comm));
  PetscCheck(all <= INT32_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "More than 2^31 - 1 rows or entries of one process to move");
  *most = static_cast<int>(all);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> Redistribution<Ex>::~Redistribution()
{
  static_cast<void>(PetscSFDestroy(&sf_));
  free_comm(group_);
  free_comm(heads_);
  free_type(piece_of_doubles_);
  free_type(piece_of_floats_);
}

template <class Ex> PetscErrorCode Redistribution<Ex>::create_groups(const DistMatrix<Ex> &A, int heads)
{
  int rank, size, member, members;
  PetscSFNode remote = {0, 0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  PetscCallMPI(MPI_Comm_size(A.comm, &size));
  PetscCallMPI(MPI_Comm_split(A.comm, group_of(rank, heads, size), rank, &group_));
  PetscCallMPI(MPI_Comm_rank(group_, &member));
  PetscCallMPI(MPI_Comm_size(group_, &members));
  PetscCallMPI(MPI_Comm_split(A.comm, member == 0 ? 0 : MPI_UNDEFINED, rank, &heads_));
  if (member > 0) members = 0;
  group_rows_.assign(static_cast<std::size_t>(members), 0);
  PetscCallMPI(MPI_Gather(&A.rows, 1, MPI_INT, group_rows_.data(), 1, MPI_INT, 0, group_));
  rows_ = std::accumulate(group_rows_.begin(), group_rows_.end(), 0);
  PetscCall(largest(A.comm, std::max(A.rows, 1), &most_rows_));
  PetscCheck(std::int64_t{(size + heads - 1) / heads} * most_rows_ <= INT32_MAX, A.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 rows to move to one process: lower process_eq_limit");
  PetscCallMPI(MPI_Type_contiguous(most_rows_, MPI_DOUBLE, &piece_of_doubles_));
  PetscCallMPI(MPI_Type_commit(&piece_of_doubles_));
  PetscCallMPI(MPI_Type_contiguous(most_rows_, MPI_FLOAT, &piece_of_floats_));
  PetscCallMPI(MPI_Type_commit(&piece_of_floats_));
  remote.index = member;
  PetscCall(PetscSFCreate(group_, &sf_));
  PetscCall(PetscSFSetGraph(sf_, members, 1, nullptr, PETSC_COPY_VALUES, &remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode Redistribution<Ex>::create_maps(Ex &ex)
{
  const auto members = static_cast<std::int64_t>(group_rows_.size());
  std::vector<int> first_row = {0};

  PetscFunctionBegin;
  for (const int rows : group_rows_) first_row.push_back(first_row.back() + rows);
  PetscCall(upload(ex, first_row, first_row_));
  PetscCall(slot_.allocate(ex, rows_));
  PetscCall(row_.allocate(ex, members * most_rows_));
  PetscCall(places_in_pieces(ex, static_cast<int>(members), most_rows_, first_row_.data(), slot_, row_));
  PetscCall(part_.allocate(ex, most_rows_, Memory::communicated));
  PetscCall(pieces_.allocate(ex, row_.size(), Memory::communicated));
  PetscCall(exchange_.reserve(pieces_.bytes(), part_.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Redistribution<Ex>::create(Ex &ex, const DistMatrix<Ex> &A, int heads)
{
  PetscFunctionBegin;
  comm_ = A.comm;
  number_of_heads_ = heads;
  PetscCall(create_groups(A, heads));
  PetscCall(attempt(A.comm, [&] { return create_maps(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Redistribution<Ex>::send(Ex &ex, Array<T, Ex> &from, Array<T, Ex> &to)
{
  MPI_Datatype piece;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous(static_cast<int>(from.size()), mpi_type<T>(), &piece));
  PetscCallMPI(MPI_Type_commit(&piece));
  PetscCall(exchange_.begin(ex, sf_, piece, {to.data(), to.bytes()}, {from.data(), from.bytes()}, true));
  PetscCall(exchange_.end());
  PetscCallMPI(MPI_Type_free(&piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode Redistribution<Ex>::pack(Ex &ex, const DistMatrix<Ex> &A, Message &message) const
{
  const std::vector<int> ghosts(A.ghosts.begin(), A.ghosts.end());
  Array<int, Ex> ghost;
  Csr<double, Ex> M;
  BlockRows rows;

  PetscFunctionBegin;
  PetscCall(message.allocate(ex, most_rows_, static_cast<std::int64_t>(group_rows_.size())));
  PetscCall(upload(ex, ghosts, ghost));
  rows = rows_of(A).blocks();
  rows.numbers = {static_cast<int>(A.global_rows()), static_cast<int>(A.range.first()), ghost.data()};
  PetscCall(stack_rows(ex, rows, M));
  PetscCall(row_lengths(ex, M.view(), message.length.data()));
  PetscCall(memory_copy(ex, message.col.data(), M.col.data(), M.col.bytes()));
  PetscCall(memory_copy(ex, message.val.data(), M.val.data(), M.val.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local, on a head
template <class Ex> PetscErrorCode Redistribution<Ex>::unpack(Ex &ex, const Message &message, DistMatrix<Ex> &to) const
{
  const Pieces pieces = {most_rows_, message.most_entries, message.lengths.data(), message.cols.data(), message.vals.data()};
  Csr<double, Ex> M;
  std::vector<std::uint64_t> ghosts;
  Array<int, Ex> begin;
  Array<std::uint64_t, Ex> key, base;

  PetscFunctionBegin;
  PetscCall(join_pieces(ex, pieces, rows_, slot_.data(), first_row_.data(), M));
  const auto first = static_cast<int>(to.range.first());
  PetscCall(split_rows(ex, {rows_, rows_, {M.view(), first}}, static_cast<int>(to.global_rows()) - rows_, to.own_diag, to.own_offd));
  PetscCall(key.allocate(ex, to.own_offd.col.size()));
  PetscCall(upload(ex, {0}, begin));
  PetscCall(upload(ex, {0}, base));
  PetscCall(keys_of_pieces(ex, 1, begin.data(), base.data(), to.own_offd.col.data(), key));
  PetscCall(number_distinct(ex, key, static_cast<std::uint64_t>(to.global_rows()), to.own_offd.col.data(), ghosts));
  to.own_offd.cols = static_cast<int>(ghosts.size());
  to.ghosts.clear();
  for (const std::uint64_t g : ghosts) to.ghosts.push_back(static_cast<PetscInt>(g) + (static_cast<PetscInt>(g) < first ? 0 : rows_));
  to.diag = to.own_diag.view();
  to.offd = to.own_offd.view();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Redistribution<Ex>::move_matrix(Ex &ex, const DistMatrix<Ex> &A, DistMatrix<Ex> *to)
{
  Message message;
  const bool anew = receives() && to->comm == MPI_COMM_NULL;

  PetscFunctionBegin;
  PetscCall(largest(A.comm, std::max<std::int64_t>(A.diag.nnz + A.offd.nnz, 1), &message.most_entries));
  if (anew) PetscCall(to->set_rows(heads_, rows_));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(pack(ex, A, message));
    PetscCall(exchange_.reserve(std::max({message.lengths.bytes(), message.cols.bytes(), message.vals.bytes()}),
                                std::max({message.length.bytes(), message.col.bytes(), message.val.bytes()})));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(send(ex, message.length, message.lengths));
  PetscCall(send(ex, message.col, message.cols));
  PetscCall(send(ex, message.val, message.vals));
  PetscCall(attempt(A.comm, [&] { return receives() ? unpack(ex, message, *to) : PETSC_SUCCESS; }));
  if (anew) PetscCall(to->halo.create(heads_, to->range, to->ghosts));
  PetscCall(attempt(A.comm, [&] { return anew ? to->allocate(ex) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A member's piece is for the head alone.
template <class Ex> PetscErrorCode Redistribution<Ex>::meet_peers(Ex &ex)
{
  int rank, size;

  PetscFunctionBegin;
  if (peers_.ready()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  const auto is_of_group = [&](int r) { return group_of(r, number_of_heads_, size) == group_of(rank, number_of_heads_, size); };
  int head = rank;
  while (head > 0 && is_of_group(head - 1)) head--;
  std::vector<int> given_at = {0}, got_at = {0};
  for (int r = 0; r < size; r++) {
    given_at.push_back(given_at.back() + (r == head ? most_rows_ : 0));
    got_at.push_back(got_at.back() + (receives() && is_of_group(r) ? most_rows_ : 0));
  }
  PetscCall(peers_.create(ex, comm_, given_at, got_at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode Redistribution<Ex>::exchange(Ex &ex, bool to_head)
{
  PetscFunctionBegin;
  if (peers_.ready()) {
    PetscCall(peers_.send(ex, sizeof(V), nullptr, to_head ? part_.data() : pieces_.data(), !to_head));
    PetscCall(peers_.receive(ex, sizeof(V), to_head ? pieces_.data() : part_.data(), !to_head));
  } else {
    PetscCall(exchange_.begin(ex, sf_, piece<V>(), pieces<V>(), mine<V>(), to_head));
    PetscCall(exchange_.end());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode Redistribution<Ex>::collect(Ex &ex, V *all)
{
  PetscFunctionBegin;
  PetscCall(exchange<V>(ex, true));
  if (receives()) PetscCall(gather(ex, rows_, slot_.data(), static_cast<const V *>(pieces<V>().data), all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Redistribution<Ex>::move_vector(Ex &ex, Array<T, Ex> &vector)
{
  Array<T, Ex> moved;

  PetscFunctionBegin;
  PetscCall(attempt(comm_, [&] { return receives() ? moved.allocate(ex, rows_) : PETSC_SUCCESS; }));
  PetscCall(memory_copy(ex, part<T>(), vector.data(), vector.bytes()));
  PetscCall(collect(ex, moved.data()));
  vector = std::move(moved);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Redistribution<Ex>::move_vectors(Ex &ex, int m, Array<double, Ex> &B)
{
  Array<double, Ex> x, moved;

  PetscFunctionBegin;
  PetscCall(attempt(comm_, [&] {
    PetscFunctionBegin;
    if (!receives()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(x.allocate(ex, rows_));
    PetscCall(moved.allocate(ex, std::int64_t{rows_} * m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (int k = 0; k < m; k++) {
    PetscCall(get_vector(ex, B.size() / m, m, k, B.data(), part<double>()));
    PetscCall(collect(ex, x.data()));
    if (receives()) PetscCall(set_vector(ex, rows_, x.data(), m, k, moved.data()));
  }
  B = std::move(moved);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode Redistribution<Ex>::spread(Ex &ex, const V *all)
{
  PetscFunctionBegin;
  if (receives() && rows_ > 0) PetscCall(gather(ex, row_.size(), row_.data(), all, static_cast<V *>(pieces<V>().data)));
  PetscCall(exchange<V>(ex, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class Redistribution<Ex>;                                                                                                       \
  template PetscErrorCode Redistribution<Ex>::collect(Ex &, float *);                                                                      \
  template PetscErrorCode Redistribution<Ex>::collect(Ex &, int *);                                                                        \
  template PetscErrorCode Redistribution<Ex>::collect(Ex &, double *);                                                                     \
  template PetscErrorCode Redistribution<Ex>::move_vector(Ex &, Array<int, Ex> &);                                                         \
  template PetscErrorCode Redistribution<Ex>::move_vector(Ex &, Array<double, Ex> &);                                                      \
  template PetscErrorCode Redistribution<Ex>::spread(Ex &, const float *);                                                                 \
  template PetscErrorCode Redistribution<Ex>::spread(Ex &, const double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
