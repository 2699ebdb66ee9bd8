#include "support/petsc_problems.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
int rank_of_world()
{
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}
int size_of_world()
{
  int size = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

PetscErrorCode distribute(const HostCsr &A, bool on_device, Mat *out, PetscInt local_rows)
{
  PetscInt first, last, longest = 0;

  PetscFunctionBegin;
  if (local_rows < 0) local_rows = PETSC_DECIDE;
  PetscCall(MatCreate(PETSC_COMM_WORLD, out));
  PetscCall(MatSetSizes(*out, local_rows, local_rows, A.rows, A.cols));
  PetscCall(MatSetType(*out, on_device ? MATAIJCUSPARSE : MATAIJ));
  for (int i = 0; i < A.rows; i++) longest = std::max(longest, static_cast<PetscInt>(A.ptr[i + 1] - A.ptr[i]));
  PetscCall(MatSeqAIJSetPreallocation(*out, longest, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*out, longest, nullptr, longest, nullptr));
  PetscCall(MatSetOption(*out, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*out, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) PetscCall(MatSetValue(*out, i, A.col[k], A.val[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_system(Mat A, Vec *x, Vec *b)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, b));
  PetscCall(VecGetOwnershipRange(*x, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(*x, i, std::sin(0.1 * static_cast<double>(i)) + 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*x));
  PetscCall(VecAssemblyEnd(*x));
  PetscCall(MatMult(A, *x, *b));
  PetscCall(VecSet(*x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode quietly(const std::function<PetscErrorCode()> &f)
{
  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode code = f();
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(code);
}
} // namespace amgkit::test
