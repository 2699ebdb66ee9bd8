// The transpose of a distributed matrix: the transposes of its two blocks. What a rank's rows give to other ranks' columns travels the
// halo's way back, and the owners add it in a fixed order.
#pragma once
#include "dist/matrix.hpp"

namespace amgkit
{
template <class Ex> class TransposedMatrix {
public:
  int rows = 0;

  // Local. A must outlive this object; of A's values it keeps a copy.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A);
  // As DistMatrix's, with Aᵀ in place of A.
  PetscErrorCode residual(Ex &, const double *b, const double *x, double *r);
  PetscErrorCode multiply(Ex &, const double *x, double *y);
  PetscErrorCode subtract_others(Ex &, const double *x, double *y);
  bool halo_active() const { return halo_->active(); }
  CsrView<double> own_block() const { return diag_.view(); }
  template <class D> PetscErrorCode relax(Ex &, const D *d, RelaxStep, const double *b, const double *x, const double *previous, double *y);
  std::size_t bytes() const { return diag_.bytes() + offd_.bytes() + arrivals_.bytes() + boundary_.bytes(); }

private:
  PetscErrorCode begin(Ex &, const double *x, HaloExchange<Ex> &back);
  template <class D> PetscErrorCode end(Ex &, HaloExchange<Ex> &back, double factor, const D *s, double *y);

  Halo<Ex> *halo_ = nullptr;
  Csr<double, Ex> diag_;
  Csr<double, Ex> offd_;     // a row a ghost
  Csr<double, Ex> arrivals_; // ones: which of the values that arrive belong to a row
  Array<int, Ex> boundary_;  // the rows for which any arrive
};
} // namespace amgkit
