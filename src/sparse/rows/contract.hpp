// The Galerkin product of a prolongator with one entry a row, without a sparse matrix product.
#pragma once
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
// C_IJ = sum of p_i a_ij q_j over the rows i of aggregate I and the columns j with column_id[j] = J.
//
// p: weights of A's rows; column_id, q: aggregate and weight of A's columns, -1 for a column in no aggregate; columns: how many
// aggregates they form.
// C's columns ascend, and every sum is taken in one fixed order (members of I in their order, then the row's entries), so
// that all spaces compute the same bits. slot[k]: where the product with A's entry k goes within its row of C, for contract_values().
template <class Ex>
PetscErrorCode contract(Ex &, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id, const double *q,
                        int columns, Csr<double, Ex> &C, Array<unsigned char, Ex> &slot);
// C's values anew, for other values of A on the same pattern: the same bits as contract() gives.
template <class Ex>
PetscErrorCode contract_values(Ex &, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id, const double *q,
                               const Array<unsigned char, Ex> &slot, Csr<double, Ex> &C);
} // namespace amgkit
