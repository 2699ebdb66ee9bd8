// What differs between the PETSc versions this source compiles with (3.18 to 3.26), and what it needs of each.
#pragma once
#include <petscsys.h>

#if defined(PETSC_USE_COMPLEX)
  #error "AMGKit needs a PETSc with real scalars"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
  #error "AMGKit needs a PETSc in double precision"
#endif
#if PETSC_VERSION_LT(3, 18, 0) || PETSC_VERSION_GT(3, 26, 99)
  #error "AMGKit supports PETSc 3.18 to 3.26"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS static_cast<PetscErrorCode>(0)
#endif

namespace amgkit
{
// Whether PETSc itself has vectors and matrices on NVIDIA GPUs, streams for them, and an MPI that may be told of their memory.
inline constexpr bool petsc_has_cuda = PetscDefined(HAVE_CUDA);

// The handle that setfromoptions callbacks receive; a plain pointer until 3.22.
#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems *;
#else
using OptionItems = PetscOptionItems;
#endif

// What destroys a context that a user gave with a callback.
#if PETSC_VERSION_LT(3, 23, 0)
using DestroyContext = PetscErrorCode(void *);
inline PetscErrorCode destroy_context(DestroyContext *destroy, void **context) { return destroy(*context); }
#else
using DestroyContext = PetscCtxDestroyFn;
inline PetscErrorCode destroy_context(DestroyContext *destroy, void **context) { return destroy(context); }
#endif
} // namespace amgkit
