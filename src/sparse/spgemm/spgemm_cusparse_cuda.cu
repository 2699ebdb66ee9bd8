// Sparse products by cuSPARSE's SpGEMMreuse. It need not sort a row's columns: then it keeps its own arrays of C, and C's are taken from
// them.
#include "sparse/cusparse_cuda.hpp"
#include "sparse/rows/sorted_columns.hpp"
#include "sparse/spgemm/spgemm_backends.hpp"

namespace amgkit
{
namespace
{
constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr cusparseSpGEMMAlg_t algorithm = CUSPARSE_SPGEMM_DEFAULT;

struct CusparseState : SpgemmState {
  cusparseHandle_t handle = nullptr;
  cusparseSpGEMMDescr_t product = nullptr;
  SparseDescription A, B, C;
  Bytes nnz_kept, copy_kept; // what the descriptor of the product refers to
  // where cuSPARSE's columns are not sorted: its own, its values, and which of them each entry of C is
  Array<int, Cuda> col, position;
  Array<double, Cuda> val;

  CusparseState() = default;
  CusparseState(const CusparseState &) = delete;
  CusparseState &operator=(const CusparseState &) = delete;
  ~CusparseState() override
  {
    if (product) static_cast<void>(cusparse().SpGEMM_destroyDescr(product));
    if (handle) static_cast<void>(cusparse().Destroy(handle));
  }
};

PetscErrorCode count_entries(Cuda &ex, CusparseState &s, Bytes &for_copy, std::int64_t *nnz)
{
  Bytes for_estimate, for_nnz;
  std::size_t bytes = 0, nnz_bytes = 0, copy_bytes = 0, kept_bytes = 0;
  std::int64_t rows = 0, cols = 0;

  PetscFunctionBegin;
  AMGKIT_CALL_CUSPARSE(
      cusparse().SpGEMMreuse_workEstimation(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &bytes, nullptr));
  PetscCall(allocate_bytes(ex, bytes, for_estimate));
  AMGKIT_CALL_CUSPARSE(cusparse().SpGEMMreuse_workEstimation(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &bytes,
                                                             for_estimate.data()));
  AMGKIT_CALL_CUSPARSE(cusparse().SpGEMMreuse_nnz(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &nnz_bytes, nullptr,
                                                  &copy_bytes, nullptr, &kept_bytes, nullptr));
  PetscCall(allocate_bytes(ex, nnz_bytes, for_nnz));
  PetscCall(allocate_bytes(ex, copy_bytes, for_copy));
  PetscCall(allocate_bytes(ex, kept_bytes, s.nnz_kept));
  AMGKIT_CALL_CUSPARSE(cusparse().SpGEMMreuse_nnz(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &nnz_bytes,
                                                  for_nnz.data(), &copy_bytes, for_copy.data(), &kept_bytes, s.nnz_kept.data()));
  AMGKIT_CALL_CUSPARSE(cusparse().SpMatGetSize(s.C.of, &rows, &cols, nnz));
  PetscCheck(*nnz >= 0 && *nnz <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_pattern(Cuda &ex, CusparseState &s, Csr<double, Cuda> &C)
{
  std::size_t bytes = 0;

  PetscFunctionBegin;
  PetscCall(s.C.point_to(C.view()));
  AMGKIT_CALL_CUSPARSE(cusparse().SpGEMMreuse_copy(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &bytes, nullptr));
  PetscCall(allocate_bytes(ex, bytes, s.copy_kept));
  AMGKIT_CALL_CUSPARSE(
      cusparse().SpGEMMreuse_copy(s.handle, plain, plain, s.A.of, s.B.of, s.C.of, algorithm, s.product, &bytes, s.copy_kept.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_unsorted_rows(Cuda &ex, const CsrView<double> &C, std::int64_t *unsorted)
{
  return reduce<std::int64_t>(
      ex, C.rows,
      [=] __device__(std::int64_t i) {
        bool sorted = true;
        for (int k = C.ptr[i] + 1; k < C.ptr[i + 1]; k++) sorted = sorted && C.col[k - 1] < C.col[k];
        return std::int64_t{!sorted};
      },
      0, Sum{}, unsorted);
}

// C's columns in order, and where cuSPARSE has them.
PetscErrorCode sort_pattern(Cuda &ex, CusparseState &s, Csr<double, Cuda> &C)
{
  const std::int64_t nnz = C.col.size();

  PetscFunctionBegin;
  PetscCall(s.position.allocate(ex, nnz));
  std::swap(C.col, s.col);
  std::swap(C.val, s.val);
  PetscCall(allocate_each(ex, nnz, C.col, C.val));
  PetscCall(sorted_columns(ex, CsrView<double>{C.rows, C.cols, nnz, C.ptr.data(), s.col.data()}, s.position.data(), C.col.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode cusparse_symbolic(Cuda &ex, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C, std::unique_ptr<SpgemmState> &state)
{
  auto owner = std::make_unique<CusparseState>();
  CusparseState &s = *owner;
  Bytes for_copy;
  std::int64_t nnz = 0, unsorted = 0;

  PetscFunctionBegin;
  PetscCall(C.ptr.allocate(ex, std::int64_t{C.rows} + 1));
  PetscCall(load_cusparse());
  AMGKIT_CALL_CUSPARSE(cusparse().Create(&s.handle));
  AMGKIT_CALL_CUSPARSE(cusparse().SetStream(s.handle, ex.stream));
  AMGKIT_CALL_CUSPARSE(cusparse().SpGEMM_createDescr(&s.product));
  PetscCall(s.A.create(A));
  PetscCall(s.B.create(B));
  PetscCall(s.C.create(C.view()));
  PetscCall(count_entries(ex, s, for_copy, &nnz));
  if (nnz == 0) { // there is nothing to copy, nor to compute
    PetscCall(memory_zero(ex, C.ptr.data(), C.ptr.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(allocate_each(ex, nnz, C.col, C.val));
  PetscCall(copy_pattern(ex, s, C));
  PetscCall(count_unsorted_rows(ex, C.view(), &unsorted));
  if (unsorted > 0) PetscCall(sort_pattern(ex, s, C));
  state = std::move(owner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode cusparse_numeric(Cuda &ex, SpgemmState &state, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C)
{
  auto &s = static_cast<CusparseState &>(state);
  const bool sorted = s.position.size() == 0;
  const CsrView<double> own = {C.rows, C.cols, C.col.size(), C.ptr.data(), s.col.data(), s.val.data()};
  const double one = 1, zero = 0;

  PetscFunctionBegin;
  PetscCall(s.A.point_to(A));
  PetscCall(s.B.point_to(B));
  PetscCall(s.C.point_to(sorted ? C.view() : own));
  // 0 times what memory holds is not always 0
  PetscCall(memory_zero(ex, sorted ? C.val.data() : s.val.data(), C.val.bytes()));
  AMGKIT_CALL_CUSPARSE(
      cusparse().SpGEMMreuse_compute(s.handle, plain, plain, &one, s.A.of, s.B.of, &zero, s.C.of, CUDA_R_64F, algorithm, s.product));
  if (sorted) PetscFunctionReturn(PETSC_SUCCESS);
  const int *position = s.position.data();
  const double *from = s.val.data();
  double *val = C.val.data();
  PetscCall(for_each(ex, C.val.size(), [=] __device__(std::int64_t k) { val[k] = from[position[k]]; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
