// From matchings to aggregates: a step's pairs, and the composition of several steps.
#pragma once
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
// In place of a mate: a vertex that shall be in no aggregate.
inline constexpr int left_out = -2;
// And one that joins the pair of j, by j; at most one vertex joins by each j. joined(join(j)) = j; a mate below left_out is a join().
AMGKIT_FN inline int join(int j) { return left_out - 1 - j; }
AMGKIT_FN inline int joined(int mate) { return left_out - 1 - mate; }

// mate[I] <- left_out where node I couples to nothing: rows of Dirichlet conditions, isolated vertices. The smoother alone solves for
// them. diag: the rank's matrix of nodes; offd: the couplings to other ranks, bs rows a node.
template <class Ex> PetscErrorCode leave_out_uncoupled(Ex &, CsrView<double> diag, CsrView<double> offd, int bs, int *mate);

// One aggregate for each pair, followed by those that join its smaller and its larger vertex, and for each single vertex that is not left
// out; numbered by the smaller vertex of the pair. all: it is known that none is left out, which saves a wait.
template <class Ex> PetscErrorCode aggregate_pairs(Ex &, int n, const int *mate, Aggregation<Ex> &, bool all = false);

// The prolongator's weights p and the coarse smooth vector w_c = Pᵀ w of such a step: p_v = w_v / |w|, of the aggregate's w; alone,
// p_v = sign(w_v). Where that is 0 / 0, and for vertices left out, p_v = 0.
template <class Ex> PetscErrorCode pair_weights(Ex &, const Aggregation<Ex> &, const double *w, double *p, double *w_coarse);

// coarse[c] = the sum of w_i² x_i over the rows of aggregate c; w = nullptr: it is 1
template <class Ex> PetscErrorCode sum_over_aggregates(Ex &, const Aggregation<Ex> &, const double *x, const double *w, double *coarse);

// total <- step after total, where step leaves nothing out: rows of total's fine side to step's aggregates. p (weights of total's rows) <-
// p_i * step_p[id(i)], unless p is nullptr.
template <class Ex> PetscErrorCode compose(Ex &, const Aggregation<Ex> &step, const double *step_p, Aggregation<Ex> &total, double *p);
} // namespace amgkit
