// What the back ends by cuSPARSE share; included by *_cusparse_cuda.cu only.
#pragma once
#include "base/array.hpp"
#include "base/libraries_cuda.hpp"

#include <algorithm>

namespace amgkit
{
// cuSPARSE's view of a matrix. It reads the arrays, and writes those of a result.
struct SparseDescription {
  cusparseSpMatDescr_t of = nullptr;

  SparseDescription() = default;
  SparseDescription(const SparseDescription &) = delete;
  SparseDescription &operator=(const SparseDescription &) = delete;
  ~SparseDescription()
  {
    if (of) static_cast<void>(cusparse().DestroySpMat(of));
  }
  PetscErrorCode create(const CsrView<double> &A)
  {
    PetscFunctionBegin;
    AMGKIT_CALL_CUSPARSE(cusparse().CreateCsr(&of, A.rows, A.cols, A.nnz, const_cast<int *>(A.ptr), const_cast<int *>(A.col),
                                              const_cast<double *>(A.val), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                              CUDA_R_64F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode point_to(const CsrView<double> &A)
  {
    PetscFunctionBegin;
    AMGKIT_CALL_CUSPARSE(cusparse().CsrSetPointers(of, const_cast<int *>(A.ptr), const_cast<int *>(A.col), const_cast<double *>(A.val)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

using Bytes = Array<unsigned char, Cuda>;

// Never nullptr, with which cuSPARSE would tell the size only.
inline PetscErrorCode allocate_bytes(Cuda &ex, std::size_t bytes, Bytes &to)
{
  PetscFunctionBegin;
  PetscCall(to.allocate(ex, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
