// Block systems by nodes: with block size bs the unknowns bs I, ..., bs I + bs - 1 form node I. Nodes are matched, and every unknown of a
// node goes to the same-numbered unknown of its aggregate, so that a coarse matrix has the block size of the fine one.
#pragma once
#include "sparse/rows/aggregation.hpp"

#include <type_traits>

namespace amgkit
{
// Vectors that say which couplings of nodes are of one sign: with B_I and B_J, what the first `count` of m vectors have in the two nodes,
//   c_IJ = scale^2 tr(B_I^T A_IJ B_J).
// of_rows[i * m + k] is row i of vector k, and so it is with A's columns. m = 0: vector k is 1 in the rows bs I + k and else 0, and c_IJ is
// the trace of A_IJ. c_IJ has the bits of c_JI where A is symmetric. It is 0 if a term is above 1e300 or all are 0.
struct NodeVectors {
  int count = 0, m = 0;
  double scale = 1;
  const double *of_rows = nullptr, *of_columns = nullptr;
};

// The matrix of nodes: the Frobenius norms of A's bs x bs blocks, positive on the diagonal, negative elsewhere; bs divides A.rows. A's
// entries are finite. A block has the bits of its transpose, and no square overflows or underflows. c: if it is not nullptr, the c_IJ, in
// the order of the nodes' entries.
template <class Ex>
PetscErrorCode condense_to_nodes(Ex &, CsrView<double> A, int bs, Csr<double, Ex> &nodes, const NodeVectors & = {},
                                 std::type_identity_t<Array<double, Ex>> *c = nullptr);
// Columns that are ghosts, all of them off the diagonal: column g belongs to node[g], ascending, of so many, and is its component[g].
struct GhostColumns {
  const int *node, *component;
  int nodes;
};
template <class Ex>
PetscErrorCode condense_to_nodes(Ex &, CsrView<double> A, int bs, const GhostColumns &, Csr<double, Ex> &nodes, const NodeVectors & = {},
                                 std::type_identity_t<Array<double, Ex>> *c = nullptr);

// The aggregates of unknowns that belong to those of nodes.
template <class Ex> PetscErrorCode expand_to_unknowns(Ex &, const Aggregation<Ex> &nodes, int bs, Aggregation<Ex> &unknowns);
} // namespace amgkit
