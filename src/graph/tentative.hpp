// The tentative prolongator of smoothed aggregation (Vaněk, Mandel, Brezina 1996), distributed: T has one block of columns for each
// aggregate, orthonormal, and B = T B_c, where B is the near-null space and B_c the coarse one. On an aggregate's rows this is B = T R with
// R upper triangular, by classical Gram-Schmidt with a second projection, column after column:
//   v = B_k;  v -= sum_{j<k} h_j T_j with h_j = T_j · v, twice;  R_jk = the sum of both h_j, R_kk = |v|, T_k = v / R_kk.
// |v|² after the second projection is what it was before less the sum of the h_j², which are tiny; so the sums of a projection, h_j and v ·
// v, are taken together.
//
// A column is dependent on those before it where |v| is below dependent_below times what it was in B. Then T_k and R_kk are 0. So it is for
// a column below 1e-160, whose squares vanish.
#pragma once
#include "dist/near_null.hpp"
#include "dist/prolongator.hpp"
#include "graph/node_aggregates.hpp"

namespace amgkit
{
// What rounding leaves of a dependent column is 1e-16 of it, 1e-10 where coordinates lie 1e6 of their distances away from the origin:
// an arbitrary vector, which must not become a coarse unknown. And what A hardly sees of a column that is dropped is at most 1e-10 of it.
inline constexpr double dependent_below = 1e-10;

template <class Ex> struct Tentative {
  // Aggregate I of the rank has columns m I, ..., m I + m - 1; a row of a node in an aggregate has m stored entries, zeros included, a row
  // of a node in none is empty.
  CoarseBlocks<Ex> T;
  NearNull<Ex> coarse;           // B_c: row l of the aggregate's R is row m I + l
  Array<unsigned char, Ex> zero; // of an own column of T: 1 where it is 0
  std::int64_t dropped = 0;      // how many of them are
};
// Collective. Node I has rows bs I, ..., bs I + bs - 1 of B.
//
// On a GPU and one rank: a sort of the nodes, a few passes over them and the pattern (m ints a row), and one kernel for all columns, which
// reads B and writes T, m doubles a row each, once where the caches hold the aggregates under way: at 648k rows, m = 6, 62 MB. It sweeps 26
// times over an aggregate's rows, 0.8 GB if all of them came from L2. About twenty launches; the host waits twice.
// Aggregates on several ranks take two exchanges a projection besides.
template <class Ex>
PetscErrorCode tentative_prolongator(Ex &, MPI_Comm, const NodeAggregates<Ex> &, int bs, const NearNull<Ex> &B, Tentative<Ex> &);

// The local steps of the above. A rank has a piece of each of its `own` aggregates, and then of each ghost aggregate.

// node[ptr[s]], ..., node[ptr[s + 1] - 1] <- the nodes of piece s, ascending; ptr has room for one more than there are pieces, node for all
// nodes.
template <class Ex> PetscErrorCode nodes_of_pieces(Ex &, const Array<int, Ex> &id, int pieces, int *ptr, int *node);
// M's pattern: node I's rows have columns m (id[I] - begin), ... where begin <= id[I] < end, and none elsewhere. Values allocated, not set.
template <class Ex> PetscErrorCode block_pattern(Ex &, const Array<int, Ex> &id, int begin, int end, int bs, int m, Csr<double, Ex> &M);
// crossing <- the own aggregates that other ranks have pieces of, receiving being their columns; the ghosts.
template <class Ex>
PetscErrorCode crossing_pieces(Ex &, const Array<int, Ex> &receiving, int m, int own, int ghosts, Array<int, Ex> &crossing);

// m numbers, or m x m, for each piece: those of own aggregates and those of ghosts.
template <class T> struct OfPieces {
  T *own = nullptr, *ghost = nullptr;
};
struct AggregatePieces {
  int bs = 1, m = 0, own = 0;
  double average = 0; // rows of a piece
  const int *ptr = nullptr, *node = nullptr;
  const double *B = nullptr;
  OfPieces<const int> row;     // where T's rows begin
  OfPieces<double> T, sums, R; // sums: h_j, j < k, and v · v, of a projection
  unsigned char *zero = nullptr;
};
// T, R and zero of all own aggregates as if they were on this rank alone.
template <class Ex> PetscErrorCode orthonormalise(Ex &, const AggregatePieces &);
// The two halves of projection t, 1 <= t < 2 m, for some pieces: the rank's part of the sums; and, once the sums are those of all ranks,
// the rest. Column k is projected in turns 2 k and 2 k + 1, column 0 in turn 1 alone.
template <class Ex> PetscErrorCode add_up(Ex &, const AggregatePieces &, int turn, const Array<int, Ex> &pieces);
template <class Ex> PetscErrorCode project(Ex &, const AggregatePieces &, int turn, const Array<int, Ex> &pieces);
} // namespace amgkit
