#include "amg/fewer_ranks.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
// process_eq_limit 0: below so much a rank, the messages between ranks take longer than the work they share. A GPU visits a level of 14
// million entries, two million rows of seven, in about 0.25 ms, the time of eight exchanges; and what one of them holds alone is played as
// a graph. By entries, as a setup's products grow with them: coarse levels of amgclassical have up to a hundred a row.
constexpr double rows_worth_a_cpu = 500, entries_worth_a_gpu = 14e6;
// GPUs that share a level wait as long for exchanges when there are half as many, and work twice as long: unless one suffices, it must be a
// small part of them.
constexpr double cpus_left_of = 2, gpus_left_of = 8;
} // namespace

template <class Ex> PetscErrorCode count_fewer_ranks(const AmgParameters &parameters, const DistMatrix<Ex> &A, PetscInt last, int *ranks)
{
  const auto size = static_cast<PetscInt>(A.range.size()) - 1, rows = A.global_rows();
  const bool by_rows = !Ex::on_device || parameters.process_eq_limit > 0;
  double work = static_cast<double>(A.diag.nnz + A.offd.nnz), limit = entries_worth_a_gpu;

  PetscFunctionBegin;
  *ranks = 0;
  if (size == 1 || rows > INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (by_rows) {
    work = static_cast<double>(rows);
    limit = parameters.process_eq_limit > 0 ? static_cast<double>(parameters.process_eq_limit) : rows_worth_a_cpu;
  } else {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &work, 1, MPI_DOUBLE, MPI_SUM, A.comm));
  }
  const bool ends = parameters.coarse_solver == CoarseKind::dense && rows <= last;
  const double wanted = ends ? 1 : std::max(std::ceil(work / limit), 1.0);
  const double of = by_rows ? cpus_left_of : gpus_left_of;
  if (wanted == 1 || of * wanted <= static_cast<double>(size)) *ranks = static_cast<int>(wanted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(count_fewer_ranks)
} // namespace amgkit
