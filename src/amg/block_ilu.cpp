#include "amg/block_ilu.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/rows.hpp"

#include <limits>

namespace amgkit
{
// Local: the fault of this rank's block, and its row.
template <class Ex> PetscErrorCode BlockIlu<Ex>::factor_block(Ex &ex, const DistMatrix<Ex> &A, const double *d, Fault *fault, int *row)
{
  Csr<double, Ex> room;
  CsrView<double> block;
  IluReport report;

  PetscFunctionBegin;
  PetscCall(A.own_rows(ex, room, block));
  if (!analysed_) {
    PetscCall(ilu0_symbolic(ex, {.zero_pivot = 0}, block, ilu_, &report));
    analysed_ = report.fault == IluFault::none;
  }
  if (analysed_) PetscCall(ilu0_numeric(ex, block, ilu_, &report));
  *fault = static_cast<Fault>(report.fault);
  *row = report.row;
  if (*fault == Fault::none) PetscCall(look_at_factors(ex, d, fault, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode BlockIlu<Ex>::look_at_factors(Ex &ex, const double *d, Fault *fault, int *row)
{
  constexpr double most = 1 / std::numeric_limits<double>::epsilon();
  Array<double, Ex> x;

  PetscFunctionBegin;
  PetscCall(x.allocate(ex, ilu_.rows));
  PetscCall(invert_entries(ex, ilu_.rows, d, x.data()));
  PetscCall(ilu0_solve(ex, ilu_, {}, static_cast<const double *>(x.data()), x.data()));
  PetscCall(first_unstable_row(ex, ilu_.rows, ilu_.inverse.data(), d, most, x.data(), row));
  if (*row < ilu_.rows) *fault = Fault::unstable;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective, with factors that are good on all ranks.
template <class Ex> PetscErrorCode BlockIlu<Ex>::smooth_an_error(Ex &ex, DistMatrix<Ex> &A, const double *d, Fault *fault, int *row)
{
  constexpr int sweeps = 4;
  Array<double, Ex> x, r, zero;

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(allocate_each(ex, A.rows, x, r, zero));
    PetscCall(memory_zero(ex, zero.data(), zero.bytes()));
    PetscCall(random_error(ex, A.rows, A.range.first(), d, x.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (int sweep = 0; sweep < sweeps; sweep++) {
    PetscCall(A.residual(ex, static_cast<const double *>(zero.data()), x.data(), r.data()));
    PetscCall(solve(ex, false, static_cast<const double *>(r.data()), r.data()));
    PetscCall(add(ex, A.rows, static_cast<const double *>(r.data()), x.data()));
  }
  PetscCall(first_large_error(ex, A.rows, d, x.data(), row));
  if (*row < A.rows) *fault = Fault::divergent;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: fault_ and row_ are those of the first row with one.
template <class Ex> PetscErrorCode BlockIlu<Ex>::agree(const DistMatrix<Ex> &A, Fault fault, int row)
{
  constexpr std::int64_t none = INT64_MAX, kinds = 8;
  std::int64_t first = none;

  PetscFunctionBegin;
  if (fault != Fault::none) first = kinds * (A.range.first() + row) + static_cast<int>(fault);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, A.comm));
  fault_ = first == none ? Fault::none : static_cast<Fault>(first % kinds);
  row_ = first == none ? -1 : static_cast<PetscInt>(first / kinds);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode BlockIlu<Ex>::factor(Ex &ex, DistMatrix<Ex> &A, const double *d)
{
  Fault fault = Fault::unknown;
  int row = -1;

  PetscFunctionBegin;
  fault_ = Fault::unknown;
  PetscCall(attempt(A.comm, [&] { return factor_block(ex, A, d, &fault, &row); }));
  PetscCall(agree(A, fault, row));
  if (good()) {
    PetscCall(smooth_an_error(ex, A, d, &fault, &row));
    PetscCall(agree(A, fault, row));
  }
  if (!good()) {
    ilu_ = {};
    analysed_ = false;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode BlockIlu<Ex>::transpose(Ex &ex, const DistMatrix<Ex> &A)
{
  Csr<double, Ex> room;
  CsrView<double> block;

  PetscFunctionBegin;
  if (ilu_.transposed || A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(A.own_rows(ex, room, block));
  PetscCall(ilu0_transpose(ex, block, ilu_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode BlockIlu<Ex>::solve(Ex &ex, bool transposed, const V *b, V *x)
{
  PetscFunctionBegin;
  PetscCall(ilu0_solve(ex, ilu_, {.transposed = transposed}, b, x));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(ilu_.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::string BlockIlu<Ex>::trouble() const
{
  const auto because = [&](const char *what) { return "l1jacobi, as with ILU(0) row " + std::to_string(row_) + " " + what; };
  switch (fault_) {
  case Fault::no_diagonal:
    return because("has no diagonal entry");
  case Fault::zero_pivot:
    return because("has a zero pivot");
  case Fault::not_finite:
    return because("is not finite");
  case Fault::unstable:
    return because("has a pivot of another sign than its diagonal entry, or solves that grow without bounds");
  case Fault::divergent:
    return because("has an error that grows");
  case Fault::none:
  case Fault::unknown:
    break;
  }
  return "";
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class BlockIlu<Ex>;                                                                                                             \
  template PetscErrorCode BlockIlu<Ex>::solve(Ex &, bool, const float *, float *);                                                         \
  template PetscErrorCode BlockIlu<Ex>::solve(Ex &, bool, const double *, double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
