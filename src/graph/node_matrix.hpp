// The matrix of nodes of a distributed block system: what strength of connection and aggregates are of when the unknowns bs I, ...,
// bs I + bs - 1 form node I.
#pragma once
#include "dist/matrix.hpp"

namespace amgkit
{
// nodes: the Frobenius norms of A's bs x bs blocks, positive on the diagonal, negative elsewhere, whole with range, ghosts and halo. A node
// is a ghost where any of its unknowns is one. The norms of a block and of its transpose have the same bits, whichever rank has them.
// bs divides every rank's rows, as PETSc demands of a Mat's block size. Collective.
template <class Ex> PetscErrorCode condense(Ex &, const DistMatrix<Ex> &A, int bs, DistMatrix<Ex> &nodes);
} // namespace amgkit
