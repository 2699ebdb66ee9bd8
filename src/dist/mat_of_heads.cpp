#include "dist/mat_of_heads.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace amgkit
{
// On the host a vector's worth is left for each of b and x, and for others.
PetscErrorCode why_not_on_heads(const NodeGroups &groups, Mat A, SpaceKind space, std::string *why_not)
{
  constexpr double vectors = 4, most_entries = std::numeric_limits<int>::max() - 64;
  MatInfo info;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  std::array<double, 2> sums = {info.nz_used, static_cast<double>(rows)};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, groups.group()));
  const double bytes = groups.on_node() * (sums[0] * (sizeof(PetscInt) + sizeof(PetscScalar)) +
                                           sums[1] * (2 * sizeof(PetscInt) + vectors * sizeof(PetscScalar)));
  std::array<double, 2> lacks = {space != SpaceKind::host || can_share(bytes) ? 0 : bytes, std::max(sums[0], sums[1])};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, lacks.data(), 2, MPI_DOUBLE, MPI_MAX, groups.all()));
  *why_not = "";
  if (lacks[0] > 0) *why_not = "/dev/shm has no room for " + std::to_string(std::llround(lacks[0] / 1e6)) + " MB on a node";
  if (lacks[1] >= most_entries) *why_not = "one process would have more than 2^31 - 66 entries";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode agree_on_places(const LayoutOfHeads &layout, PlacesOfBlocks *places)
{
  const NodeGroups &groups = layout.groups;
  const std::array<std::int64_t, 2> mine = {places->own.mine, places->others.mine};
  std::array<std::int64_t, 2> before{}, all = mine;
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(groups.group(), &rank));
  PetscCallMPI(MPI_Exscan(mine.data(), before.data(), 2, MPI_INT64_T, MPI_SUM, groups.group()));
  if (rank == 0) before = {};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT64_T, MPI_SUM, groups.group()));
  std::int64_t most = std::max({all[0], all[1], static_cast<std::int64_t>(layout.rows)});
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, groups.all()));
  PetscCheck(most < std::numeric_limits<int>::max() - 64, groups.all(), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PRId64
             " rows or entries would be on one process, at most 2^31 - 66 are supported: consolidate to more processes of a node, "
             "or use more nodes",
             most);
  places->own = {before[0], mine[0], all[0]};
  places->others = {before[1], mine[1], all[1]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

MatOfHeads::~MatOfHeads()
{
  static_cast<void>(MatDestroy(&matrix_));
  static_cast<void>(MatDestroy(&user_));
}

PetscErrorCode MatOfHeads::matches(Mat A, bool *same) const
{
  MatIdentities identity;

  PetscFunctionBegin;
  PetscCall(identify(A, identity));
  int all = A == user_ && identity == identity_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, layout_.groups.all()));
  *same = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatOfHeads::create(Mat A, bool in_space)
{
  const NodeGroups &groups = layout_.groups;
  const PetscInt *range;
  PetscInt first, bs;
  int size;

  PetscFunctionBegin;
  const LogPhase logged(Phase::share);
  PetscCall(check_type_and_size(A));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(A)));
  user_ = A;
  PetscCall(identify(A, identity_));
  PetscCallMPI(MPI_Comm_size(groups.all(), &size));
  PetscCall(MatGetOwnershipRanges(A, &range));
  range_.assign(range, range + size + 1);
  PetscCall(MatGetOwnershipRange(A, &first, nullptr));
  PetscCall(MatGetLocalSize(A, &layout_.my_rows, nullptr));
  PetscCallMPI(MPI_Allreduce(&first, &layout_.first, 1, MPIU_INT, MPI_MIN, groups.group()));
  PetscCallMPI(MPI_Allreduce(&layout_.my_rows, &layout_.rows, 1, MPIU_INT, MPI_SUM, groups.group()));
  layout_.before = first - layout_.first;
  rows_ = space_ == SpaceKind::host ? make_window_rows(layout_) : make_staged_rows(layout_, space_);
  PetscCall(rows_->create(A, in_space, &matrix_));
  if (!matrix_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetBlockSize(user_, &bs));
  PetscCall(MatSetBlockSize(matrix_, bs));
  PetscCall(MatPropagateSymmetryOptions(user_, matrix_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatOfHeads::take_values(bool in_space)
{
  PetscFunctionBegin;
  PetscCall(rows_->take_values(user_, in_space, matrix_));
  if (matrix_) PetscCall(MatPropagateSymmetryOptions(user_, matrix_));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
