#include "graph/symmetric_strength.hpp"

#include "dist/attempt.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode symmetric_strength(Ex &ex, DistMatrix<Ex> &A, const SymmetricRule &rule, const std::type_identity_t<Array<double, Ex>> *B,
                                  Strength<Ex> &S, const std::type_identity_t<NodeCouplings<Ex>> *c)
{
  Array<double, Ex> root, w, ghost_w, ghost_B;
  RowScales scales;
  SignedValues by;

  PetscFunctionBegin;
  const bool cancel = rule.cancel_positive && rule.strong > 0;
  if (!cancel) B = nullptr; // nothing is judged by it
  const auto ghosts = static_cast<std::int64_t>(A.ghosts.size());
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(root.allocate(ex, A.rows));
    PetscCall(S.diag.allocate(ex, A.diag.nnz));
    PetscCall(S.offd.allocate(ex, A.offd.nnz));
    if (cancel) PetscCall(w.allocate(ex, A.rows));
    if (cancel) PetscCall(ghost_w.allocate(ex, ghosts));
    if (B) PetscCall(ghost_B.allocate(ex, ghosts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (B) {
    PetscCall(A.halo.exchange_into(ex, B->data(), ghost_B));
    scales = {B->data(), ghost_B.data()};
  }
  if (cancel && c) by = {c->diag.data(), c->offd.data()};
  PetscCall(strength_scales(ex, A.diag, A.offd, scales, by, rule, root.data(), w.data()));
  const double *own = root.data(), *own_w = w.data();
  if (cancel) PetscCall(A.halo.exchange_into(ex, own_w, ghost_w));
  HaloExchange<Ex> exchange(A.halo);
  PetscCall(exchange.begin(ex, own)); // while it travels, the own columns
  PetscCall(mark_symmetric(ex, {A.diag, scales, by.diag, own, own_w, own, own_w, true}, A.rows, nullptr, rule, S.diag.data()));
  PetscCall(exchange.end());
  PetscCall(mark_symmetric(ex, {A.offd, scales, by.offd, own, own_w, A.halo.template ghost<double>(), ghost_w.data(), false},
                           A.boundary.size(), A.boundary.data(), rule, S.offd.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(symmetric_strength)
} // namespace amgkit
