#include "plugins/ksp_of_heads.hpp"

#include "dist/attempt.hpp"
#include "plugins/space_vec.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>

namespace amgkit
{
namespace
{
// What the heads' KSP cannot do for the other one.
PetscErrorCode can_solve(KSP ksp, ConsolidatedSolver **solver)
{
  Mat A, P;
  MatNullSpace null_space;
  bool same = false;

  PetscFunctionBegin;
  *solver = nullptr;
  PetscCall(PCSetUp(ksp->pc)); // which PETSc may leave to the first PCApply()
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  ConsolidatedSolver *consolidated = consolidated_solver_of(ksp->pc);
  if (!consolidated || A != P || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(A, &null_space));
  if (null_space && null_space->remove) PetscFunctionReturn(PETSC_SUCCESS); // the user's own function
  PetscCall(consolidated->can_refresh(A, &same));
  if (same) *solver = consolidated;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode KspOfHeads::reset()
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&inner_));
  vectors_.reset();
  system_of_inner_.reset();
  solved_last_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On all ranks: the user's monitors, and his test.
PetscErrorCode KspOfHeads::show(PetscInt its, PetscReal norm)
{
  PetscFunctionBegin;
  outer_->its = its;
  outer_->rnorm = norm;
  PetscCall(KSPLogResidualHistory(outer_, norm));
  PetscCall(KSPMonitor(outer_, its, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::judge(PetscInt its, PetscReal norm, KSPConvergedReason *reason)
{
  PetscFunctionBegin;
  outer_->its = its;
  outer_->rnorm = norm;
  PetscCall((*outer_->converged)(outer_, its, norm, reason, outer_->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::monitor(KSP, PetscInt its, PetscReal norm, void *context)
{
  auto &self = *static_cast<KspOfHeads *>(context);

  PetscFunctionBegin;
  PetscCall(self.system_->groups.tell({show_norm, static_cast<int>(its), norm}));
  PetscCall(self.show(its, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::test(KSP, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *context)
{
  auto &self = *static_cast<KspOfHeads *>(context);

  PetscFunctionBegin;
  PetscCall(self.system_->groups.tell({test_norm, static_cast<int>(its), norm}));
  PetscCall(self.judge(its, norm, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads. The prefix is one that no user gives: PETSc asks the options of every KSP what to print after a solve.
PetscErrorCode KspOfHeads::make_inner()
{
  KSPType type;

  PetscFunctionBegin;
  PetscCall(KSPGetType(outer_, &type));
  PetscCall(KSPCreate(system_->groups.heads(), &inner_));
  PetscCall(KSPSetOptionsPrefix(inner_, "amgkit_of_heads_"));
  PetscCall(KSPSetType(inner_, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads. PETSc's own tests run there alone; another one runs everywhere.
PetscErrorCode KspOfHeads::copy_test()
{
  PetscFunctionBegin;
  if (outer_->converged == KSPConvergedDefault && outer_->cnvP) {
    const auto *from = static_cast<const KSPConvergedDefaultCtx *>(outer_->cnvP);
    void *context;
    PetscCall(KSPConvergedDefaultCreate(&context));
    auto *to = static_cast<KSPConvergedDefaultCtx *>(context);
    to->initialrtol = from->initialrtol;
    to->mininitialrtol = from->mininitialrtol;
    to->convmaxits = from->convmaxits;
    PetscCall(KSPSetConvergenceTest(inner_, KSPConvergedDefault, context, KSPConvergedDefaultDestroy));
  } else if (outer_->converged == KSPConvergedSkip) {
    PetscCall(KSPSetConvergenceTest(inner_, KSPConvergedSkip, nullptr, nullptr));
  } else {
    PetscCall(KSPSetConvergenceTest(inner_, test, this, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads
PetscErrorCode KspOfHeads::copy_settings()
{
  PetscFunctionBegin;
  PetscCall(KSPSetPC(inner_, pc_));
  PetscCall(KSPSetPCSide(inner_, outer_->pc_side));
  PetscCall(KSPSetNormType(inner_, outer_->normtype));
  PetscCall(KSPSetTolerances(inner_, outer_->rtol, outer_->abstol, outer_->divtol, outer_->max_it));
#if PETSC_VERSION_GE(3, 20, 0)
  PetscCall(KSPSetMinimumIterations(inner_, outer_->min_it));
#endif
  PetscCall(KSPSetInitialGuessNonzero(inner_, static_cast<PetscBool>(!outer_->guess_zero)));
  PetscCall(KSPSetResidualHistory(inner_, nullptr, std::max<PetscInt>(history_, 1), PETSC_TRUE));
  PetscCall(KSPMonitorCancel(inner_));
  if (shows_) PetscCall(KSPMonitorSet(inner_, monitor, this, nullptr));
  PetscCall(copy_test());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads; members hear how it ended, whatever happens.
PetscErrorCode KspOfHeads::lead()
{
  PetscErrorCode code = PETSC_ERR_LIB;
  std::exception_ptr thrown;

  PetscFunctionBegin;
  try {
    code = KSPSolve(inner_, vectors_->on_heads(0), vectors_->on_heads(1));
  } catch (...) {
    thrown = std::current_exception();
  }
  last_ = {done_with, static_cast<int>(inner_->its), inner_->rnorm};
  last_.more = code ? 0 : static_cast<int>(inner_->reason);
  PetscCall(system_->groups.tell(last_));
  if (thrown) std::rethrow_exception(thrown);
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On members. After an error the head is heard to its end: it does not know of it before.
PetscErrorCode KspOfHeads::follow()
{
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  for (;;) {
    KSPConvergedReason reason;
    PetscCall(system_->groups.hear(&last_));
    if (last_.what == done_with) break;
    if (!code) code = last_.what == show_norm ? show(last_.number, last_.value) : judge(last_.number, last_.value, &reason);
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: reason, iterations and norm, and the history that no monitor has recorded.
PetscErrorCode KspOfHeads::conclude()
{
  std::vector<double> history;

  PetscFunctionBegin;
  outer_->its = last_.number;
  outer_->rnorm = last_.value;
  outer_->reason = static_cast<KSPConvergedReason>(last_.more);
  if (history_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (inner_) history.assign(inner_->res_hist, inner_->res_hist + inner_->res_hist_len);
  PetscCall(system_->groups.share(&history));
  for (const double norm : history) PetscCall(KSPLogResidualHistory(outer_, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::ask(std::vector<double> *numbers, const std::function<PetscErrorCode(KSP, std::vector<double> *)> &f) const
{
  const std::shared_ptr<SystemOfHeads> system = system_of_inner_.lock();

  PetscFunctionBegin;
  PetscCall(system->groups.on_heads([&] { return f(inner_, numbers); }));
  PetscCall(system->groups.share(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::ask(std::string *text, const std::function<std::string(KSP)> &f) const
{
  const std::shared_ptr<SystemOfHeads> system = system_of_inner_.lock();

  PetscFunctionBegin;
  if (inner_) *text = f(inner_);
  PetscCall(system->groups.share(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::build_solution(Vec to) const
{
  VecsOfHeads &vectors = system_->vectors;

  PetscFunctionBegin;
  PetscCall(check_layout(system_->matrix.user_range(), to));
  PetscCall(vectors.create());
  PetscCall(system_->groups.gather()); // all have what was asked for before
  PetscCall(system_->groups.on_heads([&] {
    Vec solution;
    PetscFunctionBegin;
    PetscCall(KSPBuildSolution(inner_, nullptr, &solution));
    PetscCall(VecCopy(solution, vectors.on_heads(1)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(attempt(system_->groups.all(), [&] { return vectors.get(1, to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
PetscErrorCode KspOfHeads::prepare(const std::function<PetscErrorCode(KSP)> &configure)
{
  const bool new_system = system_of_inner_.lock() != system_;
  std::array<PetscInt, 2> any = {outer_->numbermonitors > 0, outer_->res_hist ? static_cast<PetscInt>(outer_->res_hist_max) : 0};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), 2, MPIU_INT, MPI_MAX, system_->groups.all())); // a history may be of one alone
  shows_ = any[0] != 0;
  history_ = shows_ ? 0 : any[1];
  if (new_system) {
    PetscCall(reset());
    vectors_ = std::make_unique<VecsOfHeads>(system_->shared, system_->matrix);
    system_of_inner_ = system_;
  }
  PetscCall(vectors_->create());
  PetscCall(system_->groups.on_heads([&] {
    PetscFunctionBegin;
    if (new_system) PetscCall(make_inner());
    PetscCall(copy_settings());
    PetscCall(configure(inner_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KspOfHeads::solve(KSP ksp, const std::function<PetscErrorCode(KSP)> &configure, bool *done)
{
  ConsolidatedSolver *solver;

  PetscFunctionBegin;
  *done = false;
  solved_last_ = false;
  PetscCall(can_solve(ksp, &solver));
  if (!solver) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(solver->take_values());
  PetscCall(solver->follow_null_space());
  outer_ = ksp;
  system_ = solver->system();
  pc_ = solver->inner();
  const MPI_Comm all = system_->groups.all();
  const auto work = [&] {
    PetscFunctionBegin;
    PetscCall(prepare(configure));
    for (Vec v : {ksp->vec_rhs, ksp->vec_sol}) PetscCall(check_layout(system_->matrix.user_range(), v));
    PetscCall(attempt(all, [&] { return vectors_->put({ksp->vec_rhs, ksp->guess_zero ? nullptr : ksp->vec_sol}); }));
    if (!ksp->guess_zero) { // PETSc's test asks for it then
      PetscReal norm;
      PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &norm));
      if (inner_ && space_vector_of(vectors_->on_heads(0))) PetscCall(know_norm(vectors_->on_heads(0), norm));
    }
    PetscCall(attempt(all, [&] { return inner_ ? lead() : follow(); }));
    PetscCall(attempt(all, [&] { return vectors_->get(1, ksp->vec_sol); }));
    PetscCall(conclude());
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const PetscErrorCode code = need_memory_for("the solve of those processes that have the rows", all, work);
  system_.reset();
  pc_ = nullptr;
  if (code) PetscCall(reset());
  PetscCall(code);
  solved_last_ = *done = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
