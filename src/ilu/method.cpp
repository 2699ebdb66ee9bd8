#include "ilu/method.hpp"

#include "dist/attempt.hpp"

#include <limits>

namespace amgkit
{
namespace
{
PetscErrorCode tell_all(MPI_Comm comm, PetscInt first, const IluReport &report, IluSetup &setup)
{
  constexpr PetscInt none = std::numeric_limits<PetscInt>::max();
  const PetscInt mine = report.fault == IluFault::none ? none : first + report.row;
  PetscInt row = mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPIU_INT, MPI_MIN, comm));
  int fault = mine == row ? static_cast<int>(report.fault) : 0; // no two ranks have the same row
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fault, 1, MPI_INT, MPI_MAX, comm));
  setup.fault = static_cast<IluFault>(fault);
  if (row != none) setup.row = row;
  setup.shifts = report.shifts;
  setup.shift_amount = report.shift_amount;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &setup.shifts, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &setup.shift_amount, 1, MPI_DOUBLE, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode conclude(Phase phase, MPI_Comm comm, const RankRanges &range, const std::function<PetscErrorCode(IluReport *)> &work,
                        IluSetup &setup)
{
  IluReport report;

  PetscFunctionBegin;
  setup = {};
  const LogPhase logged(phase);
  PetscCall(attempt(comm, [&] { return work(&report); }));
  PetscCall(tell_all(comm, range.first(), report, setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
