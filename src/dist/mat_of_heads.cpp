#include "dist/mat_of_heads.hpp"

#include "dist/attempt.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace amgkit
{
namespace
{
// This process's rows of the user's matrix, on the host.
class UserRows {
public:
  // Local
  PetscErrorCode open(Mat A)
  {
    PetscInt rows;

    PetscFunctionBegin;
    PetscCall(get_blocks(A, &blocks_[0].mat, &blocks_[1].mat, &ghosts_));
    PetscCall(MatGetOwnershipRange(A, &first_, &last_));
    for (Block &block : blocks_) {
      PetscBool done = PETSC_TRUE;
      if (!block.mat) continue;
      PetscCall(MatGetRowIJ(block.mat, 0, PETSC_FALSE, PETSC_FALSE, &rows, &block.ptr, &block.col, &done)); // stays as long as the pattern
      PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ is not supported by this matrix");
      PetscCall(MatSeqAIJGetArrayRead(block.mat, &block.val));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close()
  {
    PetscFunctionBegin;
    for (Block &block : blocks_) {
      if (block.val) PetscCall(MatSeqAIJRestoreArrayRead(block.mat, &block.val));
      block.val = nullptr;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt rows() const { return last_ - first_; }
  // take(global column, value) for the entries of row i, by ascending columns
  template <class F> void visit(PetscInt i, F take) const
  {
    const auto &[own, others] = blocks_;
    PetscInt k = others.mat ? others.ptr[i] : 0;
    const PetscInt end = others.mat ? others.ptr[i + 1] : 0;
    for (; k < end && ghosts_[others.col[k]] < first_; k++) take(ghosts_[others.col[k]], others.val[k]);
    for (PetscInt d = own.ptr[i]; d < own.ptr[i + 1]; d++) take(first_ + own.col[d], own.val[d]);
    for (; k < end; k++) take(ghosts_[others.col[k]], others.val[k]);
  }

private:
  struct Block {
    Mat mat = nullptr;
    const PetscInt *ptr = nullptr, *col = nullptr;
    const PetscScalar *val = nullptr;
  };
  std::array<Block, 2> blocks_;
  const PetscInt *ghosts_ = nullptr;
  PetscInt first_ = 0, last_ = 0;
};

// f(rows of A), which are given back also after an error
template <class F> PetscErrorCode with_rows(Mat A, F f)
{
  UserRows rows;

  PetscFunctionBegin;
  PetscErrorCode code = rows.open(A);
  if (!code) f(rows);
  PetscCall(rows.close());
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// A vector's worth is left for each of b and x, and for others.
PetscErrorCode why_not_on_heads(const NodeGroups &groups, Mat A, std::string *why_not)
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
  std::array<double, 2> lacks = {can_share(bytes) ? 0 : bytes, std::max(sums[0], sums[1])};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, lacks.data(), 2, MPI_DOUBLE, MPI_MAX, groups.all()));
  *why_not = "";
  if (lacks[0] > 0) *why_not = "/dev/shm has no room for " + std::to_string(std::llround(lacks[0] / 1e6)) + " MB on a node";
  if (lacks[1] >= most_entries) *why_not = "one process would have more than 2^31 - 66 entries";
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
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, groups_.all()));
  *same = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatOfHeads::count(std::array<std::int64_t, 3> *mine) const
{
  return with_rows(user_, [&](const UserRows &rows) {
    *mine = {rows.rows(), 0, 0};
    for (PetscInt i = 0; i < rows.rows(); i++) rows.visit(i, [&](PetscInt column, double) { ++(*mine)[is_own(column) ? 1 : 2]; });
  });
}

// Collective. mine: rows, entries in columns of the group, entries in others.
PetscErrorCode MatOfHeads::agree_on_places(const std::array<std::int64_t, 3> &mine)
{
  std::array<std::int64_t, 3> before{}, all = mine;
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(groups_.group(), &rank));
  PetscCallMPI(MPI_Exscan(mine.data(), before.data(), 3, MPI_INT64_T, MPI_SUM, groups_.group()));
  if (rank == 0) before = {};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 3, MPI_INT64_T, MPI_SUM, groups_.group()));
  std::int64_t most = std::max({all[0], all[1], all[2]});
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, groups_.all()));
  PetscCheck(most < std::numeric_limits<int>::max() - 64, groups_.all(), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PRId64
             " rows or entries would be on one process, at most 2^31 - 66 are supported: consolidate to more processes of a node, "
             "or use more nodes",
             most);
  own_.before = before[1];
  others_.before = before[2];
  own_.entries = all[1];
  others_.entries = all[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
PetscErrorCode MatOfHeads::allocate()
{
  const auto rounded = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
  const auto rows = static_cast<std::size_t>(rows_);

  PetscFunctionBegin;
  bytes_ = 0;
  std::array<std::size_t, 6> at{};
  auto place = at.begin();
  for (const Csr *csr : {&own_, &others_}) {
    const auto entries = static_cast<std::size_t>(csr->entries);
    for (const std::size_t bytes : {(rows + 1) * sizeof(PetscInt), entries * sizeof(PetscInt), entries * sizeof(PetscScalar)}) {
      *place++ = bytes_;
      bytes_ += rounded(bytes);
    }
  }
  PetscCall(attempt(groups_.all(), [&] { return memory_.allocate(groups_.group(), bytes_, groups_.on_node()); }));
  place = at.begin();
  for (Csr *csr : {&own_, &others_}) {
    csr->ptr = memory_.at<PetscInt>(*place++);
    csr->col = memory_.at<PetscInt>(*place++);
    csr->val = memory_.at<PetscScalar>(*place++);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: every process writes its own rows. Who reads them may do so afterwards.
PetscErrorCode MatOfHeads::write(bool pattern)
{
  const auto write_rows = [&](const UserRows &rows) {
    std::array<std::int64_t, 2> next = {own_.before, others_.before};
    if (pattern && before_ == 0 && rows.rows() > 0) own_.ptr[0] = others_.ptr[0] = 0;
    for (PetscInt i = 0; i < rows.rows(); i++) {
      rows.visit(i, [&](PetscInt column, double value) {
        const bool own = is_own(column);
        const Csr &csr = own ? own_ : others_;
        const std::int64_t k = next[own ? 0 : 1]++;
        if (pattern) csr.col[k] = own ? column - first_ : column;
        csr.val[k] = value;
      });
      if (!pattern) continue;
      own_.ptr[before_ + i + 1] = static_cast<PetscInt>(next[0]);
      others_.ptr[before_ + i + 1] = static_cast<PetscInt>(next[1]);
    }
  };

  PetscFunctionBegin;
  PetscCall(attempt(groups_.all(), [&] { return with_rows(user_, write_rows); }));
  PetscCall(memory_.synchronise());
  PetscCallMPI(MPI_Barrier(groups_.group()));
  PetscCall(memory_.synchronise());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads. PETSc looks for equal rows, which makes its own products on hosts faster, and takes longer than all the rest.
PetscErrorCode MatOfHeads::make_matrix()
{
  const auto make = [&] {
    PetscInt all_rows;

    PetscFunctionBegin;
    PetscCall(MatGetSize(user_, &all_rows, nullptr));
    if (groups_.count() == 1)
      PetscCall(MatCreateSeqAIJWithArrays(groups_.heads(), rows_, rows_, own_.ptr, own_.col, own_.val, &matrix_));
    else
      PetscCall(MatCreateMPIAIJWithSplitArrays(groups_.heads(), rows_, rows_, all_rows, all_rows, own_.ptr, own_.col, own_.val, others_.ptr,
                                               others_.col, others_.val, &matrix_));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscOptions options;
  PetscInt bs;

  PetscFunctionBegin;
  if (rows_ == 0) own_.ptr[0] = others_.ptr[0] = 0;
  PetscCall(PetscOptionsCreate(&options));
  if (groups_.devices() > 0) PetscCall(PetscOptionsSetValue(options, "-mat_no_inode", "true"));
  PetscCall(PetscOptionsPush(options));
  const PetscErrorCode code = make();
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(code);
  PetscCall(MatGetBlockSize(user_, &bs));
  PetscCall(MatSetBlockSize(matrix_, bs));
  PetscCall(MatPropagateSymmetryOptions(user_, matrix_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatOfHeads::create(Mat A)
{
  std::array<std::int64_t, 3> mine{};
  const PetscInt *range;
  int size;

  PetscFunctionBegin;
  PetscCall(check_type_and_size(A));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(A)));
  user_ = A;
  PetscCall(identify(A, identity_));
  PetscCallMPI(MPI_Comm_size(groups_.all(), &size));
  PetscCall(MatGetOwnershipRanges(A, &range));
  range_.assign(range, range + size + 1);
  PetscCall(MatGetOwnershipRange(A, &first_, nullptr));
  PetscCall(MatGetLocalSize(A, &my_rows_, nullptr));
  const PetscInt mine_from = first_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first_, 1, MPIU_INT, MPI_MIN, groups_.group()));
  PetscCallMPI(MPI_Allreduce(&my_rows_, &rows_, 1, MPIU_INT, MPI_SUM, groups_.group()));
  before_ = mine_from - first_;
  PetscCall(attempt(groups_.all(), [&] { return count(&mine); }));
  PetscCall(agree_on_places(mine));
  PetscCall(allocate());
  PetscCall(write(true));
  PetscCall(groups_.on_heads([&] { return make_matrix(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Values that have come twice may come again.
PetscErrorCode MatOfHeads::take_values()
{
  Mat own, others;
  const PetscInt *ghosts;

  PetscFunctionBegin;
  if (groups_.is_head() && groups_.devices() > 0) memory_.lock_pages();
  PetscCall(write(false));
  if (!matrix_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_blocks(matrix_, &own, &others, &ghosts));
  for (Mat block : {own, others}) { // what PETSc knows of old values is gone
    PetscScalar *values;
    if (!block) continue;
    PetscCall(MatSeqAIJGetArray(block, &values));
    PetscCall(MatSeqAIJRestoreArray(block, &values));
  }
  PetscCall(MatPropagateSymmetryOptions(user_, matrix_));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
