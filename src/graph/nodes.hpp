// Block systems by nodes: with block size bs the unknowns bs I, ..., bs I + bs - 1 form node I. Nodes are matched, and every unknown of a
// node goes to the same-numbered unknown of its aggregate, so that a coarse matrix has the block size of the fine one.
#pragma once
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
// The matrix of nodes: the Frobenius norms of A's bs x bs blocks, positive on the diagonal, negative elsewhere; bs divides A.rows. A's
// entries are finite. A block has the bits of its transpose, and no square overflows or underflows.
template <class Ex> PetscErrorCode condense_to_nodes(Ex &, CsrView<double> A, int bs, Csr<double, Ex> &nodes);
// The same for columns that are ghosts, all of them off the diagonal: column g of A belongs to node[g], ascending, of so many.
template <class Ex> PetscErrorCode condense_to_nodes(Ex &, CsrView<double> A, int bs, const int *node, int columns, Csr<double, Ex> &nodes);

// The aggregates of unknowns that belong to those of nodes.
template <class Ex> PetscErrorCode expand_to_unknowns(Ex &, const Aggregation<Ex> &nodes, int bs, Aggregation<Ex> &unknowns);
} // namespace amgkit
