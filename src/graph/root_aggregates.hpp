// Aggregates around roots (Bell, Dalton, Olson 2012): every root begins one, numbered over the ranks in the order of the global indices.
// Then k rounds of joining: vertex i without an aggregate joins that of the j in S_i which had one before the round and has the largest
// |a_ij|, for ties the largest key (hash(j), j). With the roots of mis() for the same k, every vertex that depends on any other is in an
// aggregate afterwards, and reaches its root by edges within it.
//
// A vertex without an edge may be coupled to others all the same: its couplings are weak if those of each neighbour are many times as
// large. In no aggregate, it would be where P cannot represent the constant, and a smooth error would cost many times its energy. So k
// more rounds take all that is marked for edges, but for vertices with |a_ii| > 2 sum_j |a_ij|, which a smoother solves alone. In no
// aggregate remain these, those without a marked coupling, and those that are more than k couplings away from an aggregate.
//
// For a 7-point grid with n vertices a round reads 16 n bytes of numbers and writes 8 n, and reads 4 + 7 * 13 bytes for each of the
// vertices that have no aggregate yet.
#pragma once
#include "graph/dist_graph.hpp"
#include "graph/node_aggregates.hpp"

namespace amgkit
{
// nodes: the matrix of which G is a graph. root: of this rank's vertices. Collective.
template <class Ex>
PetscErrorCode root_aggregates(Ex &, const DistGraph<Ex> &G, const DistMatrix<Ex> &nodes, const unsigned char *root, int k,
                               NodeAggregates<Ex> &);

// The local steps. What vertices belong to are global numbers of aggregates, no_key: none.
// joined[i] <- first + number[i], none for number[i] < 0
template <class Ex> PetscErrorCode begin_aggregates(Ex &, int n, const int *number, PetscInt first, std::uint64_t *joined);
// The couplings of a rank's vertices; first: global index of the first one; ghost: of the ghosts.
struct CouplingsView {
  EdgesView diag, offd;
  const double *val, *ghost_val;
  PetscInt first;
  const PetscInt *ghost;
};
// after <- what vertices belong to when those in no aggregate have joined one of a neighbour's
template <class Ex>
PetscErrorCode join_neighbours(Ex &, const CouplingsView &, const std::uint64_t *before, const std::uint64_t *ghost_before,
                               std::uint64_t *after);
// The same for the last k rounds, by all that is marked.
template <class Ex>
PetscErrorCode join_weakly(Ex &, const CouplingsView &, const std::uint64_t *before, const std::uint64_t *ghost_before,
                           std::uint64_t *after);
// id[i] <- joined[i] - first for aggregates first <= joined[i] < end, else -1; strangers: the vertices of other aggregates, ascending, and
// theirs these. Waits.
template <class Ex>
PetscErrorCode number_own_aggregates(Ex &, const Array<std::uint64_t, Ex> &joined, PetscInt first, PetscInt end, int *id,
                                     Array<int, Ex> &strangers, Array<std::uint64_t, Ex> &theirs);
// id[vertex[t]] <- count + position[t]
template <class Ex>
PetscErrorCode number_ghost_aggregates(Ex &, std::int64_t n, const int *vertex, const int *position, int count, int *id);
} // namespace amgkit
