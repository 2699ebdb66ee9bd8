#include "ilu/two_level.hpp"

#include "base/log.hpp"
#include "ilu/one_level.hpp"

#include <array>
#include <limits>

namespace amgkit
{
namespace
{
// The type of the function pointer is another one since PETSc 3.24.
template <class F, class G> PetscErrorCode set_operation(Mat S, MatOperation operation, G g, PetscErrorCode (*set)(Mat, MatOperation, F))
{
  return set(S, operation, reinterpret_cast<F>(g));
}
} // namespace

template <class Ex> TwoLevelIlu<Ex>::~TwoLevelIlu() { static_cast<void>(destroy_solver()); }

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::destroy_solver()
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&ksp_));
  PetscCall(MatDestroy(&S_));
  PetscCall(VecDestroy(&g_));
  PetscCall(VecDestroy(&y_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::multiply(Mat S, Vec y, Vec z)
{
  TwoLevelIlu *self;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &self));
  PetscCall(self->vectors_.with(
      *self->ex_, y, z, [&](const double *from, double *to) { return self->factors_.multiply(*self->ex_, *self->halo_, from, to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::precondition(PC pc, Vec r, Vec z)
{
  TwoLevelIlu *self;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &self));
  PetscCall(self->vectors_.with(*self->ex_, r, z,
                                [&](const double *from, double *to) { return self->factors_.precondition(*self->ex_, from, to); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So many steps, without a test that would need another sum; the user's options may have something else.
template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::create_solver(MPI_Comm comm)
{
  const auto n = static_cast<PetscInt>(factors_.interface());
  const std::string prefix = prefix_ + "ilu2level_schur_";
  PC pc;

  PetscFunctionBegin;
  PetscCall(destroy_solver());
  PetscCall(MatCreateShell(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, &S_));
  PetscCall(set_operation(S_, MATOP_MULT, multiply, MatShellSetOperation));
  PetscCall(MatShellSetVecType(S_, Ex::on_device && petsc_has_cuda ? VECCUDA : VECSTANDARD));
  PetscCall(MatCreateVecs(S_, &y_, &g_));
  PetscCall(KSPCreate(comm, &ksp_));
  PetscCall(KSPSetOptionsPrefix(ksp_, prefix.c_str()));
  PetscCall(PetscObjectSetTabLevel(reinterpret_cast<PetscObject>(ksp_), 1)); // of what monitors print
  PetscCall(KSPSetType(ksp_, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(ksp_, parameters_.schur_its));
  PetscCall(KSPGMRESSetPreAllocateVectors(ksp_));
  PetscCall(KSPSetTolerances(ksp_, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, parameters_.schur_its));
  PetscCall(KSPSetNormType(ksp_, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp_, KSPConvergedSkip, nullptr, nullptr));
  PetscCall(KSPGetPC(ksp_, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, this));
  PetscCall(PCShellSetApply(pc, precondition));
  PetscCall(PCShellSetName(pc, "ILU(0) of each process's Schur complement"));
  PetscCall(KSPSetFromOptions(ksp_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::create(Ex &ex, DistMatrix<Ex> &A, IluSetup &setup)
{
  PetscFunctionBegin;
  plain_.reset();
  if (!A.halo.active()) {
    plain_ = std::make_unique<OneLevelIlu<Ex>>(parameters_);
    PetscCall(plain_->create(ex, A, setup));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(conclude(
      Phase::ilu_symbolic, A.comm, A.range, [&](IluReport *report) { return factors_.analyse(ex, A, report); }, setup));
  if (setup.ready()) PetscCall(create_solver(A.comm));
  if (setup.ready()) PetscCall(update_values(ex, A, setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::update_values(Ex &ex, DistMatrix<Ex> &A, IluSetup &setup)
{
  PetscFunctionBegin;
  if (plain_) {
    PetscCall(plain_->update_values(ex, A, setup));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(conclude(
      Phase::ilu_numeric, A.comm, A.range, [&](IluReport *report) { return factors_.factor(ex, A, report); }, setup));
  if (!setup.ready()) PetscFunctionReturn(PETSC_SUCCESS);
  // some solvers multiply already here, and again where the state tells of new values
  ex_ = &ex;
  halo_ = &A.halo;
  PetscCall(MatAssemblyBegin(S_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(S_, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetOperators(ksp_, S_, S_));
  PetscCall(KSPSetUp(ksp_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::apply(Ex &ex, DistMatrix<Ex> &A, const double *b, double *x)
{
  double *g;
  const double *y;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  if (plain_) {
    PetscCall(plain_->apply(ex, A, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ex_ = &ex;
  halo_ = &A.halo;
  const LogPhase logged(Phase::ilu_solve);
  PetscCall(writer_.access(ex, g_, &g));
  PetscCall(factors_.eliminate(ex, b, g));
  PetscCall(writer_.release(ex, g_));
  PetscCall(KSPSolve(ksp_, g_, y_));
  PetscCall(KSPGetConvergedReason(ksp_, &reason));
  const bool failed = reason < 0 && reason != KSP_DIVERGED_ITS;
  if (failed) PetscCall(VecSet(y_, std::numeric_limits<PetscReal>::infinity())); // stops the method outside
  PetscCall(reader_.access(ex, y_, &y));
  PetscCall(factors_.substitute(ex, b, y, x));
  PetscCall(reader_.release(y_));
  if (failed) PetscCall(VecZeroEntries(y_)); // which may be the next guess
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::apply_transpose(Ex &ex, DistMatrix<Ex> &A, const double *b, double *x)
{
  PetscFunctionBegin;
  PetscCheck(plain_, A.comm, PETSC_ERR_SUP, "Two levels of ILU are not linear and have no transpose: use one level");
  PetscCall(plain_->apply_transpose(ex, A, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t TwoLevelIlu<Ex>::bytes() const
{
  const std::size_t vectors = static_cast<std::size_t>(parameters_.schur_its) + 6; // y, g, and GMRES's
  return plain_ ? plain_->bytes() : factors_.bytes() + vectors * static_cast<std::size_t>(factors_.interface()) * sizeof(double);
}

template <class Ex> PetscErrorCode TwoLevelIlu<Ex>::view(PetscViewer viewer) const
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(viewer));
  const bool rap = parameters_.type == SchurKind::rap;
  std::array<double, 4> sum = {static_cast<double>(factors_.interior()), static_cast<double>(factors_.interface()),
                               static_cast<double>(factors_.interior() > 0), static_cast<double>(factors_.interface() > 0)};
  std::array<int, 2> steps = {factors_.interior_steps(), factors_.interface_steps()};

  PetscFunctionBegin;
  if (plain_) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "two levels were asked for, but no process is coupled with another\n"));
    PetscCall(plain_->view(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum.data(), 4, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, steps.data(), 2, MPI_INT, MPI_MAX, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "two levels: %.0f interior rows on %.0f processes, %.0f rows of the interface on %.0f\n", sum[0],
                                   sum[2], sum[1], sum[3]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "Schur complement: %s\n", rap ? "R A P" : "from the factors' parts"));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "steps of a triangular solve that wait for one another: at most %d inside, %d on the interface\n", steps[0], steps[1]));
  int size;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (Ex::on_device || size < 8)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "on %s one level took more iterations and less time where it was measured, see the manual page\n",
                                     Ex::on_device ? "GPUs" : "fewer than 8 processes"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "its solver:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(KSPView(ksp_, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, TwoLevelIlu)
} // namespace amgkit
