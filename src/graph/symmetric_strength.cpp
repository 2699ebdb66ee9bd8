#include "graph/symmetric_strength.hpp"

#include "dist/attempt.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode symmetric_strength(Ex &ex, DistMatrix<Ex> &A, StrengthKind kind, const StrengthThresholds &theta, Strength<Ex> &S)
{
  Array<double, Ex> d;

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(d.allocate(ex, A.rows));
    PetscCall(S.diag.allocate(ex, A.diag.nnz));
    PetscCall(S.offd.allocate(ex, A.offd.nnz));
    PetscCall(strength_scales(ex, A.diag, A.offd, kind, d.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  const double *own = d.data();
  HaloExchange<Ex> exchange(A.halo);
  PetscCall(exchange.begin(ex, own)); // while it travels, the own columns
  PetscCall(mark_symmetric(ex, {A.diag, own, own, true}, A.rows, nullptr, theta, S.diag.data()));
  PetscCall(exchange.end());
  PetscCall(mark_symmetric(ex, {A.offd, own, A.halo.template ghost<double>(), false}, A.boundary.size(), A.boundary.data(), theta,
                           S.offd.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(symmetric_strength)
} // namespace amgkit
