#include "plugins/ksp_fcg.hpp"

#include "krylov/fcg.hpp"
#include "plugins/pc_plugin.hpp"

#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

namespace amgkit
{
namespace
{
// ksp->data
struct Steps {
  std::unique_ptr<FcgSteps> steps; // once there is a solution vector, in whose space they are
};
Steps &data_of(KSP ksp) { return *static_cast<Steps *>(ksp->data); }

// What a solve works with. product: the preconditioner, where it has a product with the operator.
struct Work {
  FcgSteps &steps;
  Vec r, w, d, q;
  Mat A;
  Preconditioner *product;
};

// The work vectors wait for the solution vector: a duplicate of it takes device memory alone, while the vector that KSPCreateVecs() asks
// the matrix for takes page-locked memory of the host too, on several GPUs (PETSc 3.26: 43 ms for 67 MB).
PetscErrorCode KSPReset_AMGFCG(KSP ksp)
{
  std::unique_ptr<FcgSteps> &steps = data_of(ksp).steps;

  PetscFunctionBegin;
  if (steps) PetscCall(steps->close());
  steps.reset();
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work)); // in KSPSetUp(), another type's
  ksp->nwork = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_AMGFCG(ksp));
  delete static_cast<Steps *>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Records and shows the norm of iteration ksp->its; ksp->reason says whether it is the last.
PetscErrorCode check_convergence(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  PetscCall(PetscObjectSAWsTakeAccess(reinterpret_cast<PetscObject>(ksp)));
  ksp->rnorm = norm;
  PetscCall(PetscObjectSAWsGrantAccess(reinterpret_cast<PetscObject>(ksp)));
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  if (ksp->normtype == KSP_NORM_NONE)
    PetscCall(KSPConvergedSkip(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  else
    PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(KSP ksp, const Work &work, Vec x, Vec y)
{
  bool done = false;

  PetscFunctionBegin;
  if (work.product) {
    PetscCall(PetscLogEventBegin(MAT_Mult, work.A, x, y, nullptr));
    PetscCall(work.steps.multiply(*work.product, x, y, &done));
    PetscCall(PetscLogEventEnd(MAT_Mult, work.A, x, y, nullptr));
  }
  if (!done) PetscCall(KSP_MatMult(ksp, work.A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r and its norm, where that is the norm.
PetscErrorCode first_residual(KSP ksp, const Work &work)
{
  PetscReal norm = 0;

  PetscFunctionBegin;
  if (ksp->guess_zero) {
    PetscCall(VecCopy(ksp->vec_rhs, work.r));
  } else {
    PetscCall(multiply(ksp, work, ksp->vec_sol, work.r));
    PetscCall(VecAYPX(work.r, -1, ksp->vec_rhs));
  }
  if (ksp->normtype == KSP_NORM_NATURAL) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) PetscCall(work.steps.norm(work.r, &norm));
  PetscCall(check_convergence(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w = B r and the new direction. The natural norm is that of the residual before the step.
PetscErrorCode next_direction(KSP ksp, const Work &work)
{
  const bool first = ksp->its == 0;

  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp, work.r, work.w));
  PetscCall(work.steps.project(first, work.w, work.r, work.q));
  if (ksp->normtype == KSP_NORM_NATURAL) {
    FcgScalars s;
    PetscCall(work.steps.scalars(&s));
    KSPCheckDot(ksp, s.w_r);
    PetscCall(check_convergence(ksp, PetscSqrtReal(PetscMax(0, s.w_r))));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(work.steps.direct(first, work.w, work.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One step along d, unless the method cannot go on.
PetscErrorCode advance(KSP ksp, const Work &work)
{
  FcgScalars s;

  PetscFunctionBegin;
  PetscCall(multiply(ksp, work, work.d, work.q));
  PetscCall(work.steps.advance(work.d, work.q, ksp->vec_sol, work.r));
  PetscCall(work.steps.scalars(&s));
  for (const PetscScalar product : {s.w_r, s.w_q, s.d_q, s.d_r}) KSPCheckDot(ksp, product);
  if (!(s.d_q > 0)) ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  if (s.w_r == 0) ksp->reason = KSP_DIVERGED_BREAKDOWN; // B r = 0
  if (s.w_r < 0) ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->its++;
  if (ksp->normtype != KSP_NORM_NATURAL)
    PetscCall(check_convergence(ksp, ksp->normtype == KSP_NORM_UNPRECONDITIONED ? PetscSqrtReal(s.r_r) : 0));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the preconditioner, if it was set up with the operator as it is now but for values.
PetscErrorCode find_product(KSP ksp, Mat A, Mat P, Preconditioner **product)
{
  Preconditioner *solver = solver_of(ksp->pc);
  bool same = false;

  PetscFunctionBegin;
  if (solver && A == P && !ksp->transpose_solve) PetscCall(solver->can_refresh(A, &same));
  *product = same ? solver : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_AMGFCG(KSP ksp)
{
  std::unique_ptr<FcgSteps> &steps = data_of(ksp).steps;
  Preconditioner *product = nullptr;
  Mat A, P;

  PetscFunctionBegin;
  if (!ksp->work) PetscCall(KSPSetWorkVecs(ksp, 4));
  if (!steps) {
    steps = make_fcg_steps(ksp->vec_sol);
    PetscCall(steps->create(ksp->vec_sol));
  }
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(find_product(ksp, A, P, &product));
  const Work work = {*steps, ksp->work[0], ksp->work[1], ksp->work[2], ksp->work[3], A, product};
  ksp->its = 0;
  PetscCall(first_residual(ksp, work));
  while (!ksp->reason) {
    PetscCall(next_direction(ksp, work));
    if (!ksp->reason) PetscCall(advance(ksp, work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KSPCreate_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->data = new Steps;
  ksp->ops->setup = KSPReset_AMGFCG;
  ksp->ops->solve = KSPSolve_AMGFCG;
  ksp->ops->reset = KSPReset_AMGFCG;
  ksp->ops->destroy = KSPDestroy_AMGFCG;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
