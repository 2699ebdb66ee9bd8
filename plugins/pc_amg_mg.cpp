#include "plugins/pc_amg_mg.hpp"

#include "dist/attempt.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// Collective: where nobody has asked for fewer processes, who asks for the levels gets them on all, from now on.
PetscErrorCode bring_levels_back(PC pc)
{
  AmgPC &data = amg_of(pc);

  PetscFunctionBegin;
  if (data.levels() || data.parameters.consolidation.kind != ConsolidateKind::copied) PetscFunctionReturn(PETSC_SUCCESS);
  data.levels_asked = true;
  data.built_with.clear(); // so that nothing is kept
  PetscCall((*pc->ops->setup)(pc));
  if (data.status == SetupStatus::out_of_memory) PetscFunctionReturn(PETSC_ERR_MEM);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the matrices of all levels, coarsest first.
PetscErrorCode make_levels(PC pc, LevelMats &levels)
{
  AmgPC &data = amg_of(pc);
  MatType type;

  PetscFunctionBegin;
  PetscCheck(data.solver, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONGSTATE,
             "There are no levels yet: call PCSetUp() first");
  PetscCall(bring_levels_back(pc));
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCheck(data.levels(), PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "The levels are on fewer processes than the matrix: use -pc_%s_consolidate no", data.type.c_str());
  PetscCall(guarded([&] { return data.levels()->export_to(type, levels); }));
  for (std::vector<Mat> *mats : {&levels.operators, &levels.interpolations, &levels.restrictions}) std::reverse(mats->begin(), mats->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One kind of the levels' matrices, for the caller to own, in an array for PetscFree()
PetscErrorCode give(PC pc, std::vector<Mat> LevelMats::*kind, PetscInt *levels, Mat **out)
{
  LevelMats made;

  PetscFunctionBegin;
  PetscCall(
      need_memory_for("the levels' matrices", PetscObjectComm(reinterpret_cast<PetscObject>(pc)), [&] { return make_levels(pc, made); }));
  std::vector<Mat> &mats = made.*kind;
  *levels = static_cast<PetscInt>(mats.size()) + 1;
  PetscCall(PetscMalloc1(mats.size() + 1, out));
  std::copy(mats.begin(), mats.end(), *out);
  mats.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGetInterpolations_AMG(PC pc, PetscInt *levels, Mat **out) { return give(pc, &LevelMats::interpolations, levels, out); }
PetscErrorCode PCGetCoarseOperators_AMG(PC pc, PetscInt *levels, Mat **out) { return give(pc, &LevelMats::operators, levels, out); }

// With pc's prefix, so that the options read as those of a PCMG in pc's place; -pc_type, which is meant for pc, is not read.
PetscErrorCode create_mg(PC pc, PetscInt levels, PC *mg)
{
  const char *prefix;
  PC inner;

  PetscFunctionBegin;
  PetscCall(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), mg));
  inner = *mg;
  PetscCall(PetscObjectIncrementTabLevel(reinterpret_cast<PetscObject>(inner), reinterpret_cast<PetscObject>(pc), 1));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(inner, prefix));
  PetscCall(PCSetErrorIfFailure(inner, pc->erroriffailure));
  PetscCall(PCSetType(inner, PCMG));
  PetscCall(PCMGSetLevels(inner, levels, nullptr));
  PetscCall(PCMGSetGalerkin(inner, PC_MG_GALERKIN_NONE));
  for (PetscInt l = 1; l < levels; l++) {
    KSP smoother;
    PC jacobi;
    PetscCall(PCMGGetSmoother(inner, l, &smoother));
    PetscCall(KSPSetType(smoother, KSPCHEBYSHEV));
    PetscCall(KSPGetPC(smoother, &jacobi));
    PetscCall(PCSetType(jacobi, PCJACOBI));
  }
  PetscObjectOptionsBegin(reinterpret_cast<PetscObject>(inner));
  PetscCall((*inner->ops->setfromoptions)(inner, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode compose_getters(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCGetInterpolations_C", PCGetInterpolations_AMG));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCGetCoarseOperators_C", PCGetCoarseOperators_AMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode remove_getters(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCGetInterpolations_C", nullptr));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), "PCGetCoarseOperators_C", nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mg_failed(PC pc, bool *failed)
{
  PCFailedReason inner;
  int any;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(amg_of(pc).mg, &inner));
  any = inner != PC_NOERROR;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(pc))));
  *failed = any != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode export_to_mg(PC pc)
{
  AmgPC &data = amg_of(pc);
  LevelMats levels;
  PetscInt present = 0;
  bool failed = false;

  PetscFunctionBegin;
  PetscCall(make_levels(pc, levels));
  if (data.mg) PetscCall(mg_failed(pc, &failed));
  if (failed) PetscCall(PCDestroy(&data.mg)); // what failed once says so for ever
  const auto wanted = static_cast<PetscInt>(levels.operators.size()) + 1;
  if (data.mg) PetscCall(PCMGGetLevels(data.mg, &present));
  if (present != wanted) {
    PetscCall(PCDestroy(&data.mg));
    PetscCall(create_mg(pc, wanted, &data.mg));
  } else {
    PetscCall(PCSetErrorIfFailure(data.mg, pc->erroriffailure)); // it may have changed
  }
  PetscCall(PCSetOperators(data.mg, pc->mat, pc->pmat));
  for (PetscInt l = 0; l < wanted; l++) {
    KSP ksp;
    Mat A = l + 1 < wanted ? levels.operators[l] : pc->pmat;
    PetscCall(PCMGGetSmoother(data.mg, l, &ksp));
    PetscCall(KSPSetOperators(ksp, l + 1 < wanted ? A : pc->mat, A));
    if (l > 0) PetscCall(PCMGSetInterpolation(data.mg, l, levels.interpolations[l - 1]));
    if (l > 0 && levels.restrictions[l - 1]) PetscCall(PCMGSetRestriction(data.mg, l, levels.restrictions[l - 1]));
  }
  PetscCall(PCSetUp(data.mg));
  PetscCall(take_failure_of_mg(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_failure_of_mg(PC pc)
{
  PCFailedReason inner;
  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(amg_of(pc).mg, &inner));
  if (inner != PC_NOERROR) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
