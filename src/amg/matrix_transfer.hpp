// A prolongator that is a sparse matrix, as any method may make it.
#pragma once
#include "amg/level.hpp"
#include "dist/galerkin_product.hpp"

namespace amgkit
{
// P and R are read as a Prolongator stores them, sums in double precision, whatever the vectors are. R is Pᵀ, unless its transpose is
// given, too.
template <class Ex> class MatrixTransfer : public Transfer<Ex> {
public:
  Prolongator<Ex> P; // what its caller has to set is set before create()
  std::unique_ptr<Prolongator<Ex>> R_transposed;

  // Collective, once: P, and R, completed, coarse = R fine P, and of_coarse: its diagonal, and whether multigrid can go on with it. R A P
  // of a matrix whose rows are of very different size, or that is far from symmetric, may have diagonals of both signs. fine must stay
  // where it is.
  PetscErrorCode create(Ex &, ProductForm, const SpgemmOptions &, DistMatrix<Ex> &fine, DistMatrix<Ex> &coarse, LevelSetup<Ex> &of_coarse);
  // Collective, with P.values_change: for new values in the unfolded blocks of P and R; before refresh().
  PetscErrorCode reweight(Ex &);
  // As create(), after renew() and, with P.values_change reweight().
  PetscErrorCode refresh(Ex &, Level<Ex> &fine, const LevelSetup<Ex> &of_fine, DistMatrix<Ex> &coarse, LevelSetup<Ex> &of_coarse) final;

  PetscErrorCode restrict_residual(Ex &ex, const double *r, double *b, const FirstStep<double> &step) override
  {
    return Rt().multiply_transposed(ex, r, b, step);
  }
  PetscErrorCode restrict_residual(Ex &ex, const float *r, float *b, const FirstStep<float> &step) override
  {
    return Rt().multiply_transposed(ex, r, b, step);
  }
  PetscErrorCode add_correction(Ex &ex, const double *e, double *x) override { return P.add_product(ex, e, x); }
  PetscErrorCode add_correction(Ex &ex, const float *e, float *x) override { return P.add_product(ex, e, x); }
  PetscErrorCode restrict_transposed(Ex &ex, const double *r, double *b) override { return P.multiply_transposed(ex, r, b); }
  PetscErrorCode add_transposed(Ex &ex, const double *e, double *x) override { return Rt().add_product(ex, e, x); }
  bool restricts_by_transpose() const override { return !R_transposed; }
  PetscErrorCode prepare_single(Ex &, bool *fits) override;
  PetscErrorCode rows(Ex &ex, PetscInt first_coarse, HostRows &out) const override { return download(ex, P, first_coarse, out); }
  PetscErrorCode rows_of_restriction(Ex &ex, PetscInt first_coarse, HostRows &out) const override
  {
    return download(ex, R_transposed ? *R_transposed : P, first_coarse, out);
  }
  PetscErrorCode meet_peers(Ex &ex) override
  {
    return for_each([&](Prolongator<Ex> &one) { return one.halo.meet_peers(ex); });
  }
  bool by_peers() const override { return P.halo.by_peers() && (!R_transposed || R_transposed->halo.by_peers()); }
  bool in_blocks() const override { return product_.in_blocks(); }
  std::size_t bytes() const override { return P.bytes() + (R_transposed ? R_transposed->bytes() : 0) + product_.bytes(); }

protected:
  // What a method adds. Collective: what it takes of fine's new values, P's among it where these change with them; P is unfolded.
  virtual PetscErrorCode renew(Ex &, Level<Ex> &, const LevelSetup<Ex> &) { return PETSC_SUCCESS; }
  // Local: what coarse has besides R fine P.
  virtual PetscErrorCode complete_coarse(Ex &, DistMatrix<Ex> &) const { return PETSC_SUCCESS; }

private:
  PetscErrorCode fold_and_check(Ex &, DistMatrix<Ex> &coarse, LevelSetup<Ex> &of_coarse);
  Prolongator<Ex> &Rt() { return R_transposed ? *R_transposed : P; }
  // Local: f of P, and of Rᵀ where that is another matrix.
  template <class F> PetscErrorCode for_each(F f)
  {
    PetscFunctionBegin;
    PetscCall(f(P));
    if (R_transposed) PetscCall(f(*R_transposed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode download(Ex &, const Prolongator<Ex> &, PetscInt first_coarse, HostRows &);

  GalerkinProduct<Ex> product_;
};
} // namespace amgkit
