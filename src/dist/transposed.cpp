#include "dist/transposed.hpp"

#include "base/log.hpp"
#include "sparse/rows/transpose.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode TransposedMatrix<Ex>::create(Ex &ex, DistMatrix<Ex> &A)
{
  Csr<double, Ex> room;
  CsrView<double> diag;

  PetscFunctionBegin;
  rows = A.rows;
  halo_ = &A.halo;
  PetscCall(A.own_rows(ex, room, diag));
  PetscCall(transpose(ex, diag, diag_));
  if (!A.halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(transpose(ex, A.offd, offd_));
  PetscCall(A.halo.arrivals(ex, rows, arrivals_, boundary_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TransposedMatrix<Ex>::begin(Ex &ex, const double *x, HaloExchange<Ex> &back)
{
  PetscFunctionBegin;
  if (!halo_->active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(spmv(ex, offd_.view(), x, halo_->template to_return<double>()));
  PetscCall(back.template begin_back<double>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y -= factor s (what arrives)
template <class Ex>
template <class D>
PetscErrorCode TransposedMatrix<Ex>::end(Ex &ex, HaloExchange<Ex> &back, double factor, const D *s, double *y)
{
  PetscFunctionBegin;
  if (!halo_->active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(back.subtract(ex, arrivals_.view(), boundary_, factor, s, y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(offd_.col.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TransposedMatrix<Ex>::subtract_others(Ex &ex, const double *x, double *y)
{
  HaloExchange<Ex> back(*halo_);

  PetscFunctionBegin;
  PetscCall(begin(ex, x, back));
  PetscCall(end<double>(ex, back, 1, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TransposedMatrix<Ex>::residual(Ex &ex, const double *b, const double *x, double *r)
{
  HaloExchange<Ex> back(*halo_);

  PetscFunctionBegin;
  PetscCall(begin(ex, x, back));
  PetscCall(amgkit::residual(ex, diag_.view(), b, x, r));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag_.col.size())));
  PetscCall(end<double>(ex, back, 1, nullptr, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TransposedMatrix<Ex>::multiply(Ex &ex, const double *x, double *y)
{
  HaloExchange<Ex> back(*halo_);

  PetscFunctionBegin;
  PetscCall(begin(ex, x, back));
  PetscCall(spmv(ex, diag_.view(), x, y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag_.col.size())));
  PetscCall(end<double>(ex, back, -1, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class D>
PetscErrorCode TransposedMatrix<Ex>::relax(Ex &ex, const D *d, RelaxStep step, const double *b, const double *x, const double *previous,
                                           double *y)
{
  HaloExchange<Ex> back(*halo_);

  PetscFunctionBegin;
  PetscCall(begin(ex, x, back));
  PetscCall(amgkit::relax(ex, diag_.view(), d, step, b, x, previous, y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag_.col.size())));
  PetscCall(end(ex, back, step.factor, d, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE_RELAX(Ex, D)                                                                                                           \
  template PetscErrorCode TransposedMatrix<Ex>::relax(Ex &, const D *, RelaxStep, const double *, const double *, const double *, double *);
#define INSTANTIATE(Ex)                                                                                                                    \
  template class TransposedMatrix<Ex>;                                                                                                     \
  INSTANTIATE_RELAX(Ex, float)                                                                                                             \
  INSTANTIATE_RELAX(Ex, double)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_RELAX
} // namespace amgkit
