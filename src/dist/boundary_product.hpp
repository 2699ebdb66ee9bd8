// The rows of A P in which other ranks' rows of P take part.
//
// For products with P, ghosts stand among a row's own columns, in the order of the global indices. A copy of A with such columns takes 12
// bytes an entry. Where few rows have ghosts, those rows alone are copied and multiplied; the others are multiplied as they stand in A's
// block of own columns, and the product is given the rows that are here. No bit of it changes.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
template <class Ex> class BoundaryProduct {
public:
  // Local. P: its rows of A's ghosts, and of this rank, in the order of the global indices. A's list of such rows is used as long as this.
  PetscErrorCode create(Ex &, const SpgemmOptions &, const DistMatrix<Ex> &A, CsrView<double> P);
  // Local: for other values on the same patterns.
  PetscErrorCode multiply(Ex &, const DistMatrix<Ex> &A, CsrView<double> P);
  void forget();

  GivenRows rows() const { return {row_, AP_.view()}; }
  std::size_t bytes() const { return AP_.bytes() + plan_.bytes(); }

private:
  const int *row_ = nullptr;
  Csr<double, Ex> AP_;
  SpgemmPlan<Ex> plan_;
};
} // namespace amgkit
