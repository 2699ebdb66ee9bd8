#include "dist/near_null.hpp"

#include "dist/attempt.hpp"
#include "dist/vec_view.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/multivector.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace amgkit
{
PetscErrorCode near_null_space_of_field(Mat A, DM dm, MatNullSpace *out)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  PetscInt fields = 0, count = 0, n;
  PetscObject field;
  PetscBool constant;
  const Vec *vectors = nullptr;
  int fits = 1;

  PetscFunctionBegin;
  *out = nullptr;
  PetscCall(MatGetLocalSize(A, &n, nullptr));
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetNumFields(dm, &fields));
  if (fields == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetField(dm, 0, nullptr, &field));
  for (const char *name : {"nearnullspace", "nullspace"}) {
    if (field && !*out) PetscCall(PetscObjectQuery(field, name, reinterpret_cast<PetscObject *>(out)));
  }
  if (!*out) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(*out, &constant, &count, &vectors));
  for (PetscInt k = 0; k < count; k++) {
    PetscInt entries;
    PetscCall(VecGetLocalSize(vectors[k], &entries));
    if (entries != n) fits = 0; // the matrix has other fields, too
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm));
  if (!fits) *out = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
PetscErrorCode check_length(Vec x, PetscInt k, PetscInt rows)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCheck(n == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Vector %" PetscInt_FMT " of the near-null space has %" PetscInt_FMT " entries here, the matrix %" PetscInt_FMT " rows", k, n,
             rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What is known of a near-null space before it is made.
struct Origin {
  MPI_Comm comm = MPI_COMM_NULL;
  PetscInt rows = 0, first_row = 0, bs = 1; // rows, first_row: this rank's
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec *vectors = nullptr;
  int dim = 0;                 // of rigid body modes; 0: none
  std::vector<double> centred; // coordinates less their mean

  PetscErrorCode ask(Mat A, const Coordinates &given)
  {
    MatNullSpace space;

    PetscFunctionBegin;
    PetscCall(PetscObjectGetComm(reinterpret_cast<PetscObject>(A), &comm));
    PetscCall(MatGetLocalSize(A, &rows, nullptr));
    PetscCall(MatGetOwnershipRange(A, &first_row, nullptr));
    PetscCall(MatGetBlockSize(A, &bs));
    PetscCall(MatGetNearNullSpace(A, &space));
    if (!space) space = given.of_field;
    if (!space) PetscCall(near_null_space_of_field(A, given.dm, &space));
    if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool attached() const { return count > 0 || constant; }
  bool only_constant() const { return attached() ? count == 0 : dim == 0 && bs == 1; }
  PetscInt size() const { return attached() ? count + (constant ? 1 : 0) : dim == 2 ? 3 : dim == 3 ? 6 : bs; }

  // Local
  PetscErrorCode check(const Coordinates &x) const
  {
    const PetscInt nodes = rows / bs;
    const auto given = static_cast<PetscInt>(x.of_nodes.size());

    PetscFunctionBegin;
    PetscCheck(given == nodes * x.dim, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "There are coordinates of %" PetscInt_FMT " nodes here, %" PetscInt_FMT
               " numbers in %d dimensions; the matrix has %" PetscInt_FMT " nodes of block size %" PetscInt_FMT " here",
               given / x.dim, given, x.dim, nodes, bs);
    const auto bad = std::find_if(x.of_nodes.begin(), x.of_nodes.end(), [](double c) { return !(c * c <= largest_square); });
    PetscCheck(bad == x.of_nodes.end(), PETSC_COMM_SELF, PETSC_ERR_FP,
               "The coordinates of node %" PetscInt_FMT " are NaN, infinite or above 1e150",
               first_row / bs + static_cast<PetscInt>(bad - x.of_nodes.begin()) / x.dim);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective: rigid body modes, if it can be.
  PetscErrorCode locate(const Coordinates &x)
  {
    const PetscInt nodes = rows / bs;
    std::array<int, 2> dims = {x.dim, -x.dim};
    std::array<double, 4> sums{}; // the last: nodes

    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dims.data(), 2, MPI_INT, MPI_MAX, comm));
    PetscCheck(dims[0] == -dims[1], comm, PETSC_ERR_ARG_WRONG, "Coordinates have %d dimensions on some ranks, %d on others", -dims[1],
               dims[0]);
    if (x.dim == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(attempt(comm, [&] {
      PetscFunctionBegin;
      PetscCall(check(x));
      centred = x.of_nodes;
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (x.dim != bs || x.dim < 2 || x.dim > 3) PetscFunctionReturn(PETSC_SUCCESS);
    dim = x.dim;
    for (auto node = centred.cbegin(); node != centred.cend(); node += dim) { // k % dim for each number k would take three times as long
      for (int d = 0; d < dim; d++) sums[d] += node[d];
    }
    sums[3] = static_cast<double>(nodes);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_DOUBLE, MPI_SUM, comm));
    for (int d = 0; d < dim; d++) sums[d] /= sums[3];
    for (auto node = centred.begin(); node != centred.end(); node += dim) {
      for (int d = 0; d < dim; d++) node[d] -= sums[d];
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Local
template <class Ex> PetscErrorCode take_vectors(Ex &ex, const Origin &from, NearNull<Ex> &space)
{
  int column = 0;

  PetscFunctionBegin;
  if (from.constant) PetscCall(set_vector(ex, from.rows, static_cast<const double *>(nullptr), space.m, column++, space.B.data()));
  for (PetscInt k = 0; k < from.count; k++) {
    VecReader<Ex> reader;
    const double *entries;
    PetscCall(check_length(from.vectors[k], k, from.rows));
    PetscCall(reader.access(ex, from.vectors[k], &entries));
    PetscCall(set_vector(ex, from.rows, entries, space.m, column++, space.B.data()));
    PetscCall(reader.release(from.vectors[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode make_space(Ex &ex, const Origin &from, NearNull<Ex> &space)
{
  std::int64_t bad = 0;

  PetscFunctionBegin;
  space.m = static_cast<int>(from.size());
  space.constant = from.only_constant();
  PetscCall(space.B.allocate(ex, std::int64_t{from.rows} * space.m));
  if (from.attached()) {
    PetscCall(take_vectors(ex, from, space));
  } else if (from.dim > 0) {
    Array<double, Ex> x;
    PetscCall(upload(ex, from.centred, x));
    PetscCall(rigid_body_modes(ex, from.rows / from.dim, from.dim, x.data(), space.B.data()));
  } else {
    PetscCall(constants_of_components(ex, from.rows, space.m, space.B.data()));
  }
  PetscCall(first_not_finite(ex, space.B.size(), space.B.data(), &bad));
  PetscCheck(bad == space.B.size(), PETSC_COMM_SELF, PETSC_ERR_FP,
             "The near-null space has a NaN, an infinite entry or one above 1e150 in row %" PetscInt_FMT " of vector %d",
             from.first_row + static_cast<PetscInt>(bad / space.m), static_cast<int>(bad % space.m));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode smooth_vector_of(Ex &ex, Mat A, Array<double, Ex> &w, bool *ones)
{
  MatNullSpace space;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0, bs;
  const Vec *vectors = nullptr;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatGetNearNullSpace(A, &space));
  if (!space) PetscCall(MatGetNullSpace(A, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  const PetscInt read = std::min(count, bs - (constant ? 1 : 0));
  *ones = read == 0;
  PetscCall(fill(ex, w.size(), count == 0 || constant ? 1 : 0, w.data()));
  for (PetscInt k = 0; k < read; k++) {
    VecReader<Ex> reader;
    const double *entries;
    PetscCall(check_length(vectors[k], k, static_cast<PetscInt>(w.size())));
    PetscCall(reader.access(ex, vectors[k], &entries));
    PetscCall(add(ex, w.size(), entries, w.data()));
    PetscCall(reader.release(vectors[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode near_null_space_of(Ex &ex, Mat A, const Coordinates &coordinates, NearNull<Ex> &space)
{
  Origin origin;

  PetscFunctionBegin;
  PetscCall(origin.ask(A, coordinates));
  if (!origin.attached()) {
    PetscCall(origin.locate(coordinates));
  }
  PetscCheck(origin.size() <= most_near_null_vectors, origin.comm, PETSC_ERR_SUP,
             "A near-null space of %" PetscInt_FMT " vectors; at most %d are possible: attach fewer with MatSetNearNullSpace()",
             origin.size(), most_near_null_vectors);
  PetscCall(attempt(origin.comm, [&] { return make_space(ex, origin, space); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode exchange_vectors(Ex &ex, DistMatrix<Ex> &A, int m, int count, const double *B, double *x, double *ghost_B)
{
  const auto ghosts = static_cast<std::int64_t>(A.ghosts.size());

  PetscFunctionBegin;
  for (int k = 0; k < count && A.halo.active(); k++) {
    PetscCall(get_vector(ex, A.rows, m, k, B, x));
    PetscCall(A.halo.exchange(ex, static_cast<const double *>(x)));
    PetscCall(set_vector(ex, ghosts, A.halo.template ghost<double>(), m, k, ghost_B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode count_constants(Ex &ex, MPI_Comm comm, std::int64_t rows, int bs, const NearNull<Ex> &space, int *count, double *size)
{
  const auto vectors = static_cast<std::size_t>(bs);
  // The largest of the constants and of their negatives on any rank, and 1 if some rank's vectors are none
  std::vector<double> ends(2 * vectors + 1, -HUGE_VAL);

  PetscFunctionBegin;
  *count = 0;
  *size = 1;
  if (space.m < bs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(comm, [&] {
    std::vector<double> first; // what the vectors are in the first node
    bool same = true;
    PetscFunctionBegin;
    if (rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(download(ex, space.B.data(), std::int64_t{bs} * space.m, first));
    PetscCall(repeats_first_node(ex, rows, bs, space.m, space.B.data(), &same));
    for (std::size_t p = 0; p < vectors; p++) {
      for (std::size_t k = 0; k < vectors; k++) same = same && (first[p * static_cast<std::size_t>(space.m) + k] != 0) == (p == k);
      ends[p] = first[p * static_cast<std::size_t>(space.m) + p];
      ends[vectors + p] = -ends[p];
    }
    ends.back() = same ? 0 : 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_DOUBLE, MPI_MAX, comm));
  bool all_same = ends.back() == 0; // no rank has rows: -infinity
  for (std::size_t k = 0; k < vectors; k++) {
    const double tolerance = same_constant * std::abs(ends[0]);
    all_same = all_same && ends[k] + ends[vectors + k] <= tolerance && std::abs(std::abs(ends[k]) - std::abs(ends[0])) <= tolerance;
  }
  if (all_same) *count = bs;
  if (all_same) *size = std::abs(ends[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(smooth_vector_of)
AMGKIT_INSTANTIATE(exchange_vectors)
AMGKIT_INSTANTIATE(count_constants)
AMGKIT_INSTANTIATE(near_null_space_of)
} // namespace amgkit
