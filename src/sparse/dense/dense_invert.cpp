#include "base/array.hpp"
#include "sparse/dense/dense.hpp"

#include <petscblaslapack.h>

namespace amgkit
{
// LAPACK reads the rows of A as the columns of Aᵀ; the inverse of Aᵀ, read the same way, is the inverse of A.
PetscErrorCode dense_invert(Host &ex, int n, bool, double *A, bool *singular)
{
  PetscBLASInt size = 0, info = 0, work_size = 0;
  Array<PetscBLASInt, Host> pivots;
  Array<double, Host> work;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(PetscBLASIntCast(64 * static_cast<PetscInt>(n), &work_size));
  PetscCall(pivots.allocate(ex, n));
  PetscCall(work.allocate(ex, work_size));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&size, &size, A, &size, pivots.data(), &info));
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK getrf: argument %d", static_cast<int>(-info));
  *singular = info > 0;
  if (!*singular) {
    PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&size, A, &size, pivots.data(), work.data(), &work_size, &info));
    PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK getri: argument %d", static_cast<int>(-info));
    *singular = info > 0;
  }
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
