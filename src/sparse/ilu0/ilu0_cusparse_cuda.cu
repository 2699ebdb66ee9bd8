// ILU(0) by cuSPARSE's csrilu02, which CUDA 13 still has but calls deprecated without naming another, and solves by its SpSV.
#include "base/parallel.hpp"
#include "sparse/cusparse_cuda.hpp"
#include "sparse/ilu0/ilu0_backends.hpp"

namespace amgkit
{
namespace
{
constexpr cusparseSpSVAlg_t algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
constexpr cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

// One triangle of the factors, solved with as it is or transposed.
struct CusparseTriangle {
  cusparseSpSVDescr_t solve = nullptr;
  Bytes work;
  bool analysed = false;

  CusparseTriangle() = default;
  CusparseTriangle(const CusparseTriangle &) = delete;
  CusparseTriangle &operator=(const CusparseTriangle &) = delete;
  ~CusparseTriangle()
  {
    if (solve) static_cast<void>(cusparse().SpSV_destroyDescr(solve));
  }
};

struct CusparseIlu : IluState {
  Array<int, Cuda> ptr, col; // the caller's may be gone
  cusparseHandle_t handle = nullptr;
  cusparseMatDescr_t general = nullptr;
  csrilu02Info_t info = nullptr;
  SparseDescription lower, upper;
  cusparseDnVecDescr_t b = nullptr, x = nullptr;
  Bytes work;
  CusparseTriangle l, u, l_t, u_t;

  std::size_t bytes() const override
  {
    return ptr.bytes() + col.bytes() + work.bytes() + l.work.bytes() + u.work.bytes() + l_t.work.bytes() + u_t.work.bytes();
  }

  CusparseIlu() = default;
  CusparseIlu(const CusparseIlu &) = delete;
  CusparseIlu &operator=(const CusparseIlu &) = delete;
  ~CusparseIlu() override
  {
    if (x) static_cast<void>(cusparse().DestroyDnVec(x));
    if (b) static_cast<void>(cusparse().DestroyDnVec(b));
    if (info) static_cast<void>(cusparse().DestroyCsrilu02Info(info));
    if (general) static_cast<void>(cusparse().DestroyMatDescr(general));
    if (handle) static_cast<void>(cusparse().Destroy(handle));
  }
};

// A: one of the factors, in the same arrays as the other.
PetscErrorCode describe(const CsrView<double> &A, cusparseFillMode_t fill, cusparseDiagType_t diagonal, SparseDescription &out)
{
  PetscFunctionBegin;
  PetscCall(out.create(A));
  AMGKIT_CALL_CUSPARSE(cusparse().SpMatSetAttribute(out.of, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
  AMGKIT_CALL_CUSPARSE(cusparse().SpMatSetAttribute(out.of, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Ready for solves with the values that the factors have now.
PetscErrorCode analyse(Cuda &ex, CusparseIlu &s, cusparseSpMatDescr_t matrix, cusparseOperation_t operation, double *lu,
                       CusparseTriangle &T)
{
  const double one = 1;
  std::size_t bytes = 0;

  PetscFunctionBegin;
  if (T.analysed) {
    AMGKIT_CALL_CUSPARSE(cusparse().SpSV_updateMatrix(s.handle, T.solve, lu, CUSPARSE_SPSV_UPDATE_GENERAL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  AMGKIT_CALL_CUSPARSE(cusparse().SpSV_createDescr(&T.solve));
  AMGKIT_CALL_CUSPARSE(cusparse().SpSV_bufferSize(s.handle, operation, &one, matrix, s.b, s.x, CUDA_R_64F, algorithm, T.solve, &bytes));
  PetscCall(allocate_bytes(ex, bytes, T.work));
  AMGKIT_CALL_CUSPARSE(
      cusparse().SpSV_analysis(s.handle, operation, &one, matrix, s.b, s.x, CUDA_R_64F, algorithm, T.solve, T.work.data()));
  T.analysed = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(CusparseIlu &s, cusparseSpMatDescr_t matrix, cusparseOperation_t operation, const double *b, double *x,
                     CusparseTriangle &T)
{
  const double one = 1;

  PetscFunctionBegin;
  AMGKIT_CALL_CUSPARSE(cusparse().DnVecSetValues(s.b, const_cast<double *>(b)));
  AMGKIT_CALL_CUSPARSE(cusparse().DnVecSetValues(s.x, x));
  AMGKIT_CALL_CUSPARSE(cusparse().SpSV_solve(s.handle, operation, &one, matrix, s.b, s.x, CUDA_R_64F, algorithm, T.solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode cusparse_ilu_symbolic(Cuda &ex, CsrView<double> A, Ilu0<Cuda> &f)
{
  auto owner = std::make_unique<CusparseIlu>();
  CusparseIlu &s = *owner;
  double *lu = f.val.data();
  int bytes = 0;

  PetscFunctionBegin;
  PetscCall(s.ptr.allocate(ex, std::int64_t{A.rows} + 1));
  PetscCall(s.col.allocate(ex, A.nnz));
  PetscCall(memory_copy(ex, s.ptr.data(), A.ptr, s.ptr.bytes()));
  PetscCall(memory_copy(ex, s.col.data(), A.col, s.col.bytes()));
  A.ptr = s.ptr.data();
  A.col = s.col.data();
  A.val = lu;
  PetscCall(load_cusparse());
  AMGKIT_CALL_CUSPARSE(cusparse().Create(&s.handle));
  AMGKIT_CALL_CUSPARSE(cusparse().SetStream(s.handle, ex.stream));
  AMGKIT_CALL_CUSPARSE(cusparse().CreateMatDescr(&s.general));
  AMGKIT_CALL_CUSPARSE(cusparse().CreateCsrilu02Info(&s.info));
  AMGKIT_CALL_CUSPARSE(
      cusparse().Dcsrilu02_bufferSize(s.handle, A.rows, static_cast<int>(A.nnz), s.general, lu, A.ptr, A.col, s.info, &bytes));
  PetscCall(allocate_bytes(ex, static_cast<std::size_t>(bytes), s.work));
  // values are not looked at, but must be there
  PetscCall(memory_zero(ex, lu, f.val.bytes()));
  AMGKIT_CALL_CUSPARSE(
      cusparse().Dcsrilu02_analysis(s.handle, A.rows, static_cast<int>(A.nnz), s.general, lu, A.ptr, A.col, s.info, policy, s.work.data()));
  PetscCall(describe(A, CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT, s.lower));
  PetscCall(describe(A, CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT, s.upper));
  AMGKIT_CALL_CUSPARSE(cusparse().CreateDnVec(&s.b, A.rows, f.between.data(), CUDA_R_64F));
  AMGKIT_CALL_CUSPARSE(cusparse().CreateDnVec(&s.x, A.rows, f.inverse.data(), CUDA_R_64F));
  f.state = std::move(owner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode cusparse_ilu_factor(Cuda &, Ilu0<Cuda> &f)
{
  auto &s = static_cast<CusparseIlu &>(*f.state);

  PetscFunctionBegin;
  AMGKIT_CALL_CUSPARSE(cusparse().Dcsrilu02(s.handle, f.rows, static_cast<int>(f.nnz), s.general, f.val.data(), s.ptr.data(), s.col.data(),
                                            s.info, policy, s.work.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode cusparse_ilu_analyse(Cuda &ex, Ilu0<Cuda> &f)
{
  auto &s = static_cast<CusparseIlu &>(*f.state);
  double *lu = f.val.data();

  PetscFunctionBegin;
  PetscCall(analyse(ex, s, s.lower.of, CUSPARSE_OPERATION_NON_TRANSPOSE, lu, s.l));
  PetscCall(analyse(ex, s, s.upper.of, CUSPARSE_OPERATION_NON_TRANSPOSE, lu, s.u));
  if (f.transposed) {
    PetscCall(analyse(ex, s, s.upper.of, CUSPARSE_OPERATION_TRANSPOSE, lu, s.u_t));
    PetscCall(analyse(ex, s, s.lower.of, CUSPARSE_OPERATION_TRANSPOSE, lu, s.l_t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode cusparse_ilu_solve(Cuda &, Ilu0<Cuda> &f, bool transposed, const double *b, double *x)
{
  auto &s = static_cast<CusparseIlu &>(*f.state);
  double *between = f.between.data();

  PetscFunctionBegin;
  if (transposed) {
    PetscCall(solve(s, s.upper.of, CUSPARSE_OPERATION_TRANSPOSE, b, between, s.u_t));
    PetscCall(solve(s, s.lower.of, CUSPARSE_OPERATION_TRANSPOSE, between, x, s.l_t));
  } else {
    PetscCall(solve(s, s.lower.of, CUSPARSE_OPERATION_NON_TRANSPOSE, b, between, s.l));
    PetscCall(solve(s, s.upper.of, CUSPARSE_OPERATION_NON_TRANSPOSE, between, x, s.u));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
