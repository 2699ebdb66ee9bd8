#include "ilu/one_level.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "ilu/ordering.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/permute.hpp"

#include <array>

namespace amgkit
{
// Local: all but values.
template <class Ex> PetscErrorCode OneLevelIlu<Ex>::analyse(Ex &ex, const CsrView<double> &A, IluReport *report)
{
  const auto ordering = parameters_.ordering;

  PetscFunctionBegin;
  order_.release();
  if (ordering != OrderingKind::natural) PetscCall(order_block(ex, ordering, A, nullptr, order_));
  if (reordered()) {
    PetscCall(allocate_each(ex, A.rows, place_, work_));
    PetscCall(invert_permutation(ex, A.rows, order_.data(), place_.data()));
    PetscCall(permute_symmetric(ex, A, order_.data(), place_.data(), ordered_, from_));
  }
  PetscCall(ilu0_symbolic(ex, parameters_.options(), reordered() ? ordered_.view() : A, factors_, report));
  if (reordered()) PetscCall(name_row(ex, order_, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: the factors of A's values.
template <class Ex> PetscErrorCode OneLevelIlu<Ex>::factor(Ex &ex, const CsrView<double> &A, IluReport *report)
{
  PetscFunctionBegin;
  if (reordered()) PetscCall(gather(ex, from_.size(), from_.data(), A.val, ordered_.val.data()));
  PetscCall(ilu0_numeric(ex, reordered() ? ordered_.view() : A, factors_, report));
  if (reordered()) PetscCall(name_row(ex, order_, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode OneLevelIlu<Ex>::create(Ex &ex, DistMatrix<Ex> &A, IluSetup &setup)
{
  PetscFunctionBegin;
  entries_ = static_cast<double>(A.diag.nnz + A.offd.nnz);
  transposed_ = false;
  PetscCall(conclude(
      Phase::ilu_symbolic, A.comm, A.range, [&](IluReport *report) { return analyse(ex, A.diag, report); }, setup));
  if (setup.ready()) PetscCall(update_values(ex, A, setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode OneLevelIlu<Ex>::update_values(Ex &ex, DistMatrix<Ex> &A, IluSetup &setup)
{
  return conclude(
      Phase::ilu_numeric, A.comm, A.range, [&](IluReport *report) { return factor(ex, A.diag, report); }, setup);
}

// Local
template <class Ex> PetscErrorCode OneLevelIlu<Ex>::solve(Ex &ex, bool transposed, const double *b, double *x)
{
  const IluSolve how{transposed, parameters_.sweeps()};
  const auto n = static_cast<std::int64_t>(factors_.rows);
  const double steps = how.sweeps > 0 ? how.sweeps : 1;

  PetscFunctionBegin;
  const LogPhase logged(Phase::ilu_solve);
  if (reordered()) {
    double *work = work_.data();
    PetscCall(gather(ex, n, order_.data(), b, work));
    PetscCall(ilu0_solve(ex, factors_, how, work, work));
    PetscCall(gather(ex, n, place_.data(), static_cast<const double *>(work), x));
  } else {
    PetscCall(ilu0_solve(ex, factors_, how, b, x));
  }
  PetscCall(log_flops(ex, steps * static_cast<double>(2 * factors_.nnz - n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode OneLevelIlu<Ex>::apply(Ex &ex, DistMatrix<Ex> &, const double *b, double *x)
{
  return solve(ex, false, b, x);
}

template <class Ex> PetscErrorCode OneLevelIlu<Ex>::apply_transpose(Ex &ex, DistMatrix<Ex> &A, const double *b, double *x)
{
  const auto transpose = [&] { return attempt(A.comm, [&] { return ilu0_transpose(ex, block(A), factors_); }); };

  PetscFunctionBegin;
  if (!transposed_) PetscCall(need_memory_for("the transposes of the factors", A.comm, transpose));
  transposed_ = true;
  PetscCall(solve(ex, true, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode OneLevelIlu<Ex>::view(PetscViewer viewer) const
{
  const bool native = parameters_.factorization == IluKind::native;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(viewer));
  std::array<int, 2> levels = {factors_.lower.levels, factors_.upper.levels};
  std::array<double, 2> entries = {static_cast<double>(factors_.nnz), entries_};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, levels.data(), 2, MPI_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, entries.data(), 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "one level: ILU(0) of each process's rows\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "entries of the factors: %.0f, %.3f of the matrix's\n", entries[0],
                                   entries[1] > 0 ? entries[0] / entries[1] : 1));
  if (native)
    PetscCall(PetscViewerASCIIPrintf(viewer, "steps of a triangular solve that wait for one another: at most %d with L, %d with U\n",
                                     levels[0], levels[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, OneLevelIlu)
} // namespace amgkit
