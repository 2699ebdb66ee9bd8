#include "plugins/pc_amg.hpp"

#include "plugins/pc_amg_mg.hpp"
#include "plugins/pc_consolidated.hpp"

#include <array>

namespace amgkit
{
namespace
{
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
  const AmgPC &data = amg_of(pc);
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
    PetscCall(PCApply_Plugin(pc, w, correction));
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

PetscErrorCode PCPreSolve_AMG(PC pc, KSP ksp, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(takes_fixed_steps(ksp, &amg_of(pc).fixed_steps));
  PetscCall(PCPreSolve_Plugin(pc, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPostSolve_AMG(PC pc, KSP, Vec, Vec)
{
  AmgPC &data = amg_of(pc);
  PetscFunctionBegin;
  data.fixed_steps = data.flexible = false;
  if (data.solver) data.solver->set_flexible(false);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_AMG(PC pc, PetscViewer viewer)
{
  const AmgPC &data = amg_of(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PCView_Plugin(pc, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii && data.mg) PetscCall(PCView(data.mg, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The nodes' coordinates, dim numbers a node, copied. They count from the next setup on, which builds all levels anew. Not collective.
PetscErrorCode PCSetCoordinates_AMG(PC pc, PetscInt dim, PetscInt nodes, PetscReal *coordinates)
{
  AmgPC &data = amg_of(pc);

  PetscFunctionBegin;
  data.coordinates.dim = static_cast<int>(dim);
  PetscCall(guarded([&] {
    data.coordinates.of_nodes.assign(coordinates, coordinates + dim * nodes);
    return PETSC_SUCCESS;
  }));
  data.built_with.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCDestroy_AMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(remove_getters(pc));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", nullptr));
  PetscCall(PCDestroy_Plugin(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode AmgPC::make(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &coordinates.dm));
  PetscCall(make_amg_preconditioner(pc->pmat, parameters, method, solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The nodes' coordinates, of all processes of a group in their order; and what the discretisation says where nothing is attached.
PetscErrorCode AmgPC::give(PC from, SystemOfHeads &system, PC inner) const
{
  const NodeGroups &groups = system.groups;
  std::array<int, 2> dims = {coordinates.dim, -coordinates.dim};
  MatNullSpace attached, of_field = nullptr, of_heads;
  DM dm;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, dims.data(), 2, MPI_INT, MPI_MAX, groups.all()));
  PetscCheck(dims[0] == -dims[1], groups.all(), PETSC_ERR_ARG_WRONG, "Coordinates have %d dimensions on some ranks, %d on others", -dims[1],
             dims[0]);
  if (dims[0] > 0) {
    std::vector<double> of_group;
    PetscCall(groups.collect(coordinates.of_nodes, &of_group));
    if (inner) amg_of(inner).coordinates.dim = dims[0];
    if (inner) amg_of(inner).coordinates.of_nodes = std::move(of_group);
  }
  PetscCall(PCGetDM(from, &dm));
  PetscCall(MatGetNearNullSpace(from->pmat, &attached));
  if (!attached) PetscCall(near_null_space_of_field(from->pmat, dm, &of_field));
  PetscCall(null_space_of_heads(system, of_field, &of_heads));
  if (inner) amg_of(inner).coordinates.of_field = of_heads; // which the matrix keeps
  if (of_heads)
    PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(system.matrix.matrix()), "amgkit_of_field",
                                 reinterpret_cast<PetscObject>(of_heads)));
  PetscCall(MatNullSpaceDestroy(&of_heads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmgPC::finish(PC pc)
{
  PetscFunctionBegin;
  if (parameters.export_mg)
    PetscCall(export_to_mg(pc));
  else
    PetscCall(PCDestroy(&mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AmgPC::apply(PC pc, bool transposed, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (!mg) {
    PetscCall(PluginPC::apply(pc, transposed, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(transposed ? PCApplyTranspose(mg, x, y) : PCApply(mg, x, y));
  PetscCall(take_failure_of_mg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_AMG(PC pc, std::unique_ptr<AmgPC> data)
{
  PetscFunctionBegin;
  PetscCall(PCCreate_Plugin(pc, std::move(data)));
  pc->ops->applyrichardson = PCApplyRichardson_AMG;
  pc->ops->presolve = PCPreSolve_AMG;
  pc->ops->postsolve = PCPostSolve_AMG;
  pc->ops->view = PCView_AMG;
  pc->ops->destroy = PCDestroy_AMG;
  PetscCall(compose_getters(pc));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCSetCoordinates_C", PCSetCoordinates_AMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
