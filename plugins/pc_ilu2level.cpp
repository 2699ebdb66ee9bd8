#include "plugins/pc_ilu2level.hpp"

#include "amgkit.h"
#include "ilu/preconditioner.hpp"
#include "plugins/pc_shared.hpp"

#include <limits>
#include <petsc/private/pcimpl.h>

namespace amgkit
{
namespace
{
// pc->data
struct IluPC {
  IluParameters parameters;
  ParameterList list = parameters.list();
  std::unique_ptr<IluPreconditioner> solver;
  PetscObjectState seen = 0; // the state of solver's matrix when it was last found to be what was set up
  std::string built_with;    // the parameters that solver was set up with
  IluSetup setup;            // how the last one went in the numbers
  SetupStatus status = SetupStatus::ready;
};

IluPC &ilu_of(PC pc) { return *static_cast<IluPC *>(pc->data); }
MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

PetscErrorCode close_solver(IluPC &data)
{
  PetscFunctionBegin;
  if (data.solver) PetscCall(data.solver->close());
  data.solver.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What went wrong, in PETSc's terms
struct Failure {
  PCFailedReason reason = PC_NOERROR;
  PetscErrorCode code = PETSC_SUCCESS;
  std::string description = "ready";
};

Failure failure_of(SetupStatus status, const IluSetup &setup)
{
  const std::string row = " of row " + std::to_string(setup.row);
  if (status == SetupStatus::out_of_memory) return {PC_FACTOR_OUTMEMORY, PETSC_ERR_MEM, "failed: out of memory during setup"};
  switch (setup.fault) {
  case IluFault::none:
    break;
  case IluFault::no_diagonal: // for PETSc's matrices an error before: check_entries()
    return {PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "failed: the diagonal entry" + row + " is missing"};
  case IluFault::zero_pivot:
    return {PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "failed: the pivot" + row + " is zero: see -pc_ilu2level_shift_type"};
  case IluFault::not_finite:
    return {PC_FACTOR_OTHER, PETSC_ERR_FP, "failed: the factors" + row + " are not finite"};
  }
  return {};
}

// What went wrong in the numbers is no error: the KSP ends with KSP_DIVERGED_PC_FAILED, unless the user wants errors.
PetscErrorCode report(PC pc, const Failure &failure)
{
  PetscFunctionBegin;
  PetscCheck(failure.reason == PC_NOERROR || !pc->erroriffailure, comm_of(pc), failure.code, "PC %s %s", PCILU2LEVEL,
             failure.description.c_str());
  PetscCall(PCSetFailedReason(pc, failure.reason));
  if (failure.reason != PC_NOERROR) PetscCall(PetscInfo(pc, "%s %s\n", PCILU2LEVEL, failure.description.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where only values have changed, the analysis that is there serves for new factors.
PetscErrorCode build(PC pc, IluPC &data)
{
  const std::string parameters = parameters_summary(data.list);
  const char *prefix;
  bool refresh = false;

  PetscFunctionBegin;
  if (data.solver && data.built_with == parameters) PetscCall(data.solver->can_refresh(pc->pmat, &refresh));
  if (refresh) {
    PetscCall(data.solver->refresh(data.setup));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(close_solver(data));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(make_ilu_preconditioner(pc->pmat, data.parameters, prefix, data.solver));
  data.built_with = parameters;
  PetscCall(data.solver->setup(pc->pmat, data.setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// No half-built solver stays: PETSc may apply a PC again whose setup ended in an error. After a bad pivot the analysis stays, for better
// values.
PetscErrorCode PCSetUp_ILU2Level(PC pc)
{
  IluPC &data = ilu_of(pc);

  PetscFunctionBegin;
  const PetscErrorCode code = run_setup([&] { return build(pc, data); }, &data.status);
  PetscCall(state_of(pc->pmat, &data.seen));
  if (data.status != SetupStatus::ready) PetscCall(close_solver(data));
  if (code) PetscFunctionReturn(code);
  PetscCall(report(pc, failure_of(data.status, data.setup)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y <- f(), or without factors, where there is no answer, infinity: it makes every rank's KSP stop. MatBindToCPU() moves a matrix to where
// it is out of reach, and PETSc sees no change that calls for a setup.
template <class F> PetscErrorCode answer(PC pc, bool transposed, Vec y, F f)
{
  IluPC &data = ilu_of(pc);

  PetscFunctionBegin;
  if (data.solver && !data.solver->reaches(pc->pmat, transposed)) PetscCall(PCSetUp_ILU2Level(pc));
  if (data.solver) PetscCall(check_unchanged(*data.solver, data.solver->reads_matrix(transposed), y, &data.seen));
  if (!data.solver || !data.setup.ready())
    PetscCall(VecSet(y, std::numeric_limits<PetscReal>::infinity()));
  else
    PetscCall(guarded(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_ILU2Level(PC pc, Vec x, Vec y)
{
  const IluPC &data = ilu_of(pc);
  return answer(pc, false, y, [&] { return data.solver->apply(x, y); });
}

PetscErrorCode PCApplyTranspose_ILU2Level(PC pc, Vec x, Vec y)
{
  const IluPC &data = ilu_of(pc);
  return answer(pc, true, y, [&] { return data.solver->apply_transpose(x, y); });
}

// With others than a flexible method the steps for the Schur complement give wrong answers, and the method would not notice.
PetscErrorCode PCPreSolve_ILU2Level(PC pc, KSP ksp, Vec, Vec)
{
  const IluPC &data = ilu_of(pc);
  KSPType type;

  PetscFunctionBegin;
  PetscCall(KSPGetType(ksp, &type));
  PetscCheck(!data.solver || !data.setup.ready() || data.solver->linear() || change_under(type) != Change::forbidden, comm_of(pc),
             PETSC_ERR_ARG_INCOMP,
             "Two levels change from one application to the next, which KSP %s does not allow: use -ksp_type fgmres or gcr, or "
             "-pc_%s_levels 1",
             type, PCILU2LEVEL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_ILU2Level(PC pc, OptionItems items) { return set_from_options(items, PCILU2LEVEL, ilu_of(pc).list); }

PetscErrorCode view_ascii(const IluPC &data, PetscViewer viewer)
{
  const Failure failure = failure_of(data.status, data.setup);
  const IluSetup &setup = data.setup;

  PetscFunctionBegin;
  if (data.status == SetupStatus::error) PetscCall(PetscViewerASCIIPrintf(viewer, "failed: the last setup ended in an error\n"));
  if (failure.reason != PC_NOERROR) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", failure.description.c_str()));
  if (!data.solver) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "runs in the %s space\n", data.solver->space()));
  if (!setup.ready()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(data.solver->view(viewer));
  if (setup.shift_amount > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "diagonals shifted, by at most %g, after %" PetscInt_FMT " new starts\n", setup.shift_amount,
                                     setup.shifts));
  else if (setup.shifts > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pivots shifted: %" PetscInt_FMT "\n", setup.shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_ILU2Level(PC pc, PetscViewer viewer)
{
  const IluPC &data = ilu_of(pc);
  return view_pc(viewer, PCILU2LEVEL, data.list, [&] { return view_ascii(data, viewer); });
}

PetscErrorCode PCReset_ILU2Level(PC pc)
{
  IluPC &data = ilu_of(pc);

  PetscFunctionBegin;
  PetscCall(close_solver(data));
  data.setup = {};
  data.status = SetupStatus::ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_ILU2Level(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_ILU2Level(pc));
  delete static_cast<IluPC *>(pc->data);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PCCreate_ILU2Level(PC pc)
{
  PetscFunctionBegin;
  PetscCall(guarded([&] {
    pc->data = new IluPC;
    return PETSC_SUCCESS;
  }));
  pc->ops->setup = PCSetUp_ILU2Level;
  pc->ops->apply = PCApply_ILU2Level;
  pc->ops->applytranspose = PCApplyTranspose_ILU2Level;
  pc->ops->presolve = PCPreSolve_ILU2Level;
  pc->ops->setfromoptions = PCSetFromOptions_ILU2Level;
  pc->ops->view = PCView_ILU2Level;
  pc->ops->reset = PCReset_ILU2Level;
  pc->ops->destroy = PCDestroy_ILU2Level;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
