#include "dist/user_rows.hpp"

#include <algorithm>

namespace amgkit
{
std::vector<std::uint32_t> rows_of_entries(const PetscInt *ptr, PetscInt rows)
{
  std::vector<std::uint32_t> of(static_cast<std::size_t>(ptr[rows]));
  const std::int64_t end = rows;
  std::int64_t row = 0;

  for (PetscInt k = 0; k < ptr[end]; k = ptr[row + 1]) { // the row of entry k: two, four, ... rows on, then back by halves
    std::int64_t step = 1;
    while (row + step < end && ptr[row + step] <= k) step *= 2;
    row = std::upper_bound(ptr + row + step / 2, ptr + std::min(row + step, end) + 1, k) - ptr - 1;
    std::fill(of.begin() + ptr[row], of.begin() + ptr[row + 1], static_cast<std::uint32_t>(row));
  }
  return of;
}

PetscErrorCode pattern_on_host(Mat block, RawArrays &raw)
{
  PetscInt n;
  PetscBool done;
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &raw.ptr, &raw.col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ is not supported by this matrix");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raw_access(Host &, Mat block, RawArrays &raw)
{
  PetscFunctionBegin;
  PetscCall(pattern_on_host(block, raw));
  PetscCall(MatSeqAIJGetArrayRead(block, &raw.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raw_release(Host &, Mat block, const PetscScalar **val) { return MatSeqAIJRestoreArrayRead(block, val); }

#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
PetscErrorCode raw_entries(Cuda &, Mat block, RawArrays &raw)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetIJ(block, PETSC_TRUE, &raw.ptr, &raw.col));
  raw.ptr = nullptr;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(block, &raw.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raw_access(Cuda &, Mat block, RawArrays &raw)
{
  PetscFunctionBegin;
  // uncompressed: for blocks with many empty rows PETSc keeps a compressed row map
  PetscCall(MatSeqAIJCUSPARSEGetIJ(block, PETSC_FALSE, &raw.ptr, &raw.col));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(block, &raw.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raw_release(Cuda &, Mat block, const PetscScalar **val) { return MatSeqAIJCUSPARSERestoreArrayRead(block, val); }
#elif defined(AMGKIT_HAVE_CUDA) // PETSc has no matrix there
PetscErrorCode raw_entries(Cuda &, Mat, RawArrays &) { return PETSC_ERR_SUP; }
PetscErrorCode raw_access(Cuda &, Mat, RawArrays &) { return PETSC_ERR_SUP; }
PetscErrorCode raw_release(Cuda &, Mat, const PetscScalar **) { return PETSC_ERR_SUP; }
#endif

PetscErrorCode multiplies_by_rows(Mat A, bool *by_rows)
{
  using Operation = void (*)();
  Operation mult = nullptr, mult_of_type = nullptr;
  PetscBool is_aij;
  MatType type;
  Mat other;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &is_aij, MATSEQAIJ, MATMPIAIJ, ""));
  *by_rows = is_aij;
  if (!is_aij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetType(A, &type));
  PetscCall(MatCreate(PETSC_COMM_SELF, &other));
  PetscCall(MatSetSizes(other, 1, 1, 1, 1));
  PetscCall(MatSetType(other, type));
  PetscCall(MatGetOperation(A, MATOP_MULT, &mult));
  PetscCall(MatGetOperation(other, MATOP_MULT, &mult_of_type));
  PetscCall(MatDestroy(&other));
  *by_rows = mult == mult_of_type;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
