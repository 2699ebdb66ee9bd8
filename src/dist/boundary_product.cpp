#include "dist/boundary_product.hpp"

#include "sparse/spgemm/row_slices.hpp"

namespace amgkit
{
namespace
{
// A's rows that have ghosts, these among their own columns. Waits.
template <class Ex> PetscErrorCode stack_boundary(Ex &ex, const DistMatrix<Ex> &A, Csr<double, Ex> &rows)
{
  Csr<double, Ex> diag, offd;

  PetscFunctionBegin;
  PetscCall(copy_rows(ex, A.diag, A.boundary, true, diag));
  PetscCall(copy_rows(ex, A.offd, A.boundary, true, offd));
  PetscCall(stack_rows(ex, {{diag.view()}, {offd.view()}, A.ghosts_before()}, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode BoundaryProduct<Ex>::create(Ex &ex, const SpgemmOptions &options, const DistMatrix<Ex> &A, CsrView<double> P)
{
  Csr<double, Ex> rows;

  PetscFunctionBegin;
  PetscCall(stack_boundary(ex, A, rows));
  PetscCall(spgemm_product(ex, options, rows.view(), P, AP_, plan_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode BoundaryProduct<Ex>::multiply(Ex &ex, const DistMatrix<Ex> &A, CsrView<double> P)
{
  Csr<double, Ex> rows;

  PetscFunctionBegin;
  PetscCall(stack_boundary(ex, A, rows));
  PetscCall(spgemm_numeric(ex, plan_, rows.view(), P, AP_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, BoundaryProduct)
} // namespace amgkit
