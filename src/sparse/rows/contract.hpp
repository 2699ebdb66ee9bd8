// The Galerkin product of a prolongator with one entry a row, without a sparse matrix product.
#pragma once
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
// C_IJ = sum of p_i a_ij q_j over the rows i of aggregate I and the columns j with column_id[j] = J.
//
// p: weights of A's rows; column_id, q: aggregate and weight of A's columns, -1 for a column in no aggregate; columns: how many
// aggregates they form. p and q may be nullptr, which stands for ones.
// C's columns ascend, and every sum is taken in one fixed order (members of I in their order, then the row's entries), so
// that all spaces compute the same bits. slot[k]: where the product with A's entry k goes within its row of C, for contract_values().
// *all: whether every slot is known, as no row of C is too long for that.
template <class Ex>
PetscErrorCode contract(Ex &, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id, const double *q,
                        int columns, Csr<double, Ex> &C, Array<unsigned char, Ex> &slot, bool *all = nullptr);
// C's pattern alone; its values are left as they come.
template <class Ex>
PetscErrorCode contract_pattern(Ex &, CsrView<double> A, const Aggregation<Ex> &rows, const int *column_id, int columns, Csr<double, Ex> &C,
                                Array<unsigned char, Ex> &slot, bool *all);
// slot, of a contraction of A to B with aggregates id, becomes that of A to C. next: the slots of B's contraction to C. All of both are
// known.
template <class Ex>
PetscErrorCode compose_slots(Ex &, CsrView<double> A, const int *id, const int *B_ptr, const unsigned char *next, unsigned char *slot);
// C's values anew, for other values of A on the same pattern: the same bits as contract() gives.
template <class Ex>
PetscErrorCode contract_values(Ex &, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id, const double *q,
                               const Array<unsigned char, Ex> &slot, Csr<double, Ex> &C);
} // namespace amgkit
