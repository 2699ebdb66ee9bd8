#include "base/parallel.hpp"
#include "sparse/dense.hpp"

namespace amgkit
{
namespace
{
PetscErrorCode set_identity(Cuda &ex, int n, Array<double, Cuda> &identity)
{
  double *X = identity.data();
  return for_each(ex, identity.size(), [=] __device__(std::int64_t k) { X[k] = k / n == k % n; });
}
} // namespace

DenseInversion<Cuda>::~DenseInversion() { static_cast<void>(end()); }

// What is under way must not lose its memory. A stream of another priority would cost what runs later, so it does not stay.
PetscErrorCode DenseInversion<Cuda>::end()
{
  PetscFunctionBegin;
  A_ = nullptr;
  if (!stream_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaStreamSynchronize(stream_));
  if (event_) PetscCallCUDA(cudaEventDestroy(event_));
  PetscCallCUDA(cudaStreamDestroy(stream_));
  stream_ = nullptr;
  event_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// cuSOLVER reads the rows of A as the columns of Aᵀ: the solution of Aᵀ X = I, read by rows, is A⁻¹.
PetscErrorCode DenseInversion<Cuda>::enqueue(Cuda &ex, int n, double *A)
{
  cusolverDnHandle_t solver;
  int work_size = 0;

  PetscFunctionBegin;
  PetscCall(PetscCUSOLVERDnGetHandle(&solver));
  PetscCallCUSOLVER(cusolverDnDgetrf_bufferSize(solver, n, n, A, n, &work_size));
  PetscCall(pivots_.allocate(ex, n));
  PetscCall(info_.allocate(ex, 2)); // of the factorisation, of the solution
  PetscCall(work_.allocate(ex, work_size));
  PetscCall(inverse_.allocate(ex, static_cast<std::int64_t>(n) * n));
  PetscCall(set_identity(ex, n, inverse_));
  PetscCallCUDA(cudaEventRecord(event_, ex.stream));
  PetscCallCUDA(cudaStreamWaitEvent(stream_, event_, 0));
  A_ = A;
  PetscCallCUSOLVER(cusolverDnSetStream(solver, stream_));
  const auto factored = cusolverDnDgetrf(solver, n, n, A, n, work_.data(), pivots_.data(), info_.data());
  const auto solved = cusolverDnDgetrs(solver, CUBLAS_OP_N, n, n, A, n, pivots_.data(), inverse_.data(), n, info_.data() + 1);
  PetscCallCUSOLVER(cusolverDnSetStream(solver, ex.stream)); // PETSc's handle must not keep a stream that goes
  PetscCallCUSOLVER(factored);
  PetscCallCUSOLVER(solved);
  PetscCallCUDA(cudaEventRecord(event_, stream_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseInversion<Cuda>::begin(Cuda &ex, int n, double *A)
{
  int least = 0, greatest = 0; // priorities

  PetscFunctionBegin;
  PetscCall(end());
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PetscCallCUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  PetscCallCUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  PetscCall(enqueue(ex, n, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseInversion<Cuda>::finish(Cuda &ex, bool *singular)
{
  int info = 0;

  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamWaitEvent(ex.stream, event_, 0));
  PetscCall(memory_copy(ex, A_, inverse_.data(), inverse_.bytes()));
  PetscCall(memory_to_host(ex, &info, info_.data(), sizeof info));
  PetscCall(end());
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSOLVER getrf: argument %d", -info);
  *singular = info > 0;
  pivots_.release();
  info_.release();
  work_.release();
  inverse_.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
