#include "plugins/ksp_fcg.hpp"

#include "base/compat.hpp"

#include <array>
#include <petsc/private/kspimpl.h>

namespace amgkit
{
namespace
{
struct WorkVectors {
  Vec r, w, v, d, q;
  explicit WorkVectors(KSP ksp) : r(ksp->work[0]), w(ksp->work[1]), v(ksp->work[2]), d(ksp->work[3]), q(ksp->work[4]) {}
};

PetscErrorCode KSPSetUp_AMGFCG(KSP ksp) { return KSPSetWorkVecs(ksp, 5); }

// Records and shows the norm of iteration ksp->its; ksp->reason says whether it is the last.
PetscErrorCode check_convergence(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
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

// ||r|| where that is the norm.
PetscErrorCode check_residual(KSP ksp, Vec r)
{
  PetscReal norm = 0;

  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_NATURAL) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) {
    PetscCall(VecNorm(r, NORM_2, &norm));
    KSPCheckNorm(ksp, norm);
  }
  PetscCall(check_convergence(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w, v and the three products; a product that is no number, or a wrong sign, ends the iteration.
PetscErrorCode precondition(KSP ksp, const WorkVectors &work, bool first, std::array<PetscScalar, 3> &products)
{
  const std::array<Vec, 3> with = {work.r, work.v, work.q};
  Mat A, P;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(KSP_PCApply(ksp, work.r, work.w));
  PetscCall(KSP_MatMult(ksp, A, work.w, work.v));
  products[2] = 0;
  PetscCall(VecMDot(work.w, first ? 2 : 3, with.data(), products.data()));
  for (PetscScalar product : products) KSPCheckDot(ksp, product);
  if (ksp->normtype == KSP_NORM_NATURAL) PetscCall(check_convergence(ksp, PetscSqrtReal(PetscMax(0, products[0]))));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (products[0] < 0) ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  if (products[0] == 0) ksp->reason = products[1] == 0 ? KSP_CONVERGED_ATOL : KSP_DIVERGED_BREAKDOWN; // B r = 0
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_AMGFCG(KSP ksp)
{
  const WorkVectors work(ksp);
  std::array<PetscScalar, 3> products{};
  PetscScalar rho = 1;

  PetscFunctionBegin;
  ksp->its = 0;
  PetscCall(VecCopy(ksp->vec_rhs, work.r));
  if (!ksp->guess_zero) {
    Mat A;
    PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, work.r));
    PetscCall(VecAYPX(work.r, -1, ksp->vec_rhs));
  }
  PetscCall(check_residual(ksp, work.r));
  while (!ksp->reason) {
    PetscCall(precondition(ksp, work, ksp->its == 0, products));
    if (ksp->reason) break;
    const PetscScalar alpha = products[0], along = ksp->its == 0 ? 0 : products[2] / rho;
    rho = products[1] - along * products[2];
    if (!(rho > 0)) {
      ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
      break;
    }
    if (ksp->its == 0) {
      PetscCall(VecCopy(work.w, work.d));
      PetscCall(VecCopy(work.v, work.q));
    } else {
      PetscCall(VecAYPX(work.d, -along, work.w));
      PetscCall(VecAYPX(work.q, -along, work.v));
    }
    PetscCall(VecAXPY(ksp->vec_sol, alpha / rho, work.d));
    PetscCall(VecAXPY(work.r, -alpha / rho, work.q));
    ksp->its++;
    PetscCall(check_residual(ksp, work.r));
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
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
  ksp->ops->setup = KSPSetUp_AMGFCG;
  ksp->ops->solve = KSPSolve_AMGFCG;
  ksp->ops->destroy = KSPDestroyDefault;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
