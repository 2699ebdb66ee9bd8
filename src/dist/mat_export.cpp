#include "dist/mat_export.hpp"

namespace amgkit
{
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

template <class Ex> PetscErrorCode rows_of(Ex &ex, const DistMatrix<Ex> &A, HostRows &rows)
{
  HostBlock diag, offd;
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  PetscCall(download_block(ex, A.diag, diag));
  PetscCall(download_block(ex, A.offd, offd));
  offd.ptr.resize(static_cast<std::size_t>(A.rows) + 1, 0); // a matrix on one rank has no such block
  const PetscInt first = A.first(rank);
  const auto take = [&](PetscInt column, double value) {
    rows.col.push_back(column);
    rows.val.push_back(value);
  };
  for (int i = 0; i < A.rows; i++) {
    int k = offd.ptr[i];
    for (; k < offd.ptr[i + 1] && A.ghosts[offd.col[k]] < first; k++) take(A.ghosts[offd.col[k]], offd.val[k]);
    for (int d = diag.ptr[i]; d < diag.ptr[i + 1]; d++) take(first + diag.col[d], diag.val[d]);
    for (; k < offd.ptr[i + 1]; k++) take(A.ghosts[offd.col[k]], offd.val[k]);
    rows.ptr.push_back(static_cast<PetscInt>(rows.col.size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_mat(MPI_Comm comm, MatType type, PetscInt bs, PetscInt n, const HostRows &rows, Mat *out)
{
  const auto m = static_cast<PetscInt>(rows.ptr.size()) - 1;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, out));
  PetscCall(MatSetSizes(*out, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*out, bs));
  PetscCall(MatSetType(*out, type));
  // each does nothing for the other's type; both copy, and assemble
  PetscCall(MatSeqAIJSetPreallocationCSR(*out, rows.ptr.data(), rows.col.data(), rows.val.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*out, rows.ptr.data(), rows.col.data(), rows.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex) template PetscErrorCode rows_of(Ex &, const DistMatrix<Ex> &, HostRows &);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
