// The state of PETSc's objects, which tells that their values have changed. PETSc documents these functions and exports them, but declares
// them in a private header.
#pragma once
#include "base/compat.hpp"

PETSC_EXTERN PetscErrorCode PetscObjectStateGet(PetscObject, PetscObjectState *);
PETSC_EXTERN PetscErrorCode PetscObjectStateSet(PetscObject, PetscObjectState);

namespace amgkit
{
inline PetscErrorCode next_state(PetscObject object)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(object, &state));
  PetscCall(PetscObjectStateSet(object, state + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
