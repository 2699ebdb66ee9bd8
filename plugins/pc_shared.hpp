// What the callbacks of all types do alike.
#pragma once
#include "base/parameters.hpp"

#include <exception>
#include <functional>
#include <new>
#include <petscmat.h>

namespace amgkit
{
// Runs the body of a callback; what the standard library throws becomes a PETSc error.
template <class F> PetscErrorCode guarded(F body)
{
  try {
    return body();
  } catch (const std::bad_alloc &) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "Out of host memory");
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", e.what());
  }
}

// What a Krylov method makes of a preconditioner that changes from one application to the next: it keeps its promises all the same; makes
// none, or its residual stays the true one; gives wrong answers without noticing.
enum class Change { allowed, unknown, forbidden };
Change change_under(const char *ksp_type);

// PCSetFromOptions: the options -pc_<type>_<name>
PetscErrorCode set_from_options(OptionItems, const std::string &type, const ParameterList &);
// PCView: the parameters and, to an ASCII viewer, what more() prints.
PetscErrorCode view_pc(PetscViewer, const std::string &type, const ParameterList &, const std::function<PetscErrorCode()> &more);
} // namespace amgkit
