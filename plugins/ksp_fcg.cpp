#include "plugins/ksp_fcg.hpp"

#include "krylov/fcg.hpp"
#include "plugins/ksp_of_heads.hpp"
#include "plugins/ksp_shared.hpp"
#include "plugins/pc_plugin.hpp"

#include <array>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

namespace amgkit
{
namespace
{
// In mixed precision: an update is due when the norm is so much smaller than after the last one; and the limit of double precision is
// reached when so many updates have not made the true residual that much smaller.
constexpr PetscReal update_at = 0.01, enough = 0.5;
constexpr int most_stalls = 2;

enum Precision : PetscInt { in_double, in_mixed, where_it_pays };
constexpr std::array precisions = {"double", "mixed", "auto"};

// ksp->data
struct FcgData {
  PetscInt precision = where_it_pays; // what the options say
  std::unique_ptr<FcgSteps> steps;    // from the first solve on, in the space of the solution vector
  std::unique_ptr<SolveVectors> beside;
  KspOfHeads heads; // solves where the preconditioner is consolidated
};
FcgData &fcg_data(KSP ksp) { return *static_cast<FcgData *>(ksp->data); }

// What one solve works with.
struct FcgSolve {
  FcgSteps &steps;
  FcgVectors v;
  Mat A;
  bool by_product;       // whether the preconditioner multiplies, and not MatMult()
  bool can_be_ahead;     // whether B is applied by nothing but its kernels: another solve inside would post scalars, too
  PetscInt solver;       // number_of_solver() when it began
  bool reordered;        // whether that solver has vectors of floats in another order
  bool first = true;     // whether there is no direction yet
  bool applied = false;  // whether w = B r is there already
  int version = 0;       // the preconditioner's, of the last application
  PetscReal updated = 0; // the norm after the last update
  PetscReal norm = 0;    // after the last step,
  PetscReal fell = 0.1;  // and what it was in terms of the norm before; a guess before the first
  int stalls = 0;

  bool stalled() const { return stalls >= most_stalls; }
};

// The work vectors wait for the solution vector: a duplicate of it takes device memory alone, while the vector that KSPCreateVecs() asks
// the matrix for takes page-locked memory of the host too, on several GPUs (PETSc 3.26: 43 ms for 67 MB).
PetscErrorCode drop_steps(KSP ksp)
{
  FcgData &data = fcg_data(ksp);

  PetscFunctionBegin;
  PetscCall(drop_work_vectors(ksp)); // in KSPSetUp(), another type's; before close(), which gives back what is free
  if (data.steps) PetscCall(data.steps->close());
  data.steps.reset();
  PetscCall(data.heads.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(drop_steps(ksp));
  PetscCall(drop_solve_vectors(fcg_data(ksp).beside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_AMGFCG(ksp));
  delete static_cast<FcgData *>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_AMGFCG(KSP ksp, OptionItems PetscOptionsObject)
{
  FcgData &data = fcg_data(ksp);

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "AMGKit amgfcg options");
  PetscCall(
      PetscOptionsEList("-ksp_amgfcg_precision",
                        "Precision of the iterations; mixed: single, with a residual in double now and then; auto: mixed where it pays",
                        "KSPAMGFCG", precisions.data(), precisions.size(), precisions[data.precision], &data.precision, nullptr));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the view says of the last solve
std::string last_solve(KSP ksp)
{
  const FcgSteps *steps = fcg_data(ksp).steps.get();
  if (!steps) return "";
  return std::string("; the last solve was in ") + (steps->mixed() ? "mixed" : "double") + " precision, in the " + steps->space() +
         " space";
}

PetscErrorCode KSPView_AMGFCG(KSP ksp, PetscViewer viewer)
{
  const FcgData &data = fcg_data(ksp);
  std::string last = last_solve(ksp);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (data.heads.has_solved()) PetscCall(data.heads.ask(&last, last_solve));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  precision: %s%s\n", precisions[data.precision], last.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_AMGFCG(KSP ksp, Vec v, Vec *out)
{
  const KspOfHeads &heads = fcg_data(ksp).heads;

  PetscFunctionBegin;
  if (heads.under_way()) PetscCall(heads.build_solution(ksp->vec_sol));
  PetscCall(KSPBuildSolutionDefault(ksp, v, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The order may differ from rank to rank, and be the user's on some: all ask whether there is another solver.
PetscErrorCode check_there(KSP ksp, const FcgSolve &solve, Preconditioner *solver)
{
  const bool other = solver && solve.solver != number_of_solver(ksp->pc) && (solve.reordered || solve.steps.reordered(*solver));
  PetscFunctionBegin;
  PetscCheck(solver && !other, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), PETSC_ERR_ARG_WRONGSTATE,
             "The preconditioner was reset while a solve with it was under way");
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Before its order is read, after the user's functions have run, which may have set up anew.
PetscErrorCode check_order(KSP ksp, const FcgSolve &solve)
{
  return solve.reordered ? check_there(ksp, solve, solver_of(ksp->pc)) : PETSC_SUCCESS;
}

// q = A d and the step along d
PetscErrorCode multiply_and_step(KSP ksp, const FcgSolve &solve)
{
  Preconditioner *solver = solve.by_product ? solver_of(ksp->pc) : nullptr;
  bool as_set_up = false;

  PetscFunctionBegin;
  if (!solver && !solve.steps.mixed()) {
    PetscCall(KSP_MatMult(ksp, solve.A, solve.v.d, solve.v.q));
    PetscCall(solve.steps.advance(solve.v, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(check_there(ksp, solve, solver));
  if (!solver) PetscFunctionReturn(PETSC_ERR_PLIB); // as check_there() has found
  PetscCall(is_as_set_up(ksp, solve.A, &as_set_up));
  PetscCall(PetscLogEventBegin(MAT_Mult, solve.A, nullptr, nullptr, nullptr));
  PetscCall(solve.steps.multiply(*solver, solve.v, as_set_up));
  PetscCall(PetscLogEventEnd(MAT_Mult, solve.A, nullptr, nullptr, nullptr));
  PetscCall(solve.steps.advance(solve.v, solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r = b - A x and, where that is the norm, its norm, which is solve.norm and solve.updated then. w is overwritten.
PetscErrorCode true_residual(KSP ksp, FcgSolve &solve, bool first, bool x_is_zero)
{
  const bool of_norm = ksp->normtype == KSP_NORM_UNPRECONDITIONED;

  PetscFunctionBegin;
  solve.applied = false;
  PetscCall(check_order(ksp, solve));
  PetscCall(solve.steps.complete(solve.v));
  if (x_is_zero) {
    PetscCall(solve.steps.copy(ksp->vec_rhs, solve.v.r));
    if (of_norm) PetscCall(solve.steps.norm(solve.v, &solve.norm));
  } else {
    PetscCall(multiply(ksp, solve.steps, solve.by_product, solve.A, solve.v.x, solve.v.w));
    PetscCall(solve.steps.residual(first, solve.v, ksp->vec_rhs, of_norm ? &solve.norm : nullptr));
  }
  solve.updated = solve.norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// again: what mixed precision has reached, and tested, is taken further.
PetscErrorCode begin(KSP ksp, FcgSolve &solve, bool again)
{
  PetscFunctionBegin;
  PetscCall(true_residual(ksp, solve, true, ksp->guess_zero && !again));
  if (ksp->normtype != KSP_NORM_NATURAL && !again) PetscCall(check_convergence(ksp, solve.updated));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_order(ksp, solve));
  PetscCall(solve.steps.take_residual(solve.v, solve.updated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether all that KSP_PCApply() would project out of w are the constants, which the steps can do where w is.
PetscErrorCode only_constants(KSP ksp, Vec w, bool *only)
{
  MatNullSpace null_space = nullptr;
  Mat A;

  PetscFunctionBegin;
  *only = false;
  if (!space_vector_of(w) || ksp->transpose_solve || ksp->pc_side != PC_LEFT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  PetscCall(MatGetNullSpace(A, &null_space));
  *only = null_space && null_space->has_cnst && null_space->n == 0 && !null_space->remove;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w = B r, whatever the cycle was before
PetscErrorCode apply_preconditioner(KSP ksp, const FcgSolve &solve)
{
  Preconditioner *solver;
  bool only;

  PetscFunctionBegin;
  PetscCall(only_constants(ksp, solve.v.w, &only));
  if (!solve.v.w_in_single && only) {
    PetscCall(PCApply(ksp->pc, solve.v.r, solve.v.w));
    PetscCall(solve.steps.remove_mean(solve.v.w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!solve.v.w_in_single) {
    PetscCall(KSP_PCApply(ksp, solve.v.r, solve.v.w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(solver_to_apply(ksp->pc, solve.v.w, &solver));
  PetscCall(check_there(ksp, solve, solver));
  PetscCall(PetscLogEventBegin(PC_Apply, ksp->pc, nullptr, nullptr, nullptr));
  PetscCall(solve.steps.apply(*solver, solve.v));
  PetscCall(PetscLogEventEnd(PC_Apply, ksp->pc, nullptr, nullptr, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w = B r. After a change of the cycle the directions begin anew: old ones are conjugate for the old B, and conjugate gradients with the
// new one need B r as their first direction.
PetscErrorCode precondition(KSP ksp, FcgSolve &solve)
{
  PetscFunctionBegin;
  PetscCall(apply_preconditioner(ksp, solve));
  const Preconditioner *solver = solver_of(ksp->pc);
  const int version = solver ? solver->version() : solve.version;
  solve.first = solve.first || version != solve.version;
  solve.version = version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the solve is likely to take another step with this residual: the norm falls as it did last, to more than twice what would end the
// solve or call for an update. Nobody knows what a user's test will say.
bool goes_on(KSP ksp, const FcgSolve &solve)
{
  constexpr PetscReal doubt = 2;
  const PetscReal limit = PetscMax(ksp->ttol, solve.steps.mixed() ? update_at * solve.updated : 0);

  if (!solve.can_be_ahead || !solver_of(ksp->pc)) return false;
  if (ksp->its + 1 >= ksp->max_it) return false;
  if (ksp->normtype != KSP_NORM_UNPRECONDITIONED) return true; // the natural norm is known after the application
  return ksp->converged == KSPConvergedDefault && solve.norm * solve.fell > doubt * limit;
}

// The scalars of a step and the norm after it. A GPU does not wait until the host has seen them, if there is a next application of B.
PetscErrorCode learn_of_step(KSP ksp, FcgSolve &solve, FcgScalars *s, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(solve.steps.post_scalars());
  if (goes_on(ksp, solve)) {
    PetscCall(precondition(ksp, solve));
    solve.applied = true;
  }
  PetscCall(solve.steps.scalars(s, norm));
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    solve.fell = *norm / solve.norm;
    if (Preconditioner *solver = solver_of(ksp->pc)) solver->observe(solve.fell); // not the one that an application has replaced
  }
  solve.norm = *norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w = B r and the new direction. The natural norm is that of the residual before the step.
PetscErrorCode next_direction(KSP ksp, FcgSolve &solve)
{
  PetscFunctionBegin;
  if (!solve.applied) PetscCall(precondition(ksp, solve));
  solve.applied = false;
  PetscCall(check_order(ksp, solve));
  PetscCall(solve.steps.project(solve.first, solve.v));
  if (ksp->normtype == KSP_NORM_NATURAL) {
    FcgScalars s;
    PetscReal norm;
    PetscCall(solve.steps.post_scalars());
    PetscCall(solve.steps.scalars(&s, &norm));
    KSPCheckDot(ksp, s.w_r);
    PetscCall(check_convergence(ksp, PetscSqrtReal(PetscMax(0, s.w_r))));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(solve.steps.direct(solve.first, solve.v));
  solve.first = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Mixed precision, after a step: only a residual in double precision ends the solve. One that no longer falls is left to double precision,
// if the user has not asked for mixed.
PetscErrorCode update(KSP ksp, FcgSolve &solve, PetscReal norm)
{
  const PetscReal last = solve.updated;

  PetscFunctionBegin;
  PetscCall(test_convergence(ksp, norm));
  if (ksp->reason <= 0 && !(norm < update_at * last)) {
    PetscCall(record_norm(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->reason = KSP_CONVERGED_ITERATING;
  PetscCall(true_residual(ksp, solve, false, false));
  PetscCall(check_convergence(ksp, solve.updated));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  solve.stalls = solve.updated > enough * last ? solve.stalls + 1 : 0;
  if (!solve.stalled()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(ksp, "The residual no longer falls: mixed precision reaches %g\n", static_cast<double>(solve.updated)));
  if (fcg_data(ksp).precision == in_mixed) ksp->reason = KSP_DIVERGED_BREAKDOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One step along d, unless the method cannot go on.
PetscErrorCode advance(KSP ksp, FcgSolve &solve)
{
  FcgScalars s;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(multiply_and_step(ksp, solve));
  PetscCall(learn_of_step(ksp, solve, &s, &norm));
  for (const PetscScalar product : {s.w_r, s.w_q, s.d_q, s.d_r}) KSPCheckDot(ksp, product);
  if (!(s.d_q > 0)) ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  if (s.w_r == 0) ksp->reason = KSP_DIVERGED_BREAKDOWN; // B r = 0
  if (s.w_r < 0) ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->its++;
  KSPCheckNorm(ksp, norm);
  if (solve.steps.mixed())
    PetscCall(update(ksp, solve, norm));
  else if (ksp->normtype != KSP_NORM_NATURAL)
    PetscCall(check_convergence(ksp, ksp->normtype == KSP_NORM_UNPRECONDITIONED ? norm : 0));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Steps and vectors as this solve needs them.
PetscErrorCode prepare(KSP ksp, Mat A, Preconditioner *product, bool may_mix, FcgVectors *v)
{
  FcgData &data = fcg_data(ksp);
  const bool automatic = data.precision == where_it_pays;
  MatNullSpace null_space;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null_space)); // of which rounded directions would have a part
  const bool wanted = automatic ? !null_space : data.precision == in_mixed;
  const bool mixed = may_mix && wanted && ksp->normtype == KSP_NORM_UNPRECONDITIONED && fcg_can_mix(ksp->vec_sol, product, automatic);
  if (data.steps && (data.steps->mixed() != mixed || are_elsewhere(ksp, *data.steps, product))) PetscCall(drop_steps(ksp));
  PetscCall(
      make_steps(ksp, ksp->vec_sol, mixed ? 2 : 4, data.steps, drop_steps, [&] { return make_fcg_steps(ksp->vec_sol, product, mixed); }));
  *v = {ksp->vec_sol, ksp->work[0], ksp->work[1], mixed ? nullptr : ksp->work[2], mixed ? nullptr : ksp->work[3]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether B is applied to floats: nothing is projected out of w.
PetscErrorCode can_apply(KSP ksp, Mat A, const FcgSteps &steps, const FcgVectors &v, bool *can)
{
  Preconditioner *solver;
  MatNullSpace null_space;

  PetscFunctionBegin;
  *can = false;
  if (!steps.mixed()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(A, &null_space));
  PetscCall(solver_to_apply(ksp->pc, v.w, &solver));
  *can = solver && !null_space && steps.can_apply(*solver);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A null space's own function might solve something.
PetscErrorCode can_be_ahead(KSP ksp, Mat A, const FcgSteps &steps, bool *can)
{
  MatNullSpace null_space;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &null_space));
  *can = steps.runs_alone() && !null_space && applies_by_kernels(ksp->pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As far as one precision goes.
PetscErrorCode iterate(KSP ksp, FcgSolve &solve, bool again)
{
  PetscFunctionBegin;
  PetscCall(begin(ksp, solve, again));
  while (!ksp->reason && !solve.stalled()) {
    PetscCall(next_direction(ksp, solve));
    if (!ksp->reason) PetscCall(advance(ksp, solve));
  }
  PetscCall(solve.steps.complete(solve.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_fcg(KSP ksp)
{
  FcgData &data = fcg_data(ksp);
  Preconditioner *product = nullptr;
  bool may_mix = false, ahead = false;
  Mat A;

  PetscFunctionBegin;
  ksp->its = 0;
  for (bool again = false; !ksp->reason; again = true) {
    FcgVectors v;
    PetscCall(find_product(ksp, &A, &product, &may_mix)); // which a monitor may have replaced
    PetscCall(prepare(ksp, A, product, may_mix && !again, &v));
    PetscCall(can_apply(ksp, A, *data.steps, v, &v.w_in_single));
    if (product) v.order = data.steps->order(*product);
    v.x_may_wait = ksp->numbermonitors == 0 && ksp->converged == KSPConvergedDefault;
    PetscCall(can_be_ahead(ksp, A, *data.steps, &ahead));
    FcgSolve solve = {*data.steps,
                      v,
                      A,
                      product && data.steps->has_product(*product),
                      ahead,
                      number_of_solver(ksp->pc),
                      product && data.steps->reordered(*product)};
    PetscCall(iterate(ksp, solve, again));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_AMGFCG(KSP ksp)
{
  FcgData &data = fcg_data(ksp);
  bool done;

  PetscFunctionBegin;
  PetscCall(data.heads.solve(
      ksp,
      [&](KSP inner) {
        fcg_data(inner).precision = data.precision;
        return PETSC_SUCCESS;
      },
      &done));
  if (!done) PetscCall(solve_beside(ksp, data.beside, solve_fcg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->data = new FcgData;
  ksp->ops->setup = KSPReset_AMGFCG;
  ksp->ops->solve = KSPSolve_AMGFCG;
  ksp->ops->setfromoptions = KSPSetFromOptions_AMGFCG;
  ksp->ops->view = KSPView_AMGFCG;
  ksp->ops->reset = KSPReset_AMGFCG;
  ksp->ops->destroy = KSPDestroy_AMGFCG;
  ksp->ops->buildsolution = KSPBuildSolution_AMGFCG;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
