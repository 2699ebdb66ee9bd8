#include "plugins/ksp_fgmres.hpp"

#include "krylov/fgmres.hpp"
#include "plugins/ksp_of_heads.hpp"
#include "plugins/ksp_shared.hpp"

#include <petsc/private/kspimpl.h>

namespace amgkit
{
namespace
{
// Where the directions are exhausted, a cycle that has left more than this of the residual has got nowhere.
constexpr PetscReal least_gain = 0.5;
// A norm that ends the solve is believed if rounding errors are at most this share of it. A matrix with a few entries of 1e12 has a
// residual of 1e-5 where the norm says 1e-8.
constexpr PetscReal most_rounding = 0.1;

// What the user has called before each application of the preconditioner, to change it
struct ModifyPC {
  PetscErrorCode (*call)(KSP, PetscInt, PetscInt, PetscReal, void *) = nullptr;
  void *context = nullptr;
  DestroyContext *destroy = nullptr;
};

// ksp->data
struct FgmresData {
  PetscInt restart = 30;
  ModifyPC modify;
  std::unique_ptr<FgmresSteps> steps; // from the first solve on, in the space of the solution vector
  std::unique_ptr<SolveVectors> beside;
  HessenbergProblem problem; // of the last cycle
  bool under_way = false;    // it is not at its end: ksp->vec_sol is the solution of its beginning
  KspOfHeads heads;          // solves where the preconditioner is consolidated
};
FgmresData &fgmres_data(KSP ksp) { return *static_cast<FgmresData *>(ksp->data); }

// What one solve works with.
struct FgmresSolve {
  FgmresSteps &steps;
  HessenbergProblem &problem;
  Vec u, w, z;
  Mat A;
  bool by_product;     // whether the preconditioner multiplies, and not MatMult()
  PetscReal began = 0; // the norm at the beginning of the cycle
};

// The work vectors wait for the solution vector, as in amgfcg.
PetscErrorCode drop_fgmres_steps(KSP ksp)
{
  FgmresData &data = fgmres_data(ksp);

  PetscFunctionBegin;
  PetscCall(drop_work_vectors(ksp)); // in KSPSetUp(), another type's; before close(), which gives back what is free
  if (data.steps) PetscCall(data.steps->close());
  data.steps.reset();
  data.problem = {};
  data.under_way = false;
  PetscCall(data.heads.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_AMGFGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(drop_fgmres_steps(ksp));
  PetscCall(drop_solve_vectors(fgmres_data(ksp).beside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_modify_pc(KSP ksp, decltype(ModifyPC::call) call, void *context, DestroyContext *destroy)
{
  ModifyPC &modify = fgmres_data(ksp).modify;

  PetscFunctionBegin;
  if (modify.destroy) PetscCall(destroy_context(modify.destroy, &modify.context));
  modify = {call, context, destroy};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_restart(KSP ksp, PetscInt restart)
{
  PetscFunctionBegin;
  PetscCheck(restart >= 1 && restart <= 100000, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_amgfgmres_restart %" PetscInt_FMT ": a cycle has 1 to 100000 iterations", restart);
  fgmres_data(ksp).restart = restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_restart(KSP ksp, PetscInt *restart)
{
  *restart = fgmres_data(ksp).restart;
  return PETSC_SUCCESS;
}

// PETSc 3.24 has both names of one function, those before it the first one, and those after it the second one.
PetscErrorCode compose(KSP ksp, bool there)
{
  auto *object = reinterpret_cast<PetscObject>(ksp);

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction(object, "KSPGMRESSetRestart_C", there ? set_restart : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "KSPGMRESGetRestart_C", there ? get_restart : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "KSPFGMRESSetModifyPC_C", there ? set_modify_pc : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "KSPFlexibleSetModifyPC_C", there ? set_modify_pc : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_AMGFGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_AMGFGMRES(ksp));
  PetscCall(set_modify_pc(ksp, nullptr, nullptr, nullptr));
  PetscCall(compose(ksp, false));
  delete static_cast<FgmresData *>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_AMGFGMRES(KSP ksp, OptionItems PetscOptionsObject)
{
  PetscInt restart = fgmres_data(ksp).restart;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "AMGKit amgfgmres options");
  PetscCall(PetscOptionsInt("-ksp_amgfgmres_restart", "Iterations of a cycle", "KSPGMRESSetRestart", restart, &restart, nullptr));
  PetscOptionsHeadEnd();
  PetscCall(set_restart(ksp, restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the view says of the last solve
std::string last_fgmres_solve(KSP ksp)
{
  const FgmresSteps *steps = fgmres_data(ksp).steps.get();
  return steps ? std::string("; the last solve was in the ") + steps->space() + " space" : "";
}

PetscErrorCode KSPView_AMGFGMRES(KSP ksp, PetscViewer viewer)
{
  const FgmresData &data = fgmres_data(ksp);
  std::string last = last_fgmres_solve(ksp);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (data.heads.has_solved()) PetscCall(data.heads.ask(&last, last_fgmres_solve));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  restart: %" PetscInt_FMT "%s\n", data.restart, last.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The solution that an iteration has, also in the middle of a cycle: ksp->vec_sol is then that of its beginning.
PetscErrorCode KSPBuildSolution_AMGFGMRES(KSP ksp, Vec v, Vec *out)
{
  const FgmresData &data = fgmres_data(ksp);
  if (data.heads.under_way()) {
    PetscFunctionBegin;
    PetscCall(data.heads.build_solution(v ? v : ksp->vec_sol));
    if (out) *out = v ? v : ksp->vec_sol;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool under_way = data.under_way && data.problem.columns() > 0;
  Vec to = v ? v : under_way ? ksp->work[2] : ksp->vec_sol;

  PetscFunctionBegin;
  if (under_way)
    PetscCall(data.steps->correct(data.problem.solution(), ksp->vec_sol, to));
  else if (v)
    PetscCall(VecCopy(ksp->vec_sol, v));
  if (out) *out = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the cycle under way, or the last one: what f says of its columns, where these are
PetscErrorCode ask_columns(KSP ksp, std::vector<double> *numbers,
                           const std::function<PetscErrorCode(const HessenbergProblem &, std::vector<double> *)> &f)
{
  const FgmresData &data = fgmres_data(ksp);

  PetscFunctionBegin;
  if (data.heads.has_solved())
    PetscCall(data.heads.ask(numbers, [&](KSP inner, std::vector<double> *of_heads) { return f(fgmres_data(inner).problem, of_heads); }));
  else
    PetscCall(f(data.problem, numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeExtremeSingularValues_AMGFGMRES(KSP ksp, PetscReal *most, PetscReal *least)
{
  std::vector<double> extremes;

  PetscFunctionBegin;
  PetscCall(ask_columns(ksp, &extremes, [](const HessenbergProblem &problem, std::vector<double> *numbers) {
    numbers->resize(2);
    return problem.extreme_singular_values(&numbers->front(), &numbers->back());
  }));
  *most = extremes.front();
  *least = extremes.back();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPComputeEigenvalues_AMGFGMRES(KSP ksp, PetscInt room, PetscReal *real, PetscReal *imaginary, PetscInt *count)
{
  std::vector<double> parts;

  PetscFunctionBegin;
  PetscCall(ask_columns(ksp, &parts, [](const HessenbergProblem &problem, std::vector<double> *numbers) {
    std::vector<std::complex<double>> values;
    PetscFunctionBegin;
    PetscCall(problem.eigenvalues(&values));
    for (const auto &value : values) numbers->insert(numbers->end(), {value.real(), value.imag()});
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  *count = static_cast<PetscInt>(parts.size() / 2);
  PetscCheck(room >= *count, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), PETSC_ERR_ARG_SIZ,
             "There are %" PetscInt_FMT " eigenvalues, and room for %" PetscInt_FMT, *count, room);
  for (std::size_t k = 0; k < parts.size(); k += 2) {
    *real++ = parts[k];
    *imaginary++ = parts[k + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// u of a new cycle from the residual, which is tested if the last iteration's was not.
PetscErrorCode begin_cycle(KSP ksp, FgmresSolve &solve, bool x_is_zero)
{
  const PetscReal before = solve.began;
  const bool exhausted = solve.problem.exhausted();

  PetscFunctionBegin;
  if (!exhausted) solve.problem.begin(0); // else it stays for the user if this ends the solve
  if (!x_is_zero) PetscCall(multiply(ksp, solve.steps, solve.by_product, solve.A, ksp->vec_sol, solve.w));
  PetscCall(solve.steps.residual(ksp->vec_rhs, x_is_zero ? nullptr : solve.w, solve.u, &solve.began));
  PetscCall(check_convergence(ksp, solve.began));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  if (exhausted && !(solve.began <= least_gain * before)) ksp->reason = KSP_DIVERGED_BREAKDOWN;
  if (solve.began == 0) ksp->reason = KSP_CONVERGED_ATOL; // whatever the user's test says
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  solve.problem.begin(solve.began);
  fgmres_data(ksp).under_way = true;
  PetscCall(solve.steps.normalise(solve.began, solve.u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The user's call, after which the preconditioner, and A, may be others.
PetscErrorCode modify_pc(KSP ksp, FgmresSolve &solve)
{
  const ModifyPC &modify = fgmres_data(ksp).modify;
  Preconditioner *product;
  bool same_values;

  PetscFunctionBegin;
  if (!modify.call) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(modify.call(ksp, ksp->its, solve.problem.columns(), ksp->rnorm, modify.context));
  PetscCall(find_product(ksp, &solve.A, &product, &same_values));
  solve.by_product = product && solve.steps.has_product(*product);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The next column, from z = B u and w = A z
PetscErrorCode next_column(KSP ksp, FgmresSolve &solve, FgmresColumn *column)
{
  const int k = solve.problem.columns();

  PetscFunctionBegin;
  PetscCall(solve.steps.reserve(k));
  PetscCall(modify_pc(ksp, solve));
  PetscCall(solve.steps.with_direction(k, solve.z, [&] {
    PetscFunctionBegin;
    PetscCall(KSP_PCApply(ksp, solve.u, solve.z));
    PetscCall(multiply(ksp, solve.steps, solve.by_product, solve.A, solve.z, solve.w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(solve.steps.orthogonalise(k, solve.w, solve.u, column));
  KSPCheckNorm(ksp, column->numbers.w_w);
  KSPCheckNorm(ksp, column->numbers.u_u);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the iteration is the last one of the cycle, and of the solve. Where the directions are exhausted, only the residual says whether
// the solution was found or the method cannot go on.
PetscErrorCode iterate(KSP ksp, FgmresSolve &solve, bool *last)
{
  FgmresColumn column;

  PetscFunctionBegin;
  *last = true;
  PetscCall(next_column(ksp, solve, &column));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal norm = solve.problem.add(column);
  const bool exhausted = solve.problem.exhausted();
  ksp->its++;
  ksp->rnorm = norm;
  if (!exhausted || ksp->normtype == KSP_NORM_NONE) PetscCall(test_convergence(ksp, norm));
  if (exhausted && ksp->normtype == KSP_NORM_NONE)
    ksp->reason = solve.problem.singular() ? KSP_DIVERGED_BREAKDOWN : KSP_CONVERGED_HAPPY_BREAKDOWN;
  if (!exhausted && !ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  const bool doubtful = ksp->reason > 0 && ksp->normtype != KSP_NORM_NONE && solve.problem.rounding() > most_rounding * norm;
  if (doubtful) ksp->reason = KSP_CONVERGED_ITERATING; // the next cycle begins with the residual itself
  *last = ksp->reason || exhausted || doubtful || solve.problem.columns() >= fgmres_data(ksp).restart;
  if (!*last) PetscCall(record_norm(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// x of what the cycle has found, and the record of its last iteration where no other cycle follows.
PetscErrorCode end_cycle(KSP ksp, FgmresSolve &solve)
{
  const bool any = fgmres_data(ksp).under_way && solve.problem.columns() > 0;

  PetscFunctionBegin;
  if (any && ksp->reason != KSP_DIVERGED_PC_FAILED) PetscCall(solve.steps.correct(solve.problem.solution(), ksp->vec_sol, ksp->vec_sol));
  fgmres_data(ksp).under_way = false;
  if (!ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (any && ksp->reason != KSP_DIVERGED_PC_FAILED && ksp->reason != KSP_DIVERGED_NANORINF) PetscCall(record_norm(ksp, ksp->rnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Steps and vectors as this solve needs them.
PetscErrorCode prepare(KSP ksp, Preconditioner *product)
{
  FgmresData &data = fgmres_data(ksp);

  PetscFunctionBegin;
  if (data.steps && are_elsewhere(ksp, *data.steps, product)) PetscCall(drop_fgmres_steps(ksp));
  PetscCall(make_steps(ksp, ksp->vec_sol, 3, data.steps, drop_fgmres_steps, [&] { return make_fgmres_steps(ksp->vec_sol, product); }));
  data.problem = {};
  data.under_way = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_fgmres(KSP ksp)
{
  FgmresData &data = fgmres_data(ksp);
  Preconditioner *product = nullptr;
  bool same_values = false, x_is_zero = ksp->guess_zero;
  Mat A;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(find_product(ksp, &A, &product, &same_values));
  PetscCall(prepare(ksp, product));
  FgmresSolve solve = {
      *data.steps, data.problem, ksp->work[0], ksp->work[1], ksp->work[2], A, product && data.steps->has_product(*product)};
  while (!ksp->reason) {
    PetscCall(begin_cycle(ksp, solve, x_is_zero));
    for (bool last = ksp->reason; !last;) PetscCall(iterate(ksp, solve, &last));
    PetscCall(end_cycle(ksp, solve));
    x_is_zero = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A user's function that changes the preconditioner runs beside it: the heads' is no other's business.
PetscErrorCode KSPSolve_AMGFGMRES(KSP ksp)
{
  FgmresData &data = fgmres_data(ksp);
  bool done = false;

  PetscFunctionBegin;
  if (!data.modify.call)
    PetscCall(data.heads.solve(
        ksp, [&](KSP inner) { return set_restart(inner, data.restart); }, &done));
  if (!done) PetscCall(solve_beside(ksp, data.beside, solve_fgmres));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_AMGFGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  ksp->data = new FgmresData;
  ksp->ops->setup = KSPReset_AMGFGMRES;
  ksp->ops->solve = KSPSolve_AMGFGMRES;
  ksp->ops->setfromoptions = KSPSetFromOptions_AMGFGMRES;
  ksp->ops->view = KSPView_AMGFGMRES;
  ksp->ops->reset = KSPReset_AMGFGMRES;
  ksp->ops->destroy = KSPDestroy_AMGFGMRES;
  ksp->ops->buildsolution = KSPBuildSolution_AMGFGMRES;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_AMGFGMRES;
  ksp->ops->computeeigenvalues = KSPComputeEigenvalues_AMGFGMRES;
  PetscCall(compose(ksp, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
