// Pairwise matching of the rows of one rank's matrix: the step that amgmatching repeats.
//
// Weights (Bernaschi, Celestini, D'Ambra, Vella 2023; D'Ambra, Vassilevski 2013). For a smooth vector w,
//   c_ij = 1 - 2 a_ij w_i w_j / (a_ii w_i² + a_jj w_j²),   weight of {i, j} = log|c_ij|,   only positive weights can match.
// Only the order of the weights matters, so the monotone |c_ij| - 1 stands for log|c_ij|, rounded to single precision, without
// which the noise of sums would break ties. a_ij is the entry of the upper triangle (i < j), so both ends see the same bits; an
// edge exists when a_ij and a_ji are both stored and not 0.
//
// Order of the edges. {i, j} goes before {k, l} when its weight is larger; then when its gap |i - j| is smaller; then when
// floor(min(i, j) / gap) is even and the other's is odd; then when min(i, j) is smaller.
//
// Paths first. An edge is mutually strongest if its weight is the maximum of both its ends. succ(i) is the nearest mutually
// strongest neighbour above i, pred(i) the nearest below; i - succ(i) is a link if pred(succ(i)) = i. Links form disjoint paths;
// on each, the vertices at distances 2k and 2k + 1 from its start are matched. The rest gets the locally dominant matching,
// which is unique for this order: the one a greedy pass over all edges in that order gives.
//
// Positive couplings. Where a_ij w_i w_j > 0, |c_ij| <= 1 as long as the 2 x 2 matrix of the pair is definite: no weight. A row with no
// other couplings stays single, as in a mass matrix, and on coarse levels of flat elements once the short direction is coarsened away.
// Where that leaves too many rows, such edges can match after all others: their weights are below 1e-24.
#pragma once
#include "graph/aggregate.hpp"

namespace amgkit
{
// Edge weights on the pattern of A, and the largest of each row. weight[k] > 0 where the edge can match, else 0.
template <class Ex> struct EdgeWeights {
  Array<float, Ex> weight;    // one per entry of A
  Array<float, Ex> strongest; // one per row
};

// a: A's diagonal; w: the smooth vector, nullptr where it is 1. Both have A.rows entries; A is square with ascending columns.
// all: edges with |c| <= 1 can match after the others, large c first.
template <class Ex>
PetscErrorCode edge_weights(Ex &, CsrView<double> A, const double *a, const double *w, EdgeWeights<Ex> &, bool all = false);

// The same edges as far as Notay's bound for them allows (Notay 2012, algorithm 4.2, with A w ~ 0 in place of row sums 0, and the rows'
// sums alone where the source takes the mean with the columns'). With b_ij = w_i a_ij w_j,
//   delta_i = sum_j b_ij,
//   mu_ij = 2 D_i D_j / (D_i + D_j) / (-(b_ij + b_ji) / 2 + delta_i delta_j / (delta_i + delta_j)),  D_i = b_ii,
// an edge can match only where 0 < mu <= kappa and delta_i + delta_j >= 0: for symmetric A the two-grid method's condition number is then
// at most kappa if all aggregates are pairs and no b_ij is positive. A delta_i below 1e-3 D_i in size counts as 0.
//
// Where i and j are aggregates, which former steps for the same level made, the level's smoother is that of the rows in them: D_i is then
// the sum of their b_rr, and mu the quotient for vectors that are constant on each of the two. b_ii is only what couples i to others. With
// it, two aggregates that hardly couple to anything would match however weak their own coupling is, and the smoother leaves their
// difference as it is: an image of 40,000 pixels, coupled by 1e-6 to 1, took 300 iterations so, and takes 36.
//
// Positive b_ij count in delta_i as if they stood on the diagonal: but for its D_i, mu is that of A_l, A plus the sum over b_ij > 0 of
// b_ij (e_i - e_j)(e_i - e_j)ᵀ, which has A's row sums and no positive couplings. For A the bound holds up to the largest quotient of
// the energies of A_l and A. It would hold for A itself with delta_i = b_ii - sum |b_ij|, the row sums of A minus the sum of
// b_ij (e_i + e_j)(e_i + e_j)ᵀ. But these are negative wherever A w = 0 and some b_ij > 0: of a mesh of tetrahedra no edge is left.
struct PairBound {
  double kappa;
  bool by_quality;        // the edges' weights are kappa / mu in place of |c| - 1: the smallest mu goes first, as in the source
  bool positive;          // edges within the bound with |c| <= 1 can match after the others, small mu first; by_quality has them anyway
  bool beyond;            // so can all other edges, after these, large c first
  const double *smoothed; // D_i, one entry a row; nullptr: b_ii
  const double *outside;  // one entry a row: the part of delta_i that A lacks, the sum of b_ij over columns of other ranks; nullptr: 0
};
template <class Ex>
PetscErrorCode bounded_edge_weights(Ex &, CsrView<double> A, const double *a, const double *w, const PairBound &, EdgeWeights<Ex> &);

// outside[i] = w_i² times the sum of row i of offd: other ranks' w are taken to be w_i, and a_ji to be a_ij.
template <class Ex> PetscErrorCode couplings_outside(Ex &, CsrView<double> offd, const double *w, double *outside);

// mate[i] <- partner of i on its path, -1 where there is none.
template <class Ex> PetscErrorCode match_paths(Ex &, CsrView<double> A, const EdgeWeights<Ex> &, int *mate);

// Completes mate with the locally dominant matching of the vertices where it is -1 (Suitor: Manne, Halappanavar 2014).
template <class Ex> PetscErrorCode match_suitor(Ex &, CsrView<double> A, const EdgeWeights<Ex> &, int *mate);

// mate[i] <- join(j) (graph/aggregate.hpp) for vertices i without mate that have an edge that can match, j the neighbour by the one of
// these that goes first; j has a mate, as the matching is maximal, and takes one vertex, the smallest that wants to join it.
// pair_rest: the others that want to join j are matched with one another, the first with the second and so on (two-hop matching: LaSalle
// et al. 2015). Of all vertices that have an edge at most half as many aggregates are then left: a pair whose vertices k and l others
// want to join makes at most 1 + k/2 + l/2 of 2 + k + l.
template <class Ex> PetscErrorCode join_pairs(Ex &, CsrView<double> A, const EdgeWeights<Ex> &, int *mate, bool pair_rest = false);
} // namespace amgkit
