// The PC callbacks that all types share: setups, applications, the view, from PETSc's calls to a Preconditioner's.
#pragma once
#include "dist/preconditioner.hpp"
#include "plugins/pc_shared.hpp"

#include <petsc/private/pcimpl.h>

namespace amgkit
{
// How the last setup of a PC ended: memory was lacking, as out_of_memory() has it, or a PETSc error was raised. What went wrong in the
// numbers is the solver's fault().
struct SystemOfHeads;
enum class SetupStatus { ready, out_of_memory, error };

// pc->data. Each type derives from it.
class PluginPC {
public:
  PluginPC() = default;
  PluginPC(const PluginPC &) = delete;
  PluginPC &operator=(const PluginPC &) = delete;
  virtual ~PluginPC() = default;

  std::string type;   // the PC type's name
  ParameterList list; // its parameters, in the order of the view
  std::unique_ptr<Preconditioner> solver;
  PetscObjectState seen = 0;               // the state of solver's matrix when it was last found to be what was set up
  PetscObjectState set_up_in = 0;          // the state of the matrix at the last setup
  PetscInt number = 0;                     // of solver, among all that this process has made
  bool flexible = false;                   // what PCPreSolve() said of the solve that is under way
  std::string built_with;                  // the parameters that solver was set up with
  SetupStatus status = SetupStatus::ready; // of the last setup
  std::string why_on_all_processes;        // where solver is, though it should be on fewer; empty: it should not, or is not

  // Collective: solver for pc->pmat, before its setup.
  virtual PetscErrorCode make(PC) = 0;
  // What the options say of where it runs; and why it cannot be on fewer processes than the PC, or "".
  virtual SpaceKind &space_choice() = 0;
  virtual Consolidation &consolidation() = 0;
  virtual const char *why_on_all() const { return ""; }
  // Collective: what the PC `from`, whose data this is, knows besides its matrix, for the PC inner, on heads, before its setup; nullptr
  // elsewhere.
  virtual PetscErrorCode give(PC /* from */, SystemOfHeads &, PC /* inner */) const { return PETSC_SUCCESS; }
  // Whether a solver that can take new values may.
  virtual bool may_refresh() const { return true; }
  // Collective: what follows the solver's setup.
  virtual PetscErrorCode finish(PC) { return PETSC_SUCCESS; }
  // Collective: frees what finish() made.
  virtual PetscErrorCode clear() { return PETSC_SUCCESS; }
  // Collective: y = B x, or Bᵀ x, by the solver or what finish() put in its place; and whether that reads the matrix.
  virtual PetscErrorCode apply(PC, bool transposed, Vec x, Vec y)
  {
    return transposed ? solver->apply_transpose(x, y) : solver->apply(x, y);
  }
  virtual bool reads_matrix(bool transposed) const { return solver->reads_matrix(transposed); }
  // Whether that is the solver's apply().
  virtual bool applies_solver() const { return true; }
  // Whether what is applied changes from one application to the next; then, what of it does, and what to use in place of a KSP that does
  // not allow it.
  virtual bool changes() const { return !solver->linear(); }
  virtual const char *what_changes() const = 0;
  virtual std::string instead() const = 0;
  // Whether the last setup left something to apply, and what it says if not: "failed: ..."
  bool usable() const { return solver && fault().none(); }
  SetupFault fault() const;
};

// What this PC applies, nullptr if it is none of these types, or has nothing to apply; and the state that its matrix had in the last setup.
Preconditioner *solver_of(PC pc);
PetscObjectState state_of_set_up(PC pc);
// The number of its solver, which no other of this process has or had; 0: there is none.
PetscInt number_of_solver(PC pc);
// Whether PCApply() is the apply() of a solver here, and nothing else.
bool applies_by_kernels(PC pc);
// Collective: the same, where PCApply() to vectors like y would be its apply(), after what PCApply() does before that.
PetscErrorCode solver_to_apply(PC pc, Vec y, Preconditioner **solver);
// Gives pc this data and the shared callbacks; takes ownership.
PetscErrorCode PCCreate_Plugin(PC pc, std::unique_ptr<PluginPC> data);
// The callbacks that a type may call or extend.
PetscErrorCode PCApply_Plugin(PC pc, Vec x, Vec y);
PetscErrorCode PCPreSolve_Plugin(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode PCView_Plugin(PC pc, PetscViewer viewer);
PetscErrorCode PCDestroy_Plugin(PC pc);
// Collective: what was copied to the space of a solver that has its matrix elsewhere.
PetscErrorCode view_copies(const Preconditioner &, PetscViewer);
} // namespace amgkit
