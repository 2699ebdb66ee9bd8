#include "sparse/spgemm/spgemm_backends.hpp"

namespace amgkit
{
namespace
{
// What every symbolic call begins with. The pattern of a product with a factor that has no entries is complete after it.
template <class Ex>
PetscErrorCode begin_symbolic(Ex &ex, const SpgemmOptions &options, int rows, int cols, bool empty, Csr<double, Ex> &C,
                              SpgemmPlan<Ex> &plan)
{
  PetscFunctionBegin;
  PetscCheck(spgemm_available<Ex>(options.kind), PETSC_COMM_SELF, PETSC_ERR_SUP, "No sparse products by %s in this build for the space %s",
             options.kind == SpgemmKind::cusparse ? "cusparse" : "kokkos", Ex::name);
  PetscCheck(options.run > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Runs of %d columns", options.run);
  PetscCheck(options.kind != SpgemmKind::native || cols % options.run == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "%d columns are no runs of %d", cols, options.run);
  plan = {};
  plan.kind = options.kind;
  C = {};
  C.rows = rows;
  C.cols = cols;
  if (empty) {
    PetscCall(C.ptr.allocate(ex, std::int64_t{rows} + 1));
    PetscCall(memory_zero(ex, C.ptr.data(), C.ptr.bytes()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_fit(const CsrView<double> &A, const CsrView<double> &B)
{
  PetscFunctionBegin;
  PetscCheck(A.cols == B.rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A product of %d x %d with %d x %d entries", A.rows, A.cols, B.rows,
             B.cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_result(const CsrView<double> &left, const CsrView<double> &right, const Csr<double, Ex> &C)
{
  PetscFunctionBegin;
  PetscCheck(C.rows == left.rows && C.cols == right.cols && C.ptr.size() == std::int64_t{C.rows} + 1, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The result is %d x %d, the product %d x %d", C.rows, C.cols, left.rows, right.cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> SpgemmRows all_rows(Csr<double, Ex> &C) { return {C.rows, C.cols, C.ptr.data(), C.col.data(), C.val.data()}; }

// The back ends of the space besides native.
#if defined(AMGKIT_HAVE_KOKKOS)
constexpr bool have_kokkos = true;
template <class Ex>
PetscErrorCode other_symbolic(Ex &ex, const CsrView<double> &A, const CsrView<double> &B, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  PetscFunctionBegin;
  PetscCall(C.ptr.allocate(ex, std::int64_t{C.rows} + 1));
  PetscCall(kokkos_count(A, B, C.ptr.data(), plan.state));
  PetscCall(C.col.allocate(ex, C.ptr.data()[C.rows]));
  PetscCall(C.val.allocate(ex, C.col.size()));
  PetscCall(kokkos_columns(*plan.state, A, B, C.col.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex>
PetscErrorCode other_numeric(Ex &, const SpgemmPlan<Ex> &plan, const CsrView<double> &A, const CsrView<double> &B, Csr<double, Ex> &C)
{
  return kokkos_numeric(*plan.state, A, B, C.val.data());
}
#else
constexpr bool have_kokkos = false;
#endif
#if defined(AMGKIT_HAVE_KOKKOS_CUDA)
constexpr bool have_kokkos_cuda = true;
#else
constexpr bool have_kokkos_cuda = false;
#endif
#if defined(AMGKIT_HAVE_CUDA)
PetscErrorCode other_symbolic(Cuda &ex, const CsrView<double> &A, const CsrView<double> &B, Csr<double, Cuda> &C, SpgemmPlan<Cuda> &plan)
{
  if constexpr (have_kokkos_cuda) {
    if (plan.kind == SpgemmKind::kokkos) return kokkos_symbolic(ex, A, B, C, plan.state);
  }
  return cusparse_symbolic(ex, A, B, C, plan.state);
}
PetscErrorCode other_numeric(Cuda &ex, const SpgemmPlan<Cuda> &plan, const CsrView<double> &A, const CsrView<double> &B,
                             Csr<double, Cuda> &C)
{
  if constexpr (have_kokkos_cuda) {
    if (plan.kind == SpgemmKind::kokkos) return kokkos_numeric(ex, *plan.state, A, B, C);
  }
  return cusparse_numeric(ex, *plan.state, A, B, C);
}
#endif
template <class Ex> constexpr bool has_kokkos = Ex::on_device ? have_kokkos_cuda : have_kokkos;
template <class Ex> constexpr bool has_other = Ex::on_device || has_kokkos<Ex>;
} // namespace

template <class Ex> bool spgemm_available(SpgemmKind kind)
{
  if constexpr (has_kokkos<Ex>) {
    if (kind == SpgemmKind::kokkos) return kokkos_works();
  }
  return kind == SpgemmKind::native || (kind == SpgemmKind::cusparse && Ex::on_device);
}

namespace
{
// The pattern, and values where native_symbolic() finds both at once
template <class Ex>
PetscErrorCode find_pattern(Ex &ex, const SpgemmOptions &options, const CsrView<double> &A, const CsrView<double> &B,
                            std::int64_t most_values, const GivenRows &given, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  const bool empty = (A.nnz == 0 || B.nnz == 0) && given.M.nnz == 0;

  PetscFunctionBegin;
  PetscCall(check_fit(A, B));
  PetscCall(begin_symbolic(ex, options, A.rows, B.cols, empty, C, plan));
  if (empty) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (has_other<Ex>) {
    if (plan.kind != SpgemmKind::native) PetscFunctionReturn(other_symbolic(ex, A, B, C, plan));
  }
  PetscCall(native_symbolic(ex, options, A, B, most_values, given, C, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode spgemm_symbolic(Ex &ex, const SpgemmOptions &options, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C,
                               SpgemmPlan<Ex> &plan)
{
  return find_pattern(ex, options, A, B, 0, {}, C, plan);
}

template <class Ex>
PetscErrorCode spgemm_product(Ex &ex, SpgemmOptions options, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan,
                              std::int64_t values_bytes, const GivenRows &given)
{
  const std::int64_t most_values = values_bytes / static_cast<std::int64_t>(sizeof(double));

  PetscFunctionBegin;
  PetscCheck(given.n() == 0 || (options.kind == SpgemmKind::native && options.run == 1 && options.rows == 1), PETSC_COMM_SELF,
             PETSC_ERR_SUP, "Rows are given to native alone, and not with runs or blocks");
  PetscCheck(given.n() == 0 || given.M.cols == B.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Rows of %d columns are given, not of %d",
             given.M.cols, B.cols);
  options.with_values = false;
  PetscCall(find_pattern(ex, options, A, B, most_values, given, C, plan));
  if (plan.kind == SpgemmKind::native) {
    if (C.val.size() == C.col.size() || C.col.size() > most_values) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(C.val.allocate(ex, C.col.size()));
  }
  PetscCall(spgemm_numeric(ex, plan, A, B, C));
  PetscCall(spgemm_put_values(ex, given, 0, C.rows, C.ptr.data(), C.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode spgemm_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C)
{
  PetscFunctionBegin;
  PetscCall(check_fit(A, B));
  PetscCall(check_result(A, B, C));
  if (C.col.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (has_other<Ex>) {
    if (plan.kind != SpgemmKind::native) PetscFunctionReturn(other_numeric(ex, plan, A, B, C));
  }
  PetscCall(native_numeric(ex, plan, nullptr, A, B, all_rows(C)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode spgemm_note_places(Ex &ex, CsrView<double> A, CsrView<double> B, const Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  const std::int64_t products = plan.products / (std::int64_t{plan.rows} * plan.inner * plan.run);
  bool spare = false;

  PetscFunctionBegin;
  PetscCall(check_fit(A, B));
  PetscCall(check_result(A, B, C));
  if (plan.kind != SpgemmKind::native || plan.places_sought || C.col.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  plan.places_sought = true;
  PetscCall(memory_to_spare(ex, static_cast<std::size_t>(products) + static_cast<std::size_t>(C.rows / plan.rows) * sizeof(int), &spare));
  if (products >= INT32_MAX || !spare) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(native_note_places(ex, A, B, C, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// part: nullptr for all rows
template <class Ex>
PetscErrorCode numeric_rows(Ex &ex, const SpgemmPlan<Ex> &plan, const SpgemmPart *part, const CsrView<double> &A, const CsrView<double> &B,
                            const SpgemmRows &C)
{
  PetscFunctionBegin;
  PetscCheck(plan.kind == SpgemmKind::native, PETSC_COMM_SELF, PETSC_ERR_SUP, "Only native computes rows of a larger product");
  PetscCall(check_fit(A, B));
  PetscCheck(C.rows == A.rows && C.cols == B.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The result is %d x %d, the product %d x %d", C.rows,
             C.cols, A.rows, B.cols);
  if (A.nnz == 0 || B.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(native_numeric(ex, plan, part, A, B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode spgemm_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  return numeric_rows(ex, plan, nullptr, A, B, C);
}

template <class Ex>
PetscErrorCode spgemm_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, const SpgemmPart &part, CsrView<double> A, CsrView<double> B,
                              const SpgemmRows &C)
{
  return numeric_rows(ex, plan, &part, A, B, C);
}

template <class Ex>
PetscErrorCode triple_product_symbolic(Ex &ex, const SpgemmOptions &options, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                       Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  const bool empty = R.nnz == 0 || A.nnz == 0 || P.nnz == 0;

  PetscFunctionBegin;
  PetscCheck(options.kind == SpgemmKind::native, PETSC_COMM_SELF, PETSC_ERR_SUP, "Only native forms a triple product at once");
  PetscCall(check_fit(R, A));
  PetscCall(check_fit(A, P));
  PetscCall(begin_symbolic(ex, options, R.rows, P.cols, empty, C, plan));
  if (empty) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(native_symbolic(ex, options, R, A, P, C, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode triple_product_numeric(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                      Csr<double, Ex> &C)
{
  PetscFunctionBegin;
  PetscCall(check_fit(R, A));
  PetscCall(check_fit(A, P));
  PetscCall(check_result(R, P, C));
  if (C.col.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(native_numeric(ex, plan, R, A, P, all_rows(C)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using View = CsrView<double>;
AMGKIT_INSTANTIATE(spgemm_available)
AMGKIT_INSTANTIATE(spgemm_symbolic)
AMGKIT_INSTANTIATE(spgemm_product)
AMGKIT_INSTANTIATE(spgemm_note_places)
AMGKIT_INSTANTIATE(triple_product_symbolic)
AMGKIT_INSTANTIATE(triple_product_numeric)
#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &, View, View, Csr<double, Ex> &);                                     \
  template PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &, View, View, const SpgemmRows &);                                    \
  template PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &, const SpgemmPart &, View, View, const SpgemmRows &);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
