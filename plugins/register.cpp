// Registration with PETSc: when the library is loaded as a plugin, and by AMGKitRegister().
#include "amgkit.h"
#include "base/gpu_start.hpp"
#include "base/log.hpp"
#include "dist/neighbour_messages.hpp"
#include "plugins/ksp_fcg.hpp"
#include "plugins/ksp_fgmres.hpp"
#include "plugins/pc_classical.hpp"
#include "plugins/pc_ilu2level.hpp"
#include "plugins/pc_matching.hpp"
#include "plugins/pc_sa.hpp"

extern "C" __attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_amgkit(void);

namespace amgkit
{
namespace
{
// Whether this PETSc session knows the types; written under AMGKitRegister() and PetscFinalize() only.
bool &registered()
{
  static bool done = false;
  return done;
}

PetscErrorCode forget()
{
  registered() = false;
  return PETSC_SUCCESS;
}

// PC's private structure changes with every minor version, and a plugin is loaded into whatever PETSc there is: compare what
// runs with what this was compiled for, through calls whose interface does not depend on either.
PetscErrorCode check_petsc()
{
  PetscInt major = 0, minor = 0, patch = 0, release = 0;
  PetscDataType scalar, index;
  PetscBool found;
  size_t scalar_size, index_size;

  PetscFunctionBegin;
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(scalar == PETSC_SCALAR, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "AMGKit needs a PETSc with real scalars in double precision; this one has %s",
             scalar == PETSC_COMPLEX ? "complex scalars" : "another scalar type");
  PetscCall(PetscDataTypeGetSize(scalar, &scalar_size));
  PetscCall(PetscDataTypeFromString("int", &index, &found));
  PetscCall(PetscDataTypeGetSize(found ? index : PETSC_INT, &index_size));
  PetscCheck(scalar_size == sizeof(PetscScalar) && (!found || index_size == sizeof(PetscInt)), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "AMGKit was built for %d-bit PetscInt, this PETSc has %d-bit PetscInt", static_cast<int>(8 * sizeof(PetscInt)),
             static_cast<int>(8 * index_size));
  PetscCall(PetscGetVersionNumber(&major, &minor, &patch, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "AMGKit was built for PETSc %d.%d and cannot be used with PETSc %d.%d: build it against this PETSc", PETSC_VERSION_MAJOR,
             PETSC_VERSION_MINOR, static_cast<int>(major), static_cast<int>(minor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
} // namespace amgkit

PetscErrorCode AMGKitRegister(void)
{
  PetscFunctionBegin;
  if (amgkit::registered()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(amgkit::check_petsc());
  PetscCall(amgkit::log_register());
  PetscCall(amgkit::read_gpu_aware_mpi());
  PetscCall(PCRegister(PCAMGMATCHING, amgkit::PCCreate_AMGMatching));
  PetscCall(PCRegister(PCAMGCLASSICAL, amgkit::PCCreate_AMGClassical));
  PetscCall(PCRegister(PCAMGSA, amgkit::PCCreate_AMGSA));
  PetscCall(PCRegister(PCILU2LEVEL, amgkit::PCCreate_ILU2Level));
  PetscCall(KSPRegister(KSPAMGFCG, amgkit::KSPCreate_AMGFCG));
  PetscCall(KSPRegister(KSPAMGFGMRES, amgkit::KSPCreate_AMGFGMRES));
  PetscCall(amgkit::start_gpu_if_asked());
  amgkit::registered() = true;
  PetscCall(PetscRegisterFinalize(amgkit::forget));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_amgkit(void) { return AMGKitRegister(); }
