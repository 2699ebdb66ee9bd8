#include "plugins/ksp_shared.hpp"

#include "dist/attempt.hpp"
#include "dist/mat_view.hpp"
#include "dist/preconditioner.hpp"
#include "dist/user_rows.hpp"
#include "dist/vec_view.hpp"
#include "plugins/pc_plugin.hpp"
#include "plugins/space_vec.hpp"

#include <cstring>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

namespace amgkit
{
namespace
{
// With these in the place of ksp's own
PetscErrorCode solve_with(KSP ksp, Vec b, Vec x, PetscErrorCode (*solve)(KSP))
{
  const Vec own_b = ksp->vec_rhs, own_x = ksp->vec_sol;

  ksp->vec_rhs = b;
  ksp->vec_sol = x;
  const PetscErrorCode code = solve(ksp);
  ksp->vec_rhs = own_b;
  ksp->vec_sol = own_x;
  return code;
}

PetscErrorCode solve_beside_operator(KSP ksp, Mat A, PetscErrorCode (*solve)(KSP))
{
  const Vec b = ksp->vec_rhs, x = ksp->vec_sol;
  Vec b_there = nullptr, x_there = nullptr;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x_there, &b_there));
  PetscErrorCode code = VecCopy(b, b_there);
  if (!code) code = VecCopy(x, x_there);
  if (!code) code = solve_with(ksp, b_there, x_there, solve);
  if (!code) code = VecCopy(x_there, x);
  PetscCall(VecDestroy(&b_there));
  PetscCall(VecDestroy(&x_there));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The vectors for a solve by this preconditioner, whose memory may be there from the last one. Collective.
PetscErrorCode make_vectors(KSP ksp, const Preconditioner &solver, std::unique_ptr<SolveVectors> &vectors)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_sol, &n));
  int fits = vectors && vectors->size() == n && std::strcmp(vectors->space(), solver.space()) == 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, comm));
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(drop_solve_vectors(vectors));
  vectors = make_solve_vectors(solver);
  const PetscErrorCode code = vectors->create(comm, n);
  if (code) PetscCall(drop_solve_vectors(vectors));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The Vecs are of this solve: the user's arrays may be others in the next one.
PetscErrorCode solve_in_space(KSP ksp, SolveVectors &vectors, PetscErrorCode (*solve)(KSP))
{
  const Vec b = ksp->vec_rhs, x = ksp->vec_sol;
  Vec b_there = nullptr, x_there = nullptr;
  const PetscScalar *b_entries;
  PetscScalar *x_entries, *entries;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &b_entries));
  PetscCall(VecGetArray(x, &x_entries));
  auto solve_there = [&] {
    PetscFunctionBegin;
    PetscCall(vectors.take(const_cast<PetscScalar *>(b_entries), x_entries, ksp->guess_zero));
    PetscCall(make_space_vec(b, const_cast<PetscScalar *>(b_entries), vectors.b(), &b_there));
    PetscCall(make_space_vec(x, x_entries, vectors.x(), &x_there));
    PetscCall(VecLockReadPush(b_there)); // as PETSc has b
    const PetscErrorCode end = solve_with(ksp, b_there, x_there, solve);
    PetscCall(VecLockReadPop(b_there));
    PetscCall(end);
    PetscCall(vectors.x().on_host(VecUse::read, &entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const PetscErrorCode code = solve_there();
  for (Vec *there : {&b_there, &x_there}) {
    if (*there) PetscCall(detach(*there)); // somebody may have kept a reference
    PetscCall(VecDestroy(there));
  }
  PetscCall(VecRestoreArray(x, &x_entries));
  PetscCall(VecRestoreArrayRead(b, &b_entries));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode solve_beside(KSP ksp, std::unique_ptr<SolveVectors> &vectors, PetscErrorCode (*solve)(KSP))
{
  const bool any = on_cuda(ksp->vec_rhs) || on_cuda(ksp->vec_sol), both = on_cuda(ksp->vec_rhs) && on_cuda(ksp->vec_sol);
  Mat A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  if (on_cuda(A) && !both) {
    PetscCall(solve_beside_operator(ksp, A, solve));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetUp(ksp->pc));                                                       // which PETSc may leave to the first PCApply()
  const bool there = space_vector_of(ksp->vec_rhs) && space_vector_of(ksp->vec_sol); // as on heads
  const Preconditioner *solver = !any && !there && applies_by_kernels(ksp->pc) ? solver_of(ksp->pc) : nullptr;
  if (!solver || !solver->apart()) {
    PetscCall(solve(ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_vectors(ksp, *solver, vectors));
  PetscCall(solve_in_space(ksp, *vectors, solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_solve_vectors(std::unique_ptr<SolveVectors> &vectors)
{
  PetscFunctionBegin;
  if (vectors) PetscCall(vectors->close());
  vectors.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool are_elsewhere(KSP ksp, const KrylovSteps &steps, Preconditioner *product)
{
  const bool vectors = ksp->work && ksp->nwork > 0 && ksp->work[0];
  if (std::strcmp(steps.space(), krylov_space(ksp->vec_sol, product)) != 0) return true;
  return vectors && (space_vector_of(ksp->work[0]) != nullptr) != (space_vector_of(ksp->vec_sol) != nullptr);
}

PetscErrorCode drop_work_vectors(KSP ksp)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; ksp->work && k < ksp->nwork; k++) {
    if (ksp->work[k]) PetscCall(detach(ksp->work[k])); // somebody may have kept a reference
  }
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work));
  ksp->nwork = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace
{
// Like the solution. Collective; its memory in a space is there on all ranks before any makes a Vec of it, which communicates.
PetscErrorCode make_work_vector(KSP ksp, KrylovSteps &steps, Vec *out)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  SpaceVector *vector = nullptr;

  PetscFunctionBegin;
  if (!space_vector_of(ksp->vec_sol)) {
    PetscCall(attempt(comm, [&] { return VecDuplicate(ksp->vec_sol, out); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(attempt(comm, [&] { return steps.make_vector(&vector); }));
  PetscCall(make_space_vec(ksp->vec_sol, nullptr, *vector, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// One by one: KSPSetWorkVecs() leaves an array behind that ends where memory did.
PetscErrorCode make_work_vectors(KSP ksp, PetscInt count, KrylovSteps &steps)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  Vec *vectors = nullptr;
  auto make = [&] {
    PetscFunctionBegin;
    PetscCall(attempt(comm, [&] { return PetscCalloc1(count, &vectors); }));
    for (PetscInt k = 0; k < count; k++) PetscCall(make_work_vector(ksp, steps, &vectors[k]));
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
  const auto *on_host = dynamic_cast<UserProduct<Host> *>(solver);
  if (same && on_host && on_host->pays()) PetscCall(multiplies_by_rows(P, &same));
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
