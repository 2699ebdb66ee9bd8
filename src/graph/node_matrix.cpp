#include "graph/node_matrix.hpp"

#include "dist/attempt.hpp"
#include "dist/near_null.hpp"
#include "graph/coarse_blocks.hpp"
#include "graph/nodes.hpp"
#include "graph/strength.hpp"

namespace amgkit
{
namespace
{
// Collective: the vectors' rows of the ghosts
template <class Ex> PetscErrorCode vectors_of_ghosts(Ex &ex, DistMatrix<Ex> &A, const NodeVectors &B, Array<double, Ex> &ghost_B)
{
  Array<double, Ex> x;

  PetscFunctionBegin;
  if (!A.halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(ghost_B.allocate(ex, static_cast<std::int64_t>(A.ghosts.size()) * B.m));
    PetscCall(x.allocate(ex, A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(exchange_vectors(ex, A, B.m, B.count, B.of_rows, x.data(), ghost_B.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: both blocks, and the nodes behind the ghosts.
template <class Ex>
PetscErrorCode condense_blocks(Ex &ex, const DistMatrix<Ex> &A, int bs, const NodeVectors &B, const double *ghost_B, DistMatrix<Ex> &nodes,
                               NodeCouplings<Ex> *c)
{
  std::vector<int> place; // of a ghost's node among the ghosts
  Array<int, Ex> node, component;

  PetscFunctionBegin;
  nodes.ghosts.clear();
  for (const PetscInt unknown : A.ghosts) {
    if (nodes.ghosts.empty() || nodes.ghosts.back() != unknown / bs) nodes.ghosts.push_back(unknown / bs);
    place.push_back(static_cast<int>(nodes.ghosts.size()) - 1);
  }
  PetscCall(upload(ex, place, node));
  PetscCall(unknowns_of_blocks(ex, A.ghosts, bs, component));
  const GhostColumns columns = {node.data(), component.data(), static_cast<int>(nodes.ghosts.size())};
  PetscCall(condense_to_nodes(ex, A.diag, bs, nodes.own_diag, {B.count, B.m, B.scale, B.of_rows, B.of_rows}, c ? &c->diag : nullptr));
  PetscCall(condense_to_nodes(ex, ghost_block(A), bs, columns, nodes.own_offd, {B.count, B.m, B.scale, B.of_rows, ghost_B},
                              c ? &c->offd : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode condense(Ex &ex, DistMatrix<Ex> &A, int bs, DistMatrix<Ex> &nodes, const NodeVectors &B,
                        std::type_identity_t<NodeCouplings<Ex>> *c)
{
  Array<double, Ex> ghost_B;

  PetscFunctionBegin;
  if (c && B.m > 0) PetscCall(vectors_of_ghosts(ex, A, B, ghost_B));
  PetscCall(nodes.set_rows(A.comm, A.rows / bs));
  PetscCall(attempt(A.comm, [&] { return condense_blocks(ex, A, bs, B, ghost_B.data(), nodes, c); }));
  PetscCall(nodes.complete(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(condense)
} // namespace amgkit
