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

// How the last setup of a PC ended: memory was lacking, as out_of_memory() has it, or a PETSc error was raised.
enum class SetupStatus { ready, out_of_memory, error };

// The one place where a lack of memory becomes a status. Runs work(), guarded; its errors are status error. Collective.
PetscErrorCode run_setup(const std::function<PetscErrorCode()> &work, SetupStatus *status);

// What a Krylov method makes of a preconditioner that changes from one application to the next: it keeps its promises all the same; makes
// none, or its residual stays the true one; gives wrong answers without noticing.
enum class Change { allowed, unknown, forbidden };
Change change_under(const char *ksp_type);

// A matrix's state, which all that changes its values or its pattern increases, on all ranks alike.
PetscErrorCode state_of(Mat, PetscObjectState *);

// An error on all ranks where solver cannot be applied to y, because the matrix that was set up has since got other rows or, where it is
// read, was replaced or has another pattern. Collective; communicates only where its state is another than `seen`, which follows it.
template <class Solver> PetscErrorCode check_unchanged(const Solver &solver, bool reads, Vec y, PetscObjectState *seen)
{
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(solver.check_rows(y));
  PetscCall(state_of(solver.matrix(), &now));
  if (!reads || now == *seen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(solver.check_matrix());
  *seen = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PCSetFromOptions: the options -pc_<type>_<name>
PetscErrorCode set_from_options(OptionItems, const std::string &type, const ParameterList &);
// PCView: the parameters and, to an ASCII viewer, what more() prints.
PetscErrorCode view_pc(PetscViewer, const std::string &type, const ParameterList &, const std::function<PetscErrorCode()> &more);
} // namespace amgkit
