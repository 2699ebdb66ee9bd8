#include "plugins/ksp_shared.hpp"

#include "dist/attempt.hpp"
#include "dist/mat_view.hpp"
#include "dist/vec_view.hpp"
#include "plugins/pc_plugin.hpp"

#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

namespace amgkit
{
PetscErrorCode solve_beside_operator(KSP ksp, PetscErrorCode (*solve)(KSP))
{
  const Vec b = ksp->vec_rhs, x = ksp->vec_sol;
  Vec b_there = nullptr, x_there = nullptr;
  Mat A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  if (!on_cuda(A) || (on_cuda(b) && on_cuda(x))) {
    PetscCall(solve(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(A, &x_there, &b_there));
  PetscErrorCode code = VecCopy(b, b_there);
  if (!code) code = VecCopy(x, x_there);
  if (!code) {
    ksp->vec_rhs = b_there;
    ksp->vec_sol = x_there;
    code = solve(ksp);
    ksp->vec_rhs = b;
    ksp->vec_sol = x;
  }
  if (!code) code = VecCopy(x_there, x);
  PetscCall(VecDestroy(&b_there));
  PetscCall(VecDestroy(&x_there));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_work_vectors(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work));
  ksp->nwork = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One by one: KSPSetWorkVecs() leaves an array behind that ends where memory did.
PetscErrorCode make_work_vectors(KSP ksp, PetscInt count, KrylovSteps &steps)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  Vec *vectors = nullptr;
  auto make = [&] {
    PetscFunctionBegin;
    PetscCall(attempt(comm, [&] { return PetscCalloc1(count, &vectors); }));
    for (PetscInt k = 0; k < count; k++) PetscCall(attempt(comm, [&] { return VecDuplicate(ksp->vec_sol, &vectors[k]); }));
    PetscCall(attempt(comm, [&] {
      PetscFunctionBegin;
      for (PetscInt k = 0; k < count; k++) PetscCall(steps.give_memory(vectors[k]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (ksp->work && ksp->nwork == count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(drop_work_vectors(ksp));
  const PetscErrorCode code = need_memory_for("the work vectors of the Krylov method", comm, make);
  if (code) {
    for (PetscInt k = 0; vectors && k < count; k++) PetscCall(VecDestroy(&vectors[k]));
    PetscCall(PetscFree(vectors));
    PetscCall(code);
  }
  ksp->work = vectors;
  ksp->nwork = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_norm(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectSAWsTakeAccess(reinterpret_cast<PetscObject>(ksp)));
  ksp->rnorm = norm;
  PetscCall(PetscObjectSAWsGrantAccess(reinterpret_cast<PetscObject>(ksp)));
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode test_convergence(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_NONE)
    PetscCall(KSPConvergedSkip(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  else
    PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_convergence(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  KSPCheckNorm(ksp, norm);
  PetscCall(record_norm(ksp, norm));
  PetscCall(test_convergence(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_as_set_up(KSP ksp, Mat A, bool *as_set_up)
{
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &state));
  *as_set_up = state == state_of_set_up(ksp->pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_product(KSP ksp, Mat *A, Preconditioner **product, bool *same_values)
{
  bool same = false;
  Mat P;

  PetscFunctionBegin;
  PetscCall(PCSetUp(ksp->pc)); // which PETSc may leave to the first PCApply()
  PetscCall(PCGetOperators(ksp->pc, A, &P));
  Preconditioner *solver = solver_of(ksp->pc);
  if (solver && *A == P && !ksp->transpose_solve) PetscCall(solver->can_refresh(P, &same));
  *product = same ? solver : nullptr;
  *same_values = false;
  if (same) PetscCall(is_as_set_up(ksp, P, same_values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(KSP ksp, KrylovSteps &steps, bool by_product, Mat A, Vec x, Vec y)
{
  Preconditioner *solver = by_product ? solver_of(ksp->pc) : nullptr;
  bool as_set_up = false;

  if (!solver) return KSP_MatMult(ksp, A, x, y);
  PetscFunctionBegin;
  PetscCall(is_as_set_up(ksp, A, &as_set_up));
  PetscCall(PetscLogEventBegin(MAT_Mult, A, x, y, nullptr));
  PetscCall(steps.multiply_exactly(*solver, x, y, as_set_up));
  PetscCall(PetscLogEventEnd(MAT_Mult, A, x, y, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
