#include "dist/user_rows.hpp"

namespace amgkit
{
PetscErrorCode raw_access(Host &, Mat block, RawArrays &raw)
{
  PetscInt n;
  PetscBool done;
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &raw.ptr, &raw.col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "MatGetRowIJ is not supported by this matrix");
  PetscCall(MatSeqAIJGetArrayRead(block, &raw.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode raw_release(Host &, Mat block, const PetscScalar **val) { return MatSeqAIJRestoreArrayRead(block, val); }

#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
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
PetscErrorCode raw_access(Cuda &, Mat, RawArrays &) { return PETSC_ERR_SUP; }
PetscErrorCode raw_release(Cuda &, Mat, const PetscScalar **) { return PETSC_ERR_SUP; }
#endif
} // namespace amgkit
