// A matrix in another order of its rows and columns.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// place[order[i]] = i. Waits. Errors: PETSC_ERR_ARG_WRONG where order is no permutation of 0, ..., n - 1; place is then undefined.
template <class Ex> PetscErrorCode invert_permutation(Ex &, std::int64_t n, const int *order, int *place);
// B_ij = a_kl for k = order[i], nullptr: i, and j = place[l]; columns ascend. B's entry t is A's entry from[t]: for other values of A,
// gather() of spmv.hpp gives those of B. place: no column twice. Waits.
template <class Ex>
PetscErrorCode permute(Ex &, CsrView<double> A, const int *order, const int *place, Csr<double, Ex> &B, Array<int, Ex> &from);
// The same of a square matrix whose columns have the order of its rows. place: of order, by invert_permutation().
template <class Ex>
PetscErrorCode permute_symmetric(Ex &, CsrView<double> A, const int *order, const int *place, Csr<double, Ex> &B, Array<int, Ex> &from);
} // namespace amgkit
