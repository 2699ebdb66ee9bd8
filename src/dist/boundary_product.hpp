// The rows of A P in which other ranks' rows of P take part.
//
// For products with P, ghosts stand among a row's own columns, in the order of the global indices. A copy of A with such columns takes 12
// bytes an entry. Where few rows have ghosts, those rows alone are copied and multiplied; the others are multiplied as they stand in A's
// block of own columns, without a copy. The rows that are computed here are then inserted into A P. No bit of it changes.
#pragma once
#include "dist/matrix.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
template <class Ex> class BoundaryProduct {
public:
  // Local. P: its rows of A's ghosts, and of this rank, in the order of the global indices.
  PetscErrorCode create(Ex &, const SpgemmOptions &, const DistMatrix<Ex> &A, CsrView<double> P);
  // Local: for other values on the same patterns. Copies the rows of A again, and waits.
  PetscErrorCode multiply(Ex &, const DistMatrix<Ex> &A, CsrView<double> P);
  // For a product of the same A; none before create().
  GivenRows rows(const DistMatrix<Ex> &A) const { return {A.boundary.data(), AP_.view()}; }
  std::size_t bytes() const { return AP_.bytes() + plan_.bytes(); }

private:
  Csr<double, Ex> AP_;
  SpgemmPlan<Ex> plan_;
};
} // namespace amgkit
