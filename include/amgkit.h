/* AMGKit: multigrid and ILU preconditioners for PETSc, on NVIDIA GPUs and CPUs.

   A program needs this header only when it links the library; otherwise PETSc loads it:
     PETSC_OPTIONS="-dll_append /path/to/libamgkit.so" ./program -pc_type amgmatching */
#pragma once
#include <petscksp.h>

#define PCAMGMATCHING "amgmatching"   /* aggregation by maximum-weight matching */
#define PCAMGCLASSICAL "amgclassical" /* classical coarsening by PMIS, interpolation by matrix products */
#define PCAMGSA "amgsa"               /* smoothed aggregation with near-null spaces */
#define PCILU2LEVEL "ilu2level"       /* ILU(0) of each process's rows, one level or two */
#define KSPAMGFCG "amgfcg"            /* flexible conjugate gradients, for k-cycles on symmetric matrices */
#define KSPAMGFGMRES "amgfgmres"      /* flexible GMRES, for any matrix */

#if defined(__cplusplus)
extern "C" {
#endif

/* Makes the types of AMGKit known to PCSetType() and -pc_type, KSPSetType() and -ksp_type.

   Call it after PetscInitialize(), as often as you like; PetscFinalize() undoes it. Not collective.
   Errors: PETSC_ERR_SUP when the running PETSc has another minor version, scalar type or index size than the one that the
   library was built with. */
__attribute__((visibility("default"))) PetscErrorCode AMGKitRegister(void);

#if defined(__cplusplus)
}
#endif
