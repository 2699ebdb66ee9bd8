#include "plugins/pc_plugin.hpp"

#include "dist/attempt.hpp"
#include "plugins/pc_consolidated.hpp"

#include <limits>

namespace amgkit
{
namespace
{
PluginPC &data_of(PC pc) { return *static_cast<PluginPC *>(pc->data); }
MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

PetscErrorCode close_solver(PluginPC &data)
{
  PetscFunctionBegin;
  PetscCall(data.clear());
  if (data.solver) PetscCall(data.solver->close());
  data.solver.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt solvers_made = 0; // by this process

// The solver that is there takes the new values if only values have changed, and the user lets it keep what the pattern decides.
PetscErrorCode build(PC pc, PluginPC &data)
{
  const std::string parameters = parameters_summary(data.list);
  bool refresh = false, fits = false;

  PetscFunctionBegin;
  if (data.solver && data.may_refresh() && data.built_with == parameters) PetscCall(data.solver->can_refresh(pc->pmat, &refresh));
  if (refresh) PetscCall(data.solver->refresh(&fits));
  if (!fits) {
    PetscCall(close_solver(data));
    PetscCall(make_consolidated(pc, &data.solver, &data.why_on_all_processes));
    if (!data.solver) PetscCall(data.make(pc));
    data.number = ++solvers_made;
    data.built_with = parameters;
    PetscCall(data.solver->setup(pc->pmat));
    data.solver->set_flexible(data.flexible); // PETSc may set up after PCPreSolve()
  }
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(pc->pmat), &data.seen));
  data.set_up_in = data.seen;
  if (data.solver->fault().none()) PetscCall(data.finish(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What went wrong in the numbers, or for want of memory, is no error: the KSP ends with KSP_DIVERGED_PC_FAILED, unless the user wants
// errors.
PetscErrorCode report(PC pc, const PluginPC &data)
{
  const SetupFault fault = data.fault();
  const char *type = data.type.c_str(), *description = fault.description.c_str();

  PetscFunctionBegin;
  PetscCheck(fault.none() || !pc->erroriffailure, comm_of(pc), fault.code, "PC %s %s", type, description);
  if (!fault.none()) PetscCall(PCSetFailedReason(pc, fault.reason));
  if (!fault.none()) PetscCall(PetscInfo(pc, "%s %s\n", type, description));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whatever goes wrong, no half-built solver stays: PETSc may apply a PC again whose setup ended in an error. After a fault in the values
// what the pattern decides stays, for better ones. Here alone a lack of memory becomes a status.
PetscErrorCode PCSetUp_Plugin(PC pc)
{
  PluginPC &data = data_of(pc);
  bool none_left = false;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  const PetscErrorCode code = out_of_memory([&] { return guarded([&] { return build(pc, data); }); }, &none_left);
  data.status = code ? SetupStatus::error : none_left ? SetupStatus::out_of_memory : SetupStatus::ready;
  if (data.status != SetupStatus::ready) PetscCall(close_solver(data));
  if (code) PetscFunctionReturn(code);
  PetscCall(report(pc, data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// MatBindToCPU() moves a matrix to where the solver cannot read it, and PETSc sees no change that calls for a setup.
PetscErrorCode follow_matrix(PC pc, bool transposed)
{
  const PluginPC &data = data_of(pc);
  PetscFunctionBegin;
  if (data.solver && !data.solver->reaches(pc->pmat, transposed)) PetscCall(PCSetUp_Plugin(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An error on all ranks where the solver cannot be applied to y, because the matrix that was set up has since got other rows or, where it
// is read, was replaced or has another pattern. Communicates only where its state is another than the one seen last.
PetscErrorCode check_unchanged(PluginPC &data, bool transposed, Vec y)
{
  PetscObjectState now;

  PetscFunctionBegin;
  PetscCall(data.solver->check_layout(y));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(data.solver->matrix()), &now));
  if (!data.reads_matrix(transposed) || now == data.seen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(data.solver->check_matrix());
  data.seen = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Before each application to y.
PetscErrorCode prepare_application(PC pc, bool transposed, Vec y)
{
  PluginPC &data = data_of(pc);

  PetscFunctionBegin;
  PetscCall(follow_matrix(pc, transposed));
  if (data.solver) PetscCall(check_unchanged(data, transposed, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y <- B x, or without a usable solver, where there is no answer, infinity: it makes every rank's KSP stop.
PetscErrorCode apply(PC pc, bool transposed, Vec x, Vec y)
{
  PluginPC &data = data_of(pc);

  PetscFunctionBegin;
  PetscCall(prepare_application(pc, transposed, y));
  if (data.usable())
    PetscCall(guarded([&] { return data.apply(pc, transposed, x, y); }));
  else
    PetscCall(VecSet(y, std::numeric_limits<PetscReal>::infinity()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApplyTranspose_Plugin(PC pc, Vec x, Vec y) { return apply(pc, true, x, y); }

PetscErrorCode PCSetFromOptions_Plugin(PC pc, OptionItems items) { return set_from_options(items, data_of(pc).type, data_of(pc).list); }

PetscErrorCode view_ascii(const PluginPC &data, PetscViewer viewer)
{
  const SetupFault fault = data.fault();

  PetscFunctionBegin;
  if (!fault.none()) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", fault.description.c_str()));
  if (!data.solver) PetscFunctionReturn(PETSC_SUCCESS);
  if (data.solver->space()[0]) // none is known where a setup that had no memory was another process's
    PetscCall(PetscViewerASCIIPrintf(viewer, "runs in the %s space\n", data.solver->space()));
  if (const std::string &why = data.solver->why_not_on_gpu; !why.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "not on a GPU, as -amgkit_gpu try allows: %s\n", why.c_str()));
  PetscCall(view_copies(*data.solver, viewer));
  if (!data.why_on_all_processes.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "not consolidated: %s\n", data.why_on_all_processes.c_str()));
  if (fault.none()) PetscCall(data.solver->view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_Plugin(PC pc)
{
  PetscFunctionBegin;
  PetscCall(close_solver(data_of(pc)));
  data_of(pc).status = SetupStatus::ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode view_copies(const Preconditioner &solver, PetscViewer viewer)
{
  const MatCopies *copied = solver.copied();
  double bytes;

  PetscFunctionBegin;
  if (!copied) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(&copied->bytes, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm(reinterpret_cast<PetscObject>(viewer))));
  PetscCall(PetscViewerASCIIPrintf(viewer, "copies of the matrix: its pattern %d times, its values %d times, %.1f MB in all\n",
                                   copied->patterns, copied->values, bytes / 1e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SetupFault PluginPC::fault() const
{
  if (status == SetupStatus::out_of_memory) return {PC_FACTOR_OUTMEMORY, PETSC_ERR_MEM, "failed: out of memory during setup"};
  if (status == SetupStatus::error) return {PC_FACTOR_OTHER, PETSC_ERR_LIB, "failed: the last setup ended in an error"};
  return solver ? solver->fault() : SetupFault{};
}

Preconditioner *solver_of(PC pc)
{
  const bool ours = pc->ops->apply == PCApply_Plugin;
  return ours && data_of(pc).usable() ? data_of(pc).solver.get() : nullptr;
}

PetscObjectState state_of_set_up(PC pc) { return data_of(pc).set_up_in; }

PetscInt number_of_solver(PC pc) { return solver_of(pc) ? data_of(pc).number : 0; }

bool applies_by_kernels(PC pc) { return solver_of(pc) && data_of(pc).applies_solver(); }

PetscErrorCode solver_to_apply(PC pc, Vec y, Preconditioner **solver)
{
  PetscFunctionBegin;
  *solver = nullptr;
  if (!applies_by_kernels(pc)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(prepare_application(pc, false, y));
  *solver = solver_of(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_Plugin(PC pc, Vec x, Vec y) { return apply(pc, false, x, y); }

// With others than a flexible method a preconditioner that changes gives wrong answers, and the method would not notice.
PetscErrorCode PCPreSolve_Plugin(PC pc, KSP ksp, Vec, Vec)
{
  PluginPC &data = data_of(pc);
  KSPType type;

  PetscFunctionBegin;
  PetscCall(follow_matrix(pc, false));
  PetscCall(KSPGetType(ksp, &type));
  const Change change = change_under(type);
  PetscCheck(!data.usable() || !data.changes() || change != Change::forbidden, comm_of(pc), PETSC_ERR_ARG_INCOMP,
             "%s from one application to the next, which KSP %s does not allow: use %s", data.what_changes(), type, data.instead().c_str());
  data.flexible = change == Change::allowed;
  if (data.solver) data.solver->set_flexible(data.flexible);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_Plugin(PC pc, PetscViewer viewer)
{
  const PluginPC &data = data_of(pc);
  return view_pc(viewer, data.type, data.list, [&] { return view_ascii(data, viewer); });
}

PetscErrorCode PCDestroy_Plugin(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Plugin(pc));
  delete static_cast<PluginPC *>(pc->data);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_Plugin(PC pc, std::unique_ptr<PluginPC> data)
{
  PetscFunctionBegin;
  pc->data = data.release();
  pc->ops->setup = PCSetUp_Plugin;
  pc->ops->apply = PCApply_Plugin;
  pc->ops->applytranspose = PCApplyTranspose_Plugin;
  pc->ops->presolve = PCPreSolve_Plugin;
  pc->ops->setfromoptions = PCSetFromOptions_Plugin;
  pc->ops->view = PCView_Plugin;
  pc->ops->reset = PCReset_Plugin;
  pc->ops->destroy = PCDestroy_Plugin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
