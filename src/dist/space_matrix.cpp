#include "dist/space_matrix.hpp"

namespace amgkit
{
namespace
{
constexpr const char *name_on_mat = "AMGKitSpaceMatrix";
}

SpaceMatrix *space_matrix_of(Mat A)
{
  PetscContainer container = nullptr;
  void *matrix = nullptr;

  if (!A || PetscObjectQuery(reinterpret_cast<PetscObject>(A), name_on_mat, reinterpret_cast<PetscObject *>(&container))) return nullptr;
  if (!container || PetscContainerGetPointer(container, &matrix)) return nullptr;
  return static_cast<SpaceMatrix *>(matrix);
}

PetscErrorCode attach(Mat A, SpaceMatrix *matrix)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &container));
  PetscCall(PetscContainerSetPointer(container, matrix));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(A), name_on_mat, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode detach(Mat A) { return PetscObjectCompose(reinterpret_cast<PetscObject>(A), name_on_mat, nullptr); }
} // namespace amgkit
