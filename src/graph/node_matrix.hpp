// The matrix of nodes of a distributed block system: what strength of connection and aggregates are of when the unknowns bs I, ...,
// bs I + bs - 1 form node I.
#pragma once
#include "dist/matrix.hpp"
#include "graph/nodes.hpp"

#include <type_traits>

namespace amgkit
{
template <class Ex> struct NodeCouplings {
  Array<double, Ex> diag, offd; // in the order of the nodes' entries
};
// nodes: the Frobenius norms of A's bs x bs blocks, positive on the diagonal, negative elsewhere, whole with range, ghosts and halo. A node
// is a ghost where any of its unknowns is one. The norms of a block and of its transpose have the same bits, whichever rank has them.
// bs divides every rank's rows, as PETSc demands of a Mat's block size. Collective.
// c: if it is not nullptr, on all ranks, the c_IJ of nodes.hpp. of_rows are the vectors' entries in the rank's rows; of_columns is not
// read.
template <class Ex>
PetscErrorCode condense(Ex &, DistMatrix<Ex> &A, int bs, DistMatrix<Ex> &nodes, const NodeVectors & = {},
                        std::type_identity_t<NodeCouplings<Ex>> *c = nullptr);
} // namespace amgkit
