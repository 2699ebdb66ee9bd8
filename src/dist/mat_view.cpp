#include "dist/mat_view.hpp"

#include "base/log.hpp"
#include "dist/attached.hpp"
#include "dist/attempt.hpp"
#include "dist/object_state.hpp"
#include "dist/space_matrix.hpp"
#include "dist/user_rows.hpp"
#include "sparse/rows/transpose.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace amgkit
{
namespace
{
PetscErrorCode is_aij(Mat A, PetscBool *sequential, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATSEQAIJ, sequential));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(A), MATMPIAIJ, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode local_entries(Mat block, double *entries)
{
  MatInfo info;
  PetscFunctionBegin;
  *entries = 0;
  if (!block) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *entries = info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sizes of a block
PetscErrorCode set_sizes(Mat block, CsrView<double> &view)
{
  PetscInt rows, cols;
  double entries;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(block, &rows, &cols));
  PetscCall(local_entries(block, &entries));
  view.rows = static_cast<int>(rows);
  view.cols = static_cast<int>(cols);
  view.nnz = static_cast<std::int64_t>(entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode copy_indices(Ex &ex, std::int64_t n, const PetscInt *from, int *to)
{
  if constexpr (sizeof(PetscInt) == sizeof(int))
    return copy_in(ex, to, from, static_cast<std::size_t>(n) * sizeof(int));
  else
    return copy_in_narrow(ex, to, reinterpret_cast<const std::int64_t *>(from), n);
}
} // namespace

PetscErrorCode get_blocks(Mat A, Mat *diag, Mat *offd, const PetscInt **ghosts)
{
  PetscBool sequential, parallel;
  PetscFunctionBegin;
  *diag = A;
  *offd = nullptr;
  *ghosts = nullptr;
  PetscCall(is_aij(A, &sequential, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, diag, offd, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode identify(Mat A, MatIdentities &identity)
{
  Mat diag, offd;
  const PetscInt *ghosts;

  PetscFunctionBegin;
  identity = {};
  PetscCall(get_blocks(A, &diag, &offd, &ghosts));
  for (std::size_t k = 0; Mat mat : {A, diag, offd}) {
    if (mat) PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(mat), &identity[k].id));
    if (mat) PetscCall(MatGetNonzeroState(mat, &identity[k].pattern));
    k++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_type_and_size(Mat A)
{
  PetscBool assembled, sequential, parallel;
  PetscInt M, N, m, n;
  Mat diag, offd;
  const PetscInt *ghosts;
  MatType type;
  std::array<double, 2> entries{};
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));

  PetscFunctionBegin;
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N, comm, PETSC_ERR_ARG_SIZ, "The matrix is not square: %" PetscInt_FMT " rows, %" PetscInt_FMT " columns", M, N);
  if (space_matrix_of(A)) PetscFunctionReturn(PETSC_SUCCESS); // ours, of rows that have been checked
  PetscCall(MatGetType(A, &type));
  PetscCall(is_aij(A, &sequential, &parallel));
  PetscCheck(sequential || parallel, comm, PETSC_ERR_SUP,
             "Matrix type %s: this preconditioner takes MATAIJ, MATAIJCUSPARSE and types derived from them; convert with MatConvert() or "
             "-mat_type aij",
             type);
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(get_blocks(A, &diag, &offd, &ghosts));
  PetscCall(local_entries(diag, &entries[0]));
  PetscCall(local_entries(offd, &entries[1]));
  std::array<double, 2> worst = {m == n ? 0.0 : 1.0, std::max({entries[0], entries[1], static_cast<double>(m)})};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst.data(), 2, MPI_DOUBLE, MPI_MAX, comm));
  PetscCheck(worst[0] == 0, comm, PETSC_ERR_ARG_SIZ, "On some process the numbers of local rows and columns differ");
  PetscCheck(worst[1] < std::numeric_limits<int>::max() - 64, comm, // strided loops step up to 32 past the end
             PETSC_ERR_ARG_OUTOFRANGE, "%.0f rows or entries on one process, at most 2^31 - 66 are supported: use more processes",
             worst[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool on_cuda(Mat A)
{
#if defined(AMGKIT_HAVE_CUDA)
  PetscBool cusparse = PETSC_FALSE, bound = PETSC_TRUE;
  if (PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &cusparse, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, "")) return false;
  if (MatBoundToCPU(A, &bound)) return false;
  return cusparse && !bound;
#else
  static_cast<void>(A);
  return false;
#endif
}

template <class Ex> PetscErrorCode MatView<Ex>::Block::access(Ex &ex, CsrView<double> &view)
{
  RawArrays raw;
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(set_sizes(mat, view));
  PetscCall(MatGetNonzeroState(mat, &now));
  const bool same = ptr.data() && now == pattern; // MatEliminateZeros() changes blocks without a word of it in A's state
  if (!same) {
    own_begins = false;
    ptr.release();
  }
  if constexpr (Ex::on_device) {
    if (!same) PetscCall(make_begins(ex, view));
    PetscCall(own_begins ? raw_entries(ex, mat, raw) : raw_access(ex, mat, raw));
  } else {
    PetscCall(raw_access(ex, mat, raw));
  }
  theirs = raw.val;
  view.val = raw.val;
  if constexpr (sizeof(PetscInt) == sizeof(int)) {
    view.ptr = own_begins ? ptr.data() : reinterpret_cast<const int *>(raw.ptr);
    view.col = reinterpret_cast<const int *>(raw.col);
  } else {
    if (!same) {
      if (!own_begins) {
        PetscCall(ptr.allocate(ex, std::int64_t{view.rows} + 1));
        PetscCall(narrow(ex, ptr.size(), raw.ptr, ptr.data()));
      }
      PetscCall(col.allocate(ex, view.nnz));
      PetscCall(narrow(ex, view.nnz, raw.col, col.data()));
    }
    view.ptr = ptr.data();
    view.col = col.data();
  }
  pattern = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ptr, where PETSc would copy the begins of many empty rows from the host: 4 of 67 ms of a first setup at 7-point 256³ on two GPUs. Once
// for a matrix: when it is set up again PETSc copies them after all, and keeps them.
template <class Ex> PetscErrorCode MatView<Ex>::Block::make_begins(Ex &ex, const CsrView<double> &view)
{
  constexpr std::int64_t few = 4;                 // rows for each entry
  static const char made[] = "amgkit_row_begins"; // what the matrix then bears
  static int mark;
  const auto object = reinterpret_cast<PetscObject>(mat);
  RawArrays raw;
  Array<std::uint32_t, Ex> row;
  Array<int, Ex> begins;

  PetscFunctionBegin;
  if (view.nnz * few > view.rows || attached(object, made)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(pattern_on_host(mat, raw));
  PetscCall(upload(ex, rows_of_entries(raw.ptr, view.rows), row));
  PetscCall(begins.allocate(ex, std::int64_t{view.rows} + 1));
  PetscCall(begins_of_rows(ex, view.rows, row.size(), row.data(), begins.data()));
  PetscCall(attach(object, made, &mark));
  ptr = std::move(begins);
  own_begins = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::Block::copy_pattern(Ex &ex, const CsrView<double> &view)
{
  RawArrays pattern_there;

  PetscFunctionBegin;
  const LogPhase logged(Phase::pattern_up);
  PetscCall(pattern_on_host(mat, pattern_there));
  PetscCall(ptr.allocate(ex, std::int64_t{view.rows} + 1));
  PetscCall(col.allocate(ex, view.nnz));
  PetscCall(val.allocate(ex, view.nnz));
  PetscCall(copy_indices(ex, ptr.size(), pattern_there.ptr, ptr.data()));
  PetscCall(copy_indices(ex, col.size(), pattern_there.col, col.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From the host. Values may change by the matrix or by its blocks, each of which counts its own states.
template <class Ex> PetscErrorCode MatView<Ex>::Block::copy(Ex &ex, Mat whole, CsrView<double> &view, MatCopies &copied)
{
  PetscObjectState now;
  std::array<PetscObjectState, 2> values_now{};
  const PetscScalar *from;

  PetscFunctionBegin;
  PetscCall(set_sizes(mat, view));
  PetscCall(MatGetNonzeroState(mat, &now));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(whole), &values_now[0]));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(mat), &values_now[1]));
  const bool new_pattern = !ptr.data() || now != pattern || val.size() != view.nnz;
  if (new_pattern) {
    PetscCall(copy_pattern(ex, view));
    pattern = now;
    copied.patterns++;
    copied.bytes += static_cast<double>(ptr.bytes() + col.bytes());
  }
  if (new_pattern || values_now != values) {
    const LogPhase logged(Phase::values_up);
    PetscCall(MatSeqAIJGetArrayRead(mat, &from));
    PetscCall(copy_in(ex, val.data(), from, val.bytes()));
    PetscCall(MatSeqAIJRestoreArrayRead(mat, &from));
    values = values_now;
    copied.values++;
    copied.bytes += static_cast<double>(val.bytes());
  }
  view.ptr = ptr.data();
  view.col = col.data();
  view.val = val.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> bool MatView<Ex>::in_place(Mat A) { return !Ex::apart || (Ex::on_device && on_cuda(A)) || space_matrix<Ex>(A); }

template <class Ex> bool MatView<Ex>::copies() const { return !in_place_ || space_matrix<Ex>(mat_); }

template <class Ex> const MatCopies &MatView<Ex>::copied() const
{
  const SpaceMatrixIn<Ex> *rows = space_matrix<Ex>(mat_);
  return rows ? rows->copied : copied_;
}

template <class Ex> std::size_t MatView<Ex>::bytes() const
{
  const SpaceMatrixIn<Ex> *rows = space_matrix<Ex>(mat_);
  return diag_.bytes() + offd_.bytes() + renumbered_.bytes() + (rows ? rows->own.bytes() + rows->others.bytes() : 0);
}

template <class Ex> PetscErrorCode MatView<Ex>::access_block(Ex &ex, Block &block, CsrView<double> &view)
{
  MatCopies now;

  PetscFunctionBegin;
  if (const SpaceMatrixIn<Ex> *rows = space_matrix<Ex>(mat_)) {
    view = (&block == &diag_ ? rows->own : rows->others).view();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (in_place_)
    PetscCall(block.access(ex, view));
  else
    PetscCall(block.copy(ex, mat_, view, now));
  copied_.bytes += now.bytes;
  if (&block == &diag_) copied_.patterns += now.patterns; // the other block goes with it
  if (&block == &diag_) copied_.values += now.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::Block::release()
{
  Ex space{};
  PetscFunctionBegin;
  if (mat && theirs) PetscCall(raw_release(space, mat, &theirs));
  theirs = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::create(Mat A, DistMatrix<Ex> &out)
{
  const PetscInt *ghosts;
  PetscInt rows, count = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(A)));
  PetscCall(MatDestroy(&mat_));
  mat_ = A;
  PetscCall(identify(A, identity_));
  diag_ = Block{};
  offd_ = Block{};
  renumbered_ = {};
  in_place_ = in_place(A);
  copied_ = {};
  PetscCall(get_blocks(A, &diag_.mat, &offd_.mat, &ghosts));
  PetscCall(MatGetLocalSize(A, &rows, nullptr));
  PetscCall(out.set_rows(PetscObjectComm(reinterpret_cast<PetscObject>(A)), static_cast<int>(rows)));
  if (offd_.mat) PetscCall(MatGetLocalSize(offd_.mat, nullptr, &count));
  out.ghosts.assign(ghosts, ghosts + count);
  if (const SpaceMatrixIn<Ex> *theirs = space_matrix<Ex>(A)) out.ghosts = theirs->ghosts;
  PetscCall(out.halo.create(out.comm, out.range, out.ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::access_ghosts(Ex &ex, int rows, CsrView<double> &offd)
{
  const SpaceMatrixIn<Ex> *theirs = space_matrix<Ex>(mat_);

  PetscFunctionBegin;
  offd = {};
  if (offd_.mat || (theirs && theirs->others.ptr.data())) {
    PetscCall(access_block(ex, offd_, offd));
  } else {
    if (!offd_.ptr.data()) { // a sequential matrix: no entries
      PetscCall(offd_.ptr.allocate(ex, rows + 1));
      PetscCall(memory_zero(ex, offd_.ptr.data(), offd_.ptr.bytes()));
    }
    offd.rows = rows;
    offd.ptr = offd_.ptr.data();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::access(Ex &ex, DistMatrix<Ex> &out)
{
  CsrView<double> own = renumbered_.diag();

  PetscFunctionBegin;
  if (!order()) PetscCall(access_block(ex, diag_, own));
  out.diag = own;
  out.offd = renumbered_.offd();
  if (!out.offd.ptr) PetscCall(access_ghosts(ex, out.rows, out.offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::access_user(Ex &ex, DistMatrix<Ex> **out)
{
  DistMatrix<Ex> &user = *renumbered_.user();
  CsrView<double> own;

  PetscFunctionBegin;
  PetscCall(access_block(ex, diag_, own));
  user.diag = own;
  PetscCall(access_ghosts(ex, user.rows, user.offd));
  *out = &user;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::forget_order(Ex &ex, DistMatrix<Ex> &out)
{
  PetscFunctionBegin;
  renumbered_ = {};
  PetscCall(access(ex, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::take_values(Ex &ex)
{
  DistMatrix<Ex> *user;

  PetscFunctionBegin;
  if (!reordered()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(access_user(ex, &user));
  PetscCall(renumbered_.take_values(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::matches(Mat A, bool *same) const
{
  MatIdentities identity;

  PetscFunctionBegin;
  PetscCall(identify(A, identity));
  int all = A == mat_ && identity == identity_;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm(reinterpret_cast<PetscObject>(A))));
  *same = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::check() const
{
  bool same;

  PetscFunctionBegin;
  PetscCall(matches(mat_, &same));
  PetscCheck(same, PetscObjectComm(reinterpret_cast<PetscObject>(mat_)), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix was replaced, or its nonzero pattern has changed, since the preconditioner was set up: let it be set up again, "
             "KSPSetReusePreconditioner(ksp, PETSC_FALSE)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatView<Ex>::release()
{
  PetscFunctionBegin;
  PetscCall(diag_.release());
  PetscCall(offd_.release());
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
struct HostBlock {
  std::vector<int> ptr, col;
  std::vector<double> val;
};

template <class Ex> PetscErrorCode download_block(Ex &ex, const CsrView<double> &A, HostBlock &block)
{
  PetscFunctionBegin;
  if (A.nnz == 0) {
    block.ptr.assign(static_cast<std::size_t>(A.rows) + 1, 0);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(download(ex, A.ptr, A.rows + 1, block.ptr));
  PetscCall(download(ex, A.col, A.nnz, block.col));
  PetscCall(download(ex, A.val, A.nnz, block.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode download_rows(Ex &ex, const DistRows &A, HostRows &rows)
{
  HostBlock diag, offd;
  const int n = A.diag.rows;
  const std::vector<PetscInt> &ghosts = *A.ghosts;

  PetscFunctionBegin;
  PetscCall(download_block(ex, A.diag, diag));
  PetscCall(download_block(ex, A.offd, offd));
  offd.ptr.resize(static_cast<std::size_t>(n) + 1, 0); // a matrix on one rank has no such block
  const auto take = [&](PetscInt column, double value) {
    rows.col.push_back(column);
    rows.val.push_back(value);
  };
  for (int i = 0; i < n; i++) {
    int k = offd.ptr[i];
    for (; k < offd.ptr[i + 1] && ghosts[offd.col[k]] < A.first; k++) take(ghosts[offd.col[k]], offd.val[k]);
    for (int d = diag.ptr[i]; d < diag.ptr[i + 1]; d++) take(A.first + diag.col[d], diag.val[d]);
    for (; k < offd.ptr[i + 1]; k++) take(ghosts[offd.col[k]], offd.val[k]);
    rows.ptr.push_back(static_cast<PetscInt>(rows.col.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_mat(MPI_Comm comm, MatType type, BlockSizes bs, PetscInt n, const HostRows &rows, Mat *out)
{
  const auto m = static_cast<PetscInt>(rows.ptr.size()) - 1;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, out));
  PetscCall(MatSetSizes(*out, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSizes(*out, bs.rows, bs.cols));
  PetscCall(MatSetType(*out, type));
  // each does nothing for the other's type; both copy, and assemble
  PetscCall(MatSeqAIJSetPreallocationCSR(*out, rows.ptr.data(), rows.col.data(), rows.val.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*out, rows.ptr.data(), rows.col.data(), rows.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode rcm_order(const std::vector<int> &ptr, const std::vector<int> &col, std::vector<int> &order)
{
  const auto n = static_cast<PetscInt>(ptr.size()) - 1;
  HostRows pattern;
  Mat A = nullptr;
  IS rows = nullptr, cols = nullptr;
  const PetscInt *index = nullptr;

  PetscFunctionBegin;
  pattern.ptr.assign(ptr.begin(), ptr.end());
  pattern.col.assign(col.begin(), col.end());
  pattern.val.assign(col.size(), 1);
  PetscCall(make_mat(PETSC_COMM_SELF, MATSEQAIJ, {}, n, pattern, &A));
  PetscCall(MatGetOrdering(A, MATORDERINGRCM, &rows, &cols));
  PetscCall(ISGetIndices(rows, &index));
  order.assign(index, index + n);
  PetscCall(ISRestoreIndices(rows, &index));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(download_rows)
AMGKIT_INSTANTIATE_TYPE(class, MatView)
} // namespace amgkit
