#include "base/parallel.hpp"
#include "sparse/dense.hpp"

namespace amgkit
{
// cuSOLVER reads the rows of A as the columns of Aᵀ: the solution of Aᵀ X = I, read by rows, is A⁻¹.
PetscErrorCode dense_invert(Cuda &ex, int n, double *A, bool *singular)
{
  cusolverDnHandle_t solver;
  Array<int, Cuda> pivots, info;
  Array<double, Cuda> work, inverse;
  int work_size = 0, status = 0;

  PetscFunctionBegin;
  PetscCall(PetscCUSOLVERDnGetHandle(&solver));
  PetscCallCUSOLVER(cusolverDnSetStream(solver, ex.stream));
  PetscCall(pivots.allocate(ex, n));
  PetscCall(info.allocate(ex, 1));
  PetscCallCUSOLVER(cusolverDnDgetrf_bufferSize(solver, n, n, A, n, &work_size));
  PetscCall(work.allocate(ex, work_size));
  PetscCallCUSOLVER(cusolverDnDgetrf(solver, n, n, A, n, work.data(), pivots.data(), info.data()));
  PetscCall(memory_to_host(ex, &status, info.data(), info.bytes()));
  PetscCheck(status >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSOLVER getrf: argument %d", -status);
  *singular = status > 0;
  if (*singular) PetscFunctionReturn(PETSC_SUCCESS);

  PetscCall(inverse.allocate(ex, static_cast<std::int64_t>(n) * n));
  double *X = inverse.data();
  PetscCall(for_each(ex, inverse.size(), [=] __device__(std::int64_t k) { X[k] = k / n == k % n; }));
  PetscCallCUSOLVER(cusolverDnDgetrs(solver, CUBLAS_OP_N, n, n, A, n, pivots.data(), X, n, info.data()));
  PetscCall(memory_copy(ex, A, X, inverse.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
