#include "plugins/ksp_fcg.hpp"

#include "base/compat.hpp"

#include <array>
#include <petsc/private/kspimpl.h>

namespace amgkit
{
namespace
{
struct WorkVectors {
  Vec r, w, d, q;
  explicit WorkVectors(KSP ksp) : r(ksp->work[0]), w(ksp->work[1]), d(ksp->work[2]), q(ksp->work[3]) {}
};

// The work vectors wait for the solution vector: a duplicate of it takes device memory alone, while the vector that KSPCreateVecs() asks
// the matrix for takes page-locked memory of the host too, on several GPUs (PETSc 3.26: 43 ms for 67 MB).
PetscErrorCode KSPSetUp_AMGFCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work)); // another type's
  ksp->nwork = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

// The new direction from w = B r; rho: d·q of the one before.
PetscErrorCode next_direction(KSP ksp, const WorkVectors &work, PetscScalar rho)
{
  const std::array<Vec, 2> with = {work.r, work.q};
  std::array<PetscScalar, 2> products{}; // w·r, w·q
  const bool first = ksp->its == 0;

  PetscFunctionBegin;
  PetscCall(KSP_PCApply(ksp, work.r, work.w));
  PetscCall(VecMDot(work.w, first ? 1 : 2, with.data(), products.data()));
  for (PetscScalar product : products) KSPCheckDot(ksp, product);
  if (ksp->normtype == KSP_NORM_NATURAL) PetscCall(check_convergence(ksp, PetscSqrtReal(PetscMax(0, products[0]))));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (products[0] < 0) ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  if (products[0] == 0) ksp->reason = KSP_DIVERGED_BREAKDOWN; // B r = 0
  if (first)
    PetscCall(VecCopy(work.w, work.d));
  else
    PetscCall(VecAYPX(work.d, -products[1] / rho, work.w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One step along d, and rho.
PetscErrorCode advance(KSP ksp, const WorkVectors &work, PetscScalar *rho)
{
  const std::array<Vec, 2> with = {work.q, work.r};
  std::array<PetscScalar, 2> products{}; // d·q, d·r
  Mat A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
  PetscCall(KSP_MatMult(ksp, A, work.d, work.q));
  PetscCall(VecMDot(work.d, 2, with.data(), products.data()));
  for (PetscScalar product : products) KSPCheckDot(ksp, product);
  *rho = products[0];
  if (!(*rho > 0)) {
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecAXPY(ksp->vec_sol, products[1] / *rho, work.d));
  PetscCall(VecAXPY(work.r, -products[1] / *rho, work.q));
  ksp->its++;
  PetscCall(check_residual(ksp, work.r));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_AMGFCG(KSP ksp)
{
  PetscScalar rho = 1;

  PetscFunctionBegin;
  if (!ksp->work) PetscCall(KSPSetWorkVecs(ksp, 4));
  const WorkVectors work(ksp);
  ksp->its = 0;
  if (ksp->guess_zero) {
    PetscCall(VecCopy(ksp->vec_rhs, work.r));
  } else {
    Mat A;
    PetscCall(PCGetOperators(ksp->pc, &A, nullptr));
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, work.r));
    PetscCall(VecAYPX(work.r, -1, ksp->vec_rhs));
  }
  PetscCall(check_residual(ksp, work.r));
  while (!ksp->reason) {
    PetscCall(next_direction(ksp, work, rho));
    if (!ksp->reason) PetscCall(advance(ksp, work, &rho));
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
