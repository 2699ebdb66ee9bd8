#include "graph/root_aggregates.hpp"

#include "dist/attempt.hpp"
#include "graph/pmis.hpp"
#include "sparse/rows/rearrange.hpp"

namespace amgkit
{
namespace
{
template <class Ex> struct Joining {
  CoarsePoints<Ex> roots;
  Array<PetscInt, Ex> ghost;
  Array<std::uint64_t, Ex> joined, next;
  PetscInt first = 0; // this rank's first aggregate

  // Local
  PetscErrorCode begin(Ex &ex, const DistGraph<Ex> &G)
  {
    const int n = G.diag.rows;

    PetscFunctionBegin;
    PetscCall(allocate_each(ex, n, joined, next));
    PetscCall(upload(ex, *G.ghosts, ghost));
    PetscCall(begin_aggregates(ex, n, roots.number.data(), first, joined.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective
  PetscErrorCode rounds(Ex &ex, const DistGraph<Ex> &G, const CouplingsView &couplings, int k)
  {
    const std::uint64_t *ghost_joined = roots.ghosts.data();

    PetscFunctionBegin;
    for (int round = 0; round < 2 * k; round++) {
      if (round > 0) {
        PetscCall(G.halo->exchange(ex, joined.data()));
        ghost_joined = G.halo->template ghost<std::uint64_t>();
      }
      if (round < k)
        PetscCall(join_neighbours(ex, couplings, joined.data(), ghost_joined, next.data()));
      else
        PetscCall(join_weakly(ex, couplings, joined.data(), ghost_joined, next.data()));
      std::swap(joined, next);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local
  PetscErrorCode finish(Ex &ex, NodeAggregates<Ex> &aggregates)
  {
    std::vector<std::uint64_t> distinct;
    Array<std::uint64_t, Ex> theirs;
    Array<int, Ex> strangers, position;

    PetscFunctionBegin;
    aggregates.count = roots.count;
    aggregates.range = roots.range;
    PetscCall(aggregates.id.allocate(ex, joined.size()));
    PetscCall(number_own_aggregates(ex, joined, first, first + roots.count, aggregates.id.data(), strangers, theirs));
    const std::int64_t count = theirs.size();
    PetscCall(position.allocate(ex, count));
    PetscCall(number_distinct(ex, theirs, static_cast<std::uint64_t>(roots.range.back()), position.data(), distinct));
    PetscCall(number_ghost_aggregates(ex, count, strangers.data(), position.data(), roots.count, aggregates.id.data()));
    aggregates.ghosts.assign(distinct.begin(), distinct.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex>
PetscErrorCode root_aggregates(Ex &ex, const DistGraph<Ex> &G, const DistMatrix<Ex> &nodes, const unsigned char *root, int k,
                               NodeAggregates<Ex> &aggregates)
{
  Joining<Ex> joining;

  PetscFunctionBegin;
  PetscCall(number_coarse_points(ex, G, root, joining.roots));
  joining.first = joining.roots.range.first();
  PetscCall(attempt(G.comm, [&] { return joining.begin(ex, G); }));
  const CouplingsView couplings = {G.diag, G.offd, nodes.diag.view().val, nodes.offd.val, G.range->first(), joining.ghost.data()};
  PetscCall(joining.rounds(ex, G, couplings, k));
  PetscCall(attempt(G.comm, [&] { return joining.finish(ex, aggregates); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(root_aggregates)
} // namespace amgkit
