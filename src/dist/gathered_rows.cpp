#include "dist/gathered_rows.hpp"

#include "dist/agree.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
int ghosts_before(const std::vector<PetscInt> &ghosts, PetscInt first)
{
  return static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), first) - ghosts.begin());
}

template <class Ex> PetscErrorCode places_of_ghosts(Ex &ex, std::size_t ghosts, int before, int own, Array<int, Ex> &column)
{
  std::vector<int> columns(ghosts);

  PetscFunctionBegin;
  PetscCheck(static_cast<std::int64_t>(ghosts) + own <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 columns on one process: use more processes");
  std::iota(columns.begin(), columns.begin() + before, 0);
  std::iota(columns.begin() + before, columns.end(), before + own);
  PetscCall(upload(ex, columns, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> StackedRows GatheredRows<Ex>::stack(const DistRows &B) const
{
  const CsrView<double> others = ghost_.rows();
  return {{B.diag}, {B.offd},    others.cols, ghost_.before(), ghosts_before(*B.ghosts, B.first), ghost_.column_of_ghost().data(),
          others,   rows_before_};
}

template <class Ex>
PetscErrorCode GatheredRows<Ex>::create(Ex &ex, MPI_Comm comm, Halo<Ex> &halo, const DistRows &B, int before, bool *out_of_memory)
{
  PetscFunctionBegin;
  rows_before_ = before;
  PetscCall(ghost_.create(ex, comm, halo, B, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(
      comm, [&] { return apart(B) ? PETSC_SUCCESS : stack_rows(ex, stack(B), stacked_); }, out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GatheredRows<Ex>::update(Ex &ex, const DistRows &B)
{
  PetscFunctionBegin;
  PetscCall(ghost_.update(ex, B));
  if (!apart(B)) PetscCall(stack_values(ex, stack(B), stacked_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode places_of_ghosts(Ex &, std::size_t, int, int, Array<int, Ex> &);                                                 \
  template class GatheredRows<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
