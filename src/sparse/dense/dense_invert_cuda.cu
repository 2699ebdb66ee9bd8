#include "base/libraries_cuda.hpp"
#include "base/parallel.hpp"
#include "sparse/dense/dense.hpp"
#include "sparse/dense/gauss_jordan_cuda.hpp"

namespace amgkit
{
namespace
{
// One for the process, from its first use to PetscFinalize: it takes milliseconds to create.
cusolverDnHandle_t &handle_of_process()
{
  static cusolverDnHandle_t handle = nullptr;
  return handle;
}
PetscErrorCode destroy_handle()
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUSOLVER(cusolver().Destroy(handle_of_process()));
  handle_of_process() = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode get_handle(cusolverDnHandle_t *handle)
{
  PetscFunctionBegin;
  if (!handle_of_process()) {
    PetscCall(load_cusolver());
    AMGKIT_CALL_CUSOLVER(cusolver().Create(&handle_of_process()));
    PetscCall(PetscRegisterFinalize(destroy_handle));
  }
  *handle = handle_of_process();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// cuSOLVER reads the rows of A as the columns of Aᵀ: the solution of Aᵀ X = I, read by rows, is A⁻¹. All is queued before the outcome of
// the factorisation is known, so that the host waits once.
PetscErrorCode invert_by_lu(Cuda &ex, int n, double *A, bool *done)
{
  cusolverDnHandle_t solver;
  Array<int, Cuda> pivots, infos; // infos: of the factorisation, of the solves
  Array<double, Cuda> work, copy;
  int size = 0, status = 0;

  PetscFunctionBegin;
  PetscCall(get_handle(&solver));
  AMGKIT_CALL_CUSOLVER(cusolver().SetStream(solver, ex.stream));
  AMGKIT_CALL_CUSOLVER(cusolver().Dgetrf_bufferSize(solver, n, n, A, n, &size));
  PetscCall(infos.allocate(ex, 2));
  PetscCall(pivots.allocate(ex, n));
  PetscCall(work.allocate(ex, size));
  PetscCall(copy.allocate(ex, static_cast<std::int64_t>(n) * n));
  double *X = copy.data();
  int *info = infos.data();
  PetscCall(for_each(ex, copy.size(), [=] __device__(std::int64_t k) { X[k] = k / n == k % n; }));
  AMGKIT_CALL_CUSOLVER(cusolver().Dgetrf(solver, n, n, A, n, work.data(), pivots.data(), info));
  AMGKIT_CALL_CUSOLVER(cusolver().Dgetrs(solver, CUBLAS_OP_N, n, n, A, n, pivots.data(), X, n, info + 1));
  PetscCall(memory_copy(ex, A, X, copy.bytes()));
  PetscCall(memory_to_host(ex, &status, info, sizeof status));
  PetscCheck(status >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSOLVER: argument %d of a factorisation", -status);
  *done = status == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode dense_invert(Cuda &ex, int n, bool symmetric, double *A, bool *singular)
{
  constexpr int largest = 2048; // eliminations without pivots take twice LU's operations beyond some hundred rows
  bool done = false;

  PetscFunctionBegin;
  if (n > 0 && n <= largest) PetscCall(gauss_jordan(ex, n, symmetric, A, &done));
  if (!done) PetscCall(invert_by_lu(ex, n, A, &done));
  *singular = !done;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
