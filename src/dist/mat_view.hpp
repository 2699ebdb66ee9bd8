// The user's Mat as a DistMatrix and the way back: without a copy where the space can read it and its index type allows it. Of a matrix
// that is apart from the space, the pattern is copied once, and the values when they have changed. This, user_rows and window_rows alone
// know MATAIJ and MATAIJCUSPARSE.
#pragma once
#include "dist/renumbered_matrix.hpp"
#include "sparse/rows/rows.hpp"

#include <array>
#include <petscmat.h>

namespace amgkit
{
// Collective. Named errors, on every rank, for what no method here can take: not square, not MATAIJ or derived from it, local
// rows and columns that differ, or more than 2^31 - 1 local rows or entries.
PetscErrorCode check_type_and_size(Mat A);

// Whether A's values live on a GPU that this build can use.
bool on_cuda(Mat A);

// Rows of A with one of these faults, RowFault bits of sparse/rows/rows.hpp, where row_negative_diagonal stands for diagonals of both
// signs: a named error on every rank, with the global row. a[i] = a_ii besides, unless a is nullptr. order: the user's numbers of the
// rows, nullptr where they have no others. bounds, unless it is nullptr: RowCheck's, of all ranks. Collective.
template <class Ex>
PetscErrorCode check_entries(Ex &, const DistMatrix<Ex> &, int sought, double *a, const int *order = nullptr, RowBounds *bounds = nullptr);

// What tells a matrix and its nonzero pattern from any other. MatHeaderReplace() leaves a Mat where it is and may leave its nonzero state,
// but gives it the other's id; new preallocation gives a parallel Mat other blocks, and nothing else may tell of it.
struct MatIdentity {
  PetscObjectId id = 0;
  PetscObjectState pattern = 0;
  bool operator==(const MatIdentity &) const = default;
};

// What was copied to a space that is apart, by this process.
struct MatCopies {
  int patterns = 0, values = 0; // times, of the matrix
  double bytes = 0;
};
using MatIdentities = std::array<MatIdentity, 3>; // of a matrix and its blocks
// Local
PetscErrorCode identify(Mat A, MatIdentities &);
// Local: the two sequential blocks of A; offd and ghosts are null for a sequential matrix.
PetscErrorCode get_blocks(Mat A, Mat *diag, Mat *offd, const PetscInt **ghosts);

// Keeps a reference to A; its memory is read only between access() and release(), which may follow when nothing was accessed, too.
template <class Ex> class MatView {
public:
  MatView() = default;
  MatView(const MatView &) = delete;
  MatView &operator=(const MatView &) = delete;
  MatView(MatView &&) = delete;
  MatView &operator=(MatView &&) = delete;
  ~MatView() { static_cast<void>(MatDestroy(&mat_)); }

  // Takes A. Collective; fills out.comm, range and ghosts.
  PetscErrorCode create(Mat A, DistMatrix<Ex> &out);
  // Points out.diag and out.offd at A's memory, after bringing A's values to the space if they are elsewhere. Local; after create(),
  // matches() or check() has found the matrix there.
  PetscErrorCode access(Ex &, DistMatrix<Ex> &out);
  PetscErrorCode release();
  // Of a matrix that is accessible, before out.allocate(): from here on access() gives this rank's rows in this order, order()[new] = the
  // user's, and all ghosts in their owners'. Two steps, as order_rows() and order_ghosts() of RenumberedMatrix have it.
  PetscErrorCode renumber(Ex &ex, Array<int, Ex> &&order, DistMatrix<Ex> &out) { return renumbered_.order_rows(ex, std::move(order), out); }
  PetscErrorCode renumber_ghosts(Ex &ex, DistMatrix<Ex> &out) { return renumbered_.order_ghosts(ex, out); }
  // Before the second step, or after its error: back to the user's order. Local. out: as access() gives it.
  PetscErrorCode forget_order(Ex &, DistMatrix<Ex> &out);
  // Local: renumbered rows get A's present values.
  PetscErrorCode take_values(Ex &);
  const int *order() const { return renumbered_.order(); }         // of this rank's rows; nullptr: the user's
  bool reordered() const { return renumbered_.user() != nullptr; } // whether any rank has another order than the user's
  // Where that is so: the matrix in the user's order, with a halo of its own. As access().
  PetscErrorCode access_user(Ex &, DistMatrix<Ex> **);
  // Whether this is the matrix that create() took on all ranks, neither its contents replaced nor its nonzero pattern changed. Collective.
  PetscErrorCode matches(Mat A, bool *same) const;
  // PETSC_ERR_ARG_WRONGSTATE, on all ranks, when the matrix that create() took no longer matches. Collective.
  PetscErrorCode check() const;
  Mat matrix() const { return mat_; }
  // Whether A is still where access() finds it as create() did: read in place, or copied.
  bool reaches(Mat A) const { return in_place(A) == in_place_; }
  // Whether the rows that it reads are copies of those that the user has on the host; and what was copied.
  bool copies() const;
  const MatCopies &copied() const;
  // Bytes of these copies, and of rows in another order.
  std::size_t bytes() const;

private:
  // One sequential block. Read in place, its index arrays are copied only when PetscInt has 64 bits; but see make_begins().
  struct Block {
    Mat mat = nullptr;
    Array<int, Ex> ptr, col;
    bool own_begins = false; // ptr is made here
    Array<double, Ex> val;
    PetscObjectState pattern = 0;             // of ptr and col
    std::array<PetscObjectState, 2> values{}; // of val: the matrix's, and the block's
    const PetscScalar *theirs = nullptr;
    std::size_t bytes() const { return ptr.bytes() + col.bytes() + val.bytes(); }
    PetscErrorCode access(Ex &, CsrView<double> &);
    PetscErrorCode make_begins(Ex &, const CsrView<double> &);
    PetscErrorCode copy(Ex &, Mat whole, CsrView<double> &, MatCopies &);
    PetscErrorCode copy_pattern(Ex &, const CsrView<double> &);
    PetscErrorCode release();
  };
  static bool in_place(Mat A);
  PetscErrorCode access_block(Ex &, Block &, CsrView<double> &);
  PetscErrorCode access_ghosts(Ex &, int rows, CsrView<double> &offd);

  Mat mat_ = nullptr;
  MatIdentities identity_;
  RenumberedMatrix<Ex> renumbered_;
  Block diag_, offd_;
  bool in_place_ = true;
  MatCopies copied_;
};

// Releases the view's memory at the end of the scope, also after an error.
template <class Ex> class ReleaseAtEnd {
public:
  explicit ReleaseAtEnd(MatView<Ex> &view) : view_(view) {}
  ReleaseAtEnd(const ReleaseAtEnd &) = delete;
  ReleaseAtEnd &operator=(const ReleaseAtEnd &) = delete;
  ~ReleaseAtEnd() { static_cast<void>(view_.release()); }

private:
  MatView<Ex> &view_;
};

// A rank's rows with global columns that ascend in each row, on the host.
struct HostRows {
  std::vector<PetscInt> ptr = {0}, col;
  std::vector<PetscScalar> val;
};

// Local
template <class Ex> PetscErrorCode download_rows(Ex &, const DistRows &, HostRows &);

// Of a matrix's rows and columns.
struct BlockSizes {
  PetscInt rows = 1, cols = 1;
};
// Collective over comm: the matrix with these rows and n columns of this rank. type: a MATAIJ type or one derived from it.
PetscErrorCode make_mat(MPI_Comm comm, MatType type, BlockSizes, PetscInt n, const HostRows &, Mat *);

// order[new] = old: PETSc's reverse Cuthill-McKee of a symmetric pattern in compressed rows; of another it sees what is below the diagonal.
// Local, on the host.
PetscErrorCode rcm_order(const std::vector<int> &ptr, const std::vector<int> &col, std::vector<int> &order);
} // namespace amgkit
