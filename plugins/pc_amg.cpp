#include "plugins/pc_amg.hpp"

#include "amgkit.h"
#include "plugins/pc_amg_mg.hpp"

#include <cstring>
#include <limits>

namespace amgkit
{
namespace
{
AmgPC &data_of(PC pc) { return *static_cast<AmgPC *>(pc->data); }

PetscErrorCode close_solver(AmgPC &data)
{
  PetscFunctionBegin;
  PetscCall(PCDestroy(&data.mg));
  if (data.solver) PetscCall(data.solver->close());
  data.solver.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *describe(SetupStatus status)
{
  switch (status) {
  case SetupStatus::ready:
    return "ready";
  case SetupStatus::out_of_memory:
    return "failed: out of memory during setup";
  case SetupStatus::error:
    return "failed: the last setup ended in an error";
  }
  return "";
}

// What went wrong in the numbers is no error: the KSP ends with KSP_DIVERGED_PC_FAILED, unless the user wants errors.
PetscErrorCode report(PC pc, SetupStatus status)
{
  PCFailedReason reason = PC_NOERROR;

  PetscFunctionBegin;
  if (status == SetupStatus::out_of_memory) reason = PC_FACTOR_OUTMEMORY;
  PetscCheck(status == SetupStatus::ready || !pc->erroriffailure, PetscObjectComm(reinterpret_cast<PetscObject>(pc)),
             PETSC_ERR_NOT_CONVERGED, "PC %s %s", data_of(pc).type.c_str(), describe(status));
  PetscCall(PCSetFailedReason(pc, reason));
  if (data_of(pc).mg) PetscCall(take_failure_of_mg(pc));
  if (status != SetupStatus::ready) PetscCall(PetscInfo(pc, "%s %s\n", data_of(pc).type.c_str(), describe(status)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The solver that is there takes the new values if only values have changed, and the user lets it keep its interpolation.
PetscErrorCode build(PC pc, AmgPC &data)
{
  const std::string parameters = parameters_summary(data.list);
  bool refresh = false, fits = false;

  PetscFunctionBegin;
  if (data.solver && data.parameters.reuse_interpolation && data.built_with == parameters)
    PetscCall(data.solver->can_refresh(pc->pmat, &refresh));
  if (refresh) PetscCall(data.solver->refresh(pc->pmat, &fits));
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(close_solver(data));
  PetscCall(make_preconditioner(pc->pmat, data.parameters, data.method, data.solver));
  data.built_with = parameters;
  PetscCall(PCGetDM(pc, &data.coordinates.dm));
  PetscCall(data.solver->setup(pc->pmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The levels, and the PCMG that applies them when it is asked for.
PetscErrorCode build_all(PC pc, AmgPC &data)
{
  PetscFunctionBegin;
  PetscCall(build(pc, data));
  PetscCall(state_of(pc->pmat, &data.seen));
  if (!data.parameters.export_mg)
    PetscCall(PCDestroy(&data.mg));
  else
    PetscCall(export_to_mg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whatever goes wrong, no half-built solver stays: PETSc may apply a PC again whose setup ended in an error.
PetscErrorCode PCSetUp_AMG(PC pc)
{
  AmgPC &data = data_of(pc);

  PetscFunctionBegin;
  const PetscErrorCode code = run_setup([&] { return build_all(pc, data); }, &data.status);
  if (data.status != SetupStatus::ready) PetscCall(close_solver(data));
  if (code) PetscFunctionReturn(code);
  PetscCall(report(pc, data.status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// MatBindToCPU() moves a matrix to where the levels cannot read it, and PETSc sees no change that calls for a setup.
PetscErrorCode follow_matrix(PC pc)
{
  const AmgPC &data = data_of(pc);
  PetscFunctionBegin;
  if (data.solver && !data.solver->stands_where(pc->pmat)) PetscCall(PCSetUp_AMG(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_mg(PC pc, PetscErrorCode (*apply)(PC, Vec, Vec), Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(apply(data_of(pc).mg, x, y));
  PetscCall(take_failure_of_mg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y <- f(), or without a hierarchy, where there is no answer, infinity: it makes every rank's KSP stop.
template <class F> PetscErrorCode answer(PC pc, Vec y, F f)
{
  AmgPC &data = data_of(pc);
  PetscFunctionBegin;
  PetscCall(follow_matrix(pc));
  if (data.solver) PetscCall(check_unchanged(*data.solver, !data.mg, y, &data.seen));
  if (!data.solver)
    PetscCall(VecSet(y, std::numeric_limits<PetscReal>::infinity()));
  else
    PetscCall(guarded(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_AMG(PC pc, Vec x, Vec y)
{
  AmgPC &data = data_of(pc);
  return answer(pc, y, [&] { return data.mg ? apply_mg(pc, PCApply, x, y) : data.solver->apply(x, y); });
}

PetscErrorCode PCApplyTranspose_AMG(PC pc, Vec x, Vec y)
{
  AmgPC &data = data_of(pc);
  return answer(pc, y, [&] { return data.mg ? apply_mg(pc, PCApplyTranspose, x, y) : data.solver->apply_transpose(x, y); });
}

// w = b - A y with the operator as it is now, which is more than the levels know: they may be older, or stored in single precision.
PetscErrorCode residual(PC pc, Vec b, Vec y, bool zero_guess, Vec w)
{
  PetscFunctionBegin;
  if (zero_guess)
    PetscCall(VecCopy(b, w));
  else
    PetscCall(MatResidual(pc->mat, b, y, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What KSPConvergedDefault() would say of a residual norm.
KSPConvergedReason judge(PetscReal norm, PetscReal start, PetscReal rtol, PetscReal abstol, PetscReal dtol)
{
  if (PetscIsInfOrNanReal(norm)) return KSP_DIVERGED_NANORINF;
  if (norm <= abstol) return KSP_CONVERGED_ATOL;
  if (norm <= rtol * start) return KSP_CONVERGED_RTOL;
  return norm > dtol * start ? KSP_DIVERGED_DTOL : KSP_CONVERGED_ITERATING;
}

// y <- its steps of y + B (b - A y). Tests the true residual before each, unless the KSP takes a fixed number of steps. The reason is
// KSP's, also where PCRichardsonConvergedReason has no name for it.
PetscErrorCode PCApplyRichardson_AMG(PC pc, Vec b, Vec y, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                     PetscBool zero_guess, PetscInt *taken, PCRichardsonConvergedReason *reason)
{
  const AmgPC &data = data_of(pc);
  const bool test = !data.fixed_steps && (rtol > 0 || abstol > 0);
  PetscReal start = 0, norm = 0;
  KSPConvergedReason why = KSP_CONVERGED_ITERATING;
  Vec correction;
  bool failed = false;

  PetscFunctionBegin;
  *taken = 0;
  PetscCall(VecDuplicate(y, &correction));
  if (zero_guess) PetscCall(VecSet(y, 0));
  if (test) PetscCall(VecNorm(b, NORM_2, &start));
  while (why == KSP_CONVERGED_ITERATING) {
    if (!test && *taken == its) break;
    PetscCall(residual(pc, b, y, zero_guess && *taken == 0, w));
    if (test) PetscCall(VecNorm(w, NORM_2, &norm));
    if (test) why = judge(norm, start, rtol, abstol, dtol);
    if (why == KSP_CONVERGED_ITERATING && *taken == its) why = KSP_DIVERGED_ITS;
    if (why != KSP_CONVERGED_ITERATING) break;
    PetscCall(PCApply_AMG(pc, w, correction));
    PetscCall(VecAXPY(y, 1, correction));
    ++*taken;
  }
  PetscCall(VecDestroy(&correction));
  if (why == KSP_CONVERGED_ITERATING) why = KSP_CONVERGED_ITS;
  if (data.mg) PetscCall(mg_failed(pc, &failed));
  if (!data.solver || failed) why = KSP_DIVERGED_PC_FAILED;
  *reason = static_cast<PCRichardsonConvergedReason>(why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode takes_fixed_steps(KSP ksp, bool *fixed)
{
  PetscErrorCode (*test)(KSP, PetscInt, PetscReal, KSPConvergedReason *, void *);
  PetscFunctionBegin;
  PetscCall(KSPGetConvergenceTest(ksp, &test, nullptr, nullptr));
  *fixed = test == KSPConvergedSkip;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The KSP that is about to solve decides whether the preconditioner may change. With others than a flexible method a k-cycle gives wrong
// answers, and the method would not notice.
PetscErrorCode PCPreSolve_AMG(PC pc, KSP ksp, Vec, Vec)
{
  AmgPC &data = data_of(pc);
  KSPType type;

  PetscFunctionBegin;
  PetscCall(takes_fixed_steps(ksp, &data.fixed_steps));
  PetscCall(follow_matrix(pc));
  if (data.mg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetType(ksp, &type));
  const Change change = change_under(type);
  PetscCheck(change != Change::forbidden || data.parameters.cycle_type != CycleKind::k, PetscObjectComm(reinterpret_cast<PetscObject>(pc)),
             PETSC_ERR_ARG_INCOMP,
             "The k-cycle changes from one application to the next, which KSP %s does not allow: use -ksp_type amgfcg, fgmres or gcr, or "
             "-pc_%s_cycle_type auto",
             type, data.type.c_str());
  if (data.solver) PetscCall(guarded([&] { return data.solver->set_flexible(change == Change::allowed); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_AMG(PC pc, KSP, Vec, Vec)
{
  AmgPC &data = data_of(pc);
  PetscFunctionBegin;
  data.fixed_steps = false;
  if (data.solver) PetscCall(guarded([&] { return data.solver->set_flexible(false); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSetFromOptions_AMG(PC pc, OptionItems items)
{
  const AmgPC &data = data_of(pc);
  return set_from_options(items, data.type, data.list);
}

PetscErrorCode PCView_AMG(PC pc, PetscViewer viewer)
{
  const AmgPC &data = data_of(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(view_pc(viewer, data.type, data.list, [&] {
    PetscFunctionBegin;
    if (data.status != SetupStatus::ready) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", describe(data.status)));
    if (data.solver) {
      PetscCall(PetscViewerASCIIPrintf(viewer, "runs in the %s space\n", data.solver->space()));
      PetscCall(data.solver->view(viewer));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii && data.mg) PetscCall(PCView(data.mg, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The nodes' coordinates, dim numbers a node, copied. They count from the next setup on, which builds all levels anew. Not collective.
PetscErrorCode PCSetCoordinates_AMG(PC pc, PetscInt dim, PetscInt nodes, PetscReal *coordinates)
{
  AmgPC &data = data_of(pc);

  PetscFunctionBegin;
  data.coordinates.dim = static_cast<int>(dim);
  PetscCall(guarded([&] {
    data.coordinates.of_nodes.assign(coordinates, coordinates + dim * nodes);
    return PETSC_SUCCESS;
  }));
  data.built_with.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_AMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(close_solver(data_of(pc)));
  data_of(pc).status = SetupStatus::ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_AMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_AMG(pc));
  PetscCall(remove_getters(pc));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", nullptr));
  delete static_cast<AmgPC *>(pc->data);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode PCCreate_AMG(PC pc, std::unique_ptr<AmgPC> data)
{
  PetscFunctionBegin;
  pc->data = data.release();
  pc->ops->setup = PCSetUp_AMG;
  pc->ops->apply = PCApply_AMG;
  pc->ops->applytranspose = PCApplyTranspose_AMG;
  pc->ops->applyrichardson = PCApplyRichardson_AMG;
  pc->ops->presolve = PCPreSolve_AMG;
  pc->ops->postsolve = PCPostSolve_AMG;
  pc->ops->setfromoptions = PCSetFromOptions_AMG;
  pc->ops->view = PCView_AMG;
  pc->ops->reset = PCReset_AMG;
  pc->ops->destroy = PCDestroy_AMG;
  PetscCall(compose_getters(pc));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", PCSetCoordinates_AMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
