// What hangs on PETSc's objects under a name, without being owned by them.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
// What was attached to the object, or nullptr.
inline void *attached(PetscObject object, const char *name)
{
  PetscContainer container = nullptr;
  void *what = nullptr;

  if (!object || PetscObjectQuery(object, name, reinterpret_cast<PetscObject *>(&container))) return nullptr;
  return container && !PetscContainerGetPointer(container, &what) ? what : nullptr;
}

inline PetscErrorCode attach(PetscObject object, const char *name, void *what)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, what));
  PetscCall(PetscObjectCompose(object, name, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode detach(PetscObject object, const char *name) { return PetscObjectCompose(object, name, nullptr); }
} // namespace amgkit
