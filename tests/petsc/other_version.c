/* Linked into a program: the plugin then sees the PETSc version after the one that there is. */
#include <petscsys.h>

PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = PETSC_VERSION_MINOR + 1;
  if (subminor) *subminor = 0;
  if (release) *release = 1;
  return 0;
}
