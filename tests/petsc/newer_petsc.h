/* Names that PETSc's newer example programs use, for an older PETSc. */
#pragma once
#include <petscsys.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif
#if PETSC_VERSION_LT(3, 26, 0)
  #define PetscCtx void *
#endif
