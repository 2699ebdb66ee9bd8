#include "dist/gathered_rows.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode GatheredRows<Ex>::create(Ex &ex, MPI_Comm comm, Halo<Ex> &halo, const DistRows &B, int before, const LocalWork &after)
{
  PetscFunctionBegin;
  rows_before_ = before;
  PetscCall(ghost_.create(ex, comm, halo, B, no_work, [&] {
    PetscFunctionBegin;
    if (!apart(B)) PetscCall(stack_rows(ex, ghost_.around(B, rows_before_), stacked_));
    PetscCall(after());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GatheredRows<Ex>::update(Ex &ex, const DistRows &B)
{
  PetscFunctionBegin;
  PetscCall(ghost_.update(ex, B));
  if (!apart(B)) PetscCall(stack_values(ex, ghost_.around(B, rows_before_), stacked_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, GatheredRows)
} // namespace amgkit
