#include "dist/matrix.hpp"

#include "base/log.hpp"
#include "sparse/rows.hpp"

namespace amgkit
{
PetscErrorCode number_over_ranks(MPI_Comm comm, int n, std::vector<PetscInt> &range)
{
  int size;
  PetscInt mine = n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  range.assign(static_cast<std::size_t>(size) + 1, 0);
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, range.data() + 1, 1, MPIU_INT, comm));
  for (std::size_t r = 0; r + 1 < range.size(); r++) range[r + 1] += range[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::set_rows(MPI_Comm c, int n)
{
  PetscFunctionBegin;
  comm = c;
  rows = n;
  PetscCall(number_over_ranks(comm, n, range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::allocate(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(nonempty_rows(ex, offd, boundary));
  PetscCall(work.allocate(ex, rows));
  PetscCall(halo.allocate(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows that need no ghost are computed while the halo travels.
template <class Ex> PetscErrorCode DistMatrix<Ex>::residual(Ex &ex, const double *b, const double *x, double *r)
{
  PetscFunctionBegin;
  PetscCall(halo.begin(ex, x));
  PetscCall(stored.residual(ex, diag, b, x, r));
  PetscCall(halo.template end<double>());
  PetscCall(subtract_rows(ex, offd, boundary.size(), boundary.data(), 1, nullptr, halo.template ghost<double>(), r));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::multiply(Ex &ex, const double *x, double *y)
{
  PetscFunctionBegin;
  PetscCall(halo.begin(ex, x));
  PetscCall(stored.multiply(ex, diag, x, y));
  PetscCall(halo.template end<double>());
  PetscCall(subtract_rows(ex, offd, boundary.size(), boundary.data(), -1, nullptr, halo.template ghost<double>(), y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode DistMatrix<Ex>::relax(Ex &ex, const double *d, RelaxStep step, const double *b, const double *x, const double *previous,
                                     double *y)
{
  PetscFunctionBegin;
  PetscCall(halo.begin(ex, x));
  PetscCall(stored.relax(ex, diag, d, step, b, x, previous, y));
  PetscCall(halo.template end<double>());
  PetscCall(subtract_rows(ex, offd, boundary.size(), boundary.data(), step.factor, d, halo.template ghost<double>(), y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz) + 3.0 * rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex) template struct DistMatrix<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
