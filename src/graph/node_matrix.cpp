#include "graph/node_matrix.hpp"

#include "dist/attempt.hpp"
#include "graph/coarse_blocks.hpp"
#include "graph/nodes.hpp"

namespace amgkit
{
namespace
{
// Local: both blocks, and the nodes behind the ghosts.
template <class Ex> PetscErrorCode condense_blocks(Ex &ex, const DistMatrix<Ex> &A, int bs, DistMatrix<Ex> &nodes)
{
  std::vector<int> place; // of a ghost's node among the ghosts
  Array<int, Ex> node;

  PetscFunctionBegin;
  nodes.ghosts.clear();
  for (const PetscInt unknown : A.ghosts) {
    if (nodes.ghosts.empty() || nodes.ghosts.back() != unknown / bs) nodes.ghosts.push_back(unknown / bs);
    place.push_back(static_cast<int>(nodes.ghosts.size()) - 1);
  }
  PetscCall(upload(ex, place, node));
  PetscCall(condense_to_nodes(ex, A.diag, bs, nodes.own_diag));
  PetscCall(condense_to_nodes(ex, ghost_block(A), bs, node.data(), static_cast<int>(nodes.ghosts.size()), nodes.own_offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode condense(Ex &ex, const DistMatrix<Ex> &A, int bs, DistMatrix<Ex> &nodes)
{
  PetscFunctionBegin;
  PetscCall(nodes.set_rows(A.comm, A.rows / bs));
  PetscCall(attempt(A.comm, [&] { return condense_blocks(ex, A, bs, nodes); }));
  PetscCall(nodes.complete(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(condense)
} // namespace amgkit
