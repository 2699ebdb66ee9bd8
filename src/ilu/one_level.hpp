// ILU(0) of each rank's block: block Jacobi, with incomplete factors for the blocks.
#pragma once
#include "ilu/method.hpp"
#include "ilu/parameters.hpp"

namespace amgkit
{
// In natural order with exact solves it is PETSc's -pc_type bjacobi -sub_pc_type ilu. In another one the block's rows and columns are
// permuted alike: B = Qᵀ (L U)⁻¹ Q for L U ~ Q A Qᵀ.
template <class Ex> class OneLevelIlu final : public IluMethod<Ex> {
public:
  explicit OneLevelIlu(const IluParameters &parameters) : parameters_(parameters) {}

  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, IluSetup &) override;
  PetscErrorCode update_values(Ex &, DistMatrix<Ex> &A, IluSetup &) override;
  PetscErrorCode apply(Ex &, DistMatrix<Ex> &A, const double *b, double *x) override;
  PetscErrorCode apply_transpose(Ex &, DistMatrix<Ex> &A, const double *b, double *x) override;
  bool reads_matrix(bool transposed) const override { return transposed && !transposed_; }
  PetscErrorCode view(PetscViewer) const override;
  std::size_t bytes() const override
  {
    return factors_.bytes() + order_.bytes() + place_.bytes() + from_.bytes() + ordered_.bytes() + work_.bytes();
  }

private:
  bool reordered() const { return order_.data() != nullptr; }
  CsrView<double> block(const DistMatrix<Ex> &A) const { return reordered() ? ordered_.view() : A.diag; }
  PetscErrorCode analyse(Ex &, const CsrView<double> &A, IluReport *);
  PetscErrorCode factor(Ex &, const CsrView<double> &A, IluReport *);
  PetscErrorCode solve(Ex &, bool transposed, const double *b, double *x);

  IluParameters parameters_;
  Ilu0<Ex> factors_;
  // not in natural order: that order, its inverse; the block in it, whose entry t is the user's entry from_[t]; a vector in it
  Array<int, Ex> order_, place_, from_;
  Csr<double, Ex> ordered_;
  Array<double, Ex> work_;
  double entries_ = 0;      // of the user's matrix on this rank
  bool transposed_ = false; // the transposes are there, on all ranks
};
} // namespace amgkit
