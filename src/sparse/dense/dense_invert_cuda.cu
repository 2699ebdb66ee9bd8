#include "base/parallel.hpp"
#include "sparse/dense/dense.hpp"

#include <system_error>

namespace amgkit
{
namespace
{
struct Inversion {
  cusolverDnHandle_t solver;
  Array<int, Cuda> info; // of the factorisation, of what follows
  Array<double, Cuda> work, copy;

  PetscErrorCode open(Cuda &ex, int n)
  {
    PetscFunctionBegin;
    PetscCall(PetscCUSOLVERDnGetHandle(&solver));
    PetscCallCUSOLVER(cusolverDnSetStream(solver, ex.stream));
    PetscCall(info.allocate(ex, 2));
    PetscCall(copy.allocate(ex, static_cast<std::int64_t>(n) * n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode factored(Cuda &ex, bool *done)
  {
    int status = 0;
    PetscFunctionBegin;
    PetscCall(memory_to_host(ex, &status, info.data(), sizeof status));
    PetscCheck(status >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuSOLVER: argument %d of a factorisation", -status);
    *done = status == 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Where A is definite its diagonal has one sign s, and L Lᵀ = s A, L Lᵀ A⁻¹ = s I; where it is not, A stays. Two triangular solves take
// 0.9 ms for 900 rows where potri takes 1.3, and 10 ms less when their kernels are loaded.
PetscErrorCode invert_by_cholesky(Cuda &ex, int n, double *A, bool *done)
{
  constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER; // of columns: the upper triangle of rows
  Inversion inversion;
  int size = 0;

  PetscFunctionBegin;
  PetscCall(inversion.open(ex, n));
  cusolverDnHandle_t solver = inversion.solver;
  double *L = inversion.copy.data();
  const auto entries = inversion.copy.size();
  PetscCall(for_each(ex, entries, [=] __device__(std::int64_t k) { L[k] = A[0] < 0 ? -A[k] : A[k]; }));
  PetscCallCUSOLVER(cusolverDnDpotrf_bufferSize(solver, lower, n, L, n, &size));
  PetscCall(inversion.work.allocate(ex, size));
  PetscCallCUSOLVER(cusolverDnDpotrf(solver, lower, n, L, n, inversion.work.data(), size, inversion.info.data()));
  PetscCall(inversion.factored(ex, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each(ex, entries, [=] __device__(std::int64_t k) { A[k] = k / n != k % n ? 0 : A[k] < 0 ? -1 : 1; }));
  PetscCallCUSOLVER(cusolverDnDpotrs(solver, lower, n, n, L, n, A, n, inversion.info.data() + 1));
  PetscCall(for_each(ex, entries, [=] __device__(std::int64_t k) {
    const std::int64_t i = k / n, j = k % n;
    if (i > j) A[k] = A[j * n + i]; // symmetric to the last bit
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// cuSOLVER reads the rows of A as the columns of Aᵀ: the solution of Aᵀ X = I, read by rows, is A⁻¹. All is queued before the outcome of
// the factorisation is known, so that the host waits once.
PetscErrorCode invert_by_lu(Cuda &ex, int n, double *A, bool *done)
{
  Inversion inversion;
  Array<int, Cuda> pivots;
  int size = 0;

  PetscFunctionBegin;
  PetscCall(inversion.open(ex, n));
  PetscCallCUSOLVER(cusolverDnDgetrf_bufferSize(inversion.solver, n, n, A, n, &size));
  PetscCall(pivots.allocate(ex, n));
  PetscCall(inversion.work.allocate(ex, size));
  double *X = inversion.copy.data();
  int *info = inversion.info.data();
  PetscCall(for_each(ex, inversion.copy.size(), [=] __device__(std::int64_t k) { X[k] = k / n == k % n; }));
  PetscCallCUSOLVER(cusolverDnDgetrf(inversion.solver, n, n, A, n, inversion.work.data(), pivots.data(), info));
  PetscCallCUSOLVER(cusolverDnDgetrs(inversion.solver, CUBLAS_OP_N, n, n, A, n, pivots.data(), X, n, info + 1));
  PetscCall(memory_copy(ex, A, X, inversion.copy.bytes()));
  PetscCall(inversion.factored(ex, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// CUDA loads a kernel when it is first launched. The order of a matrix decides which ones: 512 has those of 900, 32 has not. On the space's
// own stream, for the reason in dense.hpp. Whether all was launched.
bool factorise_zeros(int device, cudaStream_t stream)
{
  constexpr int n = 512;
  constexpr cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
  constexpr std::size_t bytes = sizeof(double) * n * n;
  cusolverDnHandle_t solver = nullptr;
  double *A = nullptr, *work = nullptr;
  int size = 0, *info = nullptr;

  const bool launched = !cudaSetDevice(device) && !cusolverDnCreate(&solver) && !cusolverDnSetStream(solver, stream) &&
                        !cusolverDnDpotrf_bufferSize(solver, lower, n, A, n, &size) && !cudaMallocAsync(&A, bytes, stream) &&
                        !cudaMallocAsync(&work, sizeof(double) * size, stream) && !cudaMallocAsync(&info, sizeof(int), stream) &&
                        !cudaMemsetAsync(A, 0, bytes, stream) && !cusolverDnDpotrf(solver, lower, n, A, n, work, size, info) &&
                        !cusolverDnDpotrs(solver, lower, n, n, A, n, A, n, info);
  for (void *p : {static_cast<void *>(A), static_cast<void *>(work), static_cast<void *>(info)}) {
    if (p) cudaFreeAsync(p, stream);
  }
  if (solver) cusolverDnDestroy(solver);
  return launched;
}
} // namespace

std::future<bool> load_dense_invert(Cuda &ex)
{
  static bool started = false;
  int device = 0;

  if (started || cudaGetDevice(&device)) return {};
  started = true;
  try {
    return std::async(std::launch::async, factorise_zeros, device, ex.stream);
  } catch (const std::system_error &) { // no thread to be had
    return {};
  }
}

PetscErrorCode dense_invert(Cuda &ex, int n, bool symmetric, double *A, bool *singular)
{
  bool done = false;

  PetscFunctionBegin;
  if (symmetric) PetscCall(invert_by_cholesky(ex, n, A, &done));
  if (!done) PetscCall(invert_by_lu(ex, n, A, &done));
  *singular = !done;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
