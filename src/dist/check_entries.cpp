#include "dist/attempt.hpp"
#include "dist/mat_view.hpp"

#include <array>
#include <limits>

namespace amgkit
{
template <class Ex>
PetscErrorCode check_entries(Ex &ex, const DistMatrix<Ex> &A, int sought, double *a, const int *order, RowBounds *bounds)
{
  RowCheck check;
  constexpr PetscInt none = std::numeric_limits<PetscInt>::max();

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] { return check_rows(ex, A.diag, A.offd, a, &check, sought & row_faults); }));
  for (int *row : {&check.first_fault, &check.first_negative}) {
    if (order && *row >= 0) PetscCall(memory_to_host(ex, row, order + *row, sizeof(int)));
  }
  std::array<PetscInt, 2> first = {check.first_fault < 0 ? none : A.range.first() + check.first_fault,
                                   check.first_negative < 0 ? none : A.range.first() + check.first_negative};
  const PetscInt mine = first[0];
  auto negative = static_cast<PetscInt>(check.negative);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, first.data(), 2, MPIU_INT, MPI_MIN, A.comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &negative, 1, MPIU_INT, MPI_SUM, A.comm));
  std::array<double, 3> most = {mine == first[0] ? static_cast<double>(check.faults) : 0, check.bounds.sum, check.bounds.coupling};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most.data(), 3, MPI_DOUBLE, MPI_MAX, A.comm));
  const int faults = static_cast<int>(most[0]);
  if (bounds) *bounds = {most[1], most[2]};
  if (first[0] != none) {
    const char *what = faults & row_not_finite         ? "has an entry that is NaN or infinite"
                       : faults & row_not_sorted       ? "has columns that are not in ascending order"
                       : faults & row_without_diagonal ? "has no diagonal entry"
                                                       : "has a zero on the diagonal";
    SETERRQ(A.comm, faults & row_not_finite ? PETSC_ERR_FP : PETSC_ERR_ARG_WRONG, "Row %" PetscInt_FMT " of the matrix %s", first[0], what);
  }
  PetscCheck(!(sought & row_negative_diagonal) || negative == 0 || negative == A.global_rows(), A.comm, PETSC_ERR_ARG_WRONG,
             "The diagonal has both signs (row %" PetscInt_FMT " is negative): multigrid needs a definite matrix", first[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(check_entries)
} // namespace amgkit
