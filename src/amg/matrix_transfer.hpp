// A prolongator that is a sparse matrix, as any method may make it.
#pragma once
#include "amg/level.hpp"
#include "dist/galerkin_product.hpp"

namespace amgkit
{
// P and R are read as compressed rows, sums in double precision, whatever the vectors are.
template <class Ex> class MatrixTransfer : public Transfer<Ex> {
public:
  Prolongator<Ex> P; // what its caller has to set is set before create()

  // Collective, once: P completed, and coarse = Pᵀ fine P; fine must stay where it is.
  PetscErrorCode create(Ex &, ProductForm, const SpgemmOptions &, DistMatrix<Ex> &fine, DistMatrix<Ex> &coarse);
  // Collective: for new values in P's blocks on the same patterns, if P.values_change; before refresh().
  PetscErrorCode reweight(Ex &);

  PetscErrorCode restrict_residual(Ex &ex, const double *r, double *b) override { return P.multiply_transposed(ex, r, b); }
  PetscErrorCode restrict_residual(Ex &ex, const float *r, float *b) override { return P.multiply_transposed(ex, r, b); }
  PetscErrorCode add_correction(Ex &ex, const double *e, double *x) override { return P.add_product(ex, e, x); }
  PetscErrorCode add_correction(Ex &ex, const float *e, float *x) override { return P.add_product(ex, e, x); }
  PetscErrorCode prepare_single(Ex &, bool *fits) override;
  PetscErrorCode refresh(Ex &, Level<Ex> &fine, DistMatrix<Ex> &coarse, bool *sound) override;
  PetscErrorCode rows(Ex &, PetscInt first_coarse, HostRows &) const override;
  bool in_blocks() const override { return product_.in_blocks(); }
  std::size_t bytes() const override { return P.bytes() + product_.bytes(); }

private:
  GalerkinProduct<Ex> product_;
};

// Collective: diagonal <- a_ii, and what Level has of the name sound. Pᵀ A P of a matrix whose rows are of very different size, or that is
// far from symmetric, may have diagonals of both signs.
template <class Ex> PetscErrorCode check_coarse(Ex &, const DistMatrix<Ex> &, Array<double, Ex> &diagonal, bool *sound);
} // namespace amgkit
