// PMIS (De Sterck, Yang, Heys 2006): which points of a distributed graph are coarse.
//
// Point i depends on those of S_i. Its measure is m_i = |{k : i in S_k}|, its key (m_i, hash(i), i), i the global index; keys are compared
// lexicographically. Points with m_i = 0, and those with S_i empty unless they shall be C, are F. Then, until all are decided:
//   an undecided point whose key is the largest among the undecided ones of S_i and {k : i in S_k} becomes C;
//   an undecided point with a C point in S_i becomes F.
//
// For this it is enough that every point looks at S_i: it is F as soon as one of the points in S_i with a larger key is C, and C as soon as
// all of them are F. For by these rules a j in S_i with a smaller key becomes C only after i has been decided, i being among the k with
// j in S_k; so j has no part in i's fate. Hence a decision needs no news of the k, and it is the same whenever it is taken: any order of
// the points, any number of ranks and any delay between them end in the splitting of the greedy method by decreasing keys.
//
// A C point has no C point of larger key in S_i; C points are independent where S is symmetric. An F point has a C point in S_i, or is F
// from the beginning.
#pragma once
#include "graph/dist_graph.hpp"

namespace amgkit
{
// What becomes of a point that depends on nothing: F, left to the smoother; or C, before all others, where nothing could interpolate it.
enum class Isolated { fine, coarse };

// coarse[i] <- 1: C, 0: F. Collective.
template <class Ex> PetscErrorCode pmis(Ex &, const DistGraph<Ex> &, Isolated, Array<unsigned char, Ex> &coarse);

// The C points of all ranks, numbered in the order of the global indices.
template <class Ex> struct CoarsePoints {
  int count = 0;                   // of this rank
  RankRanges range;                // rank r has numbers range[r] <= c < range[r + 1]
  Array<int, Ex> number;           // of a row: its number less this rank's first, -1 for F
  Array<std::uint64_t, Ex> ghosts; // of a ghost: its number, no_key for F
};
// Collective.
template <class Ex> PetscErrorCode number_coarse_points(Ex &, const DistGraph<Ex> &, const unsigned char *coarse, CoarsePoints<Ex> &);
// of_coarse[c] <- x[i] where c is number[i]: what fine rows say of themselves, like their unknown, for the next level. Local.
template <class Ex, class T> PetscErrorCode inject(Ex &, int n, const int *number, const T *x, T *of_coarse);

// The local steps of the above. A point's word is its measure (32 bits), the first 30 bits of its hash, and its state (2 bits): neighbours
// are compared by their words, and by their whole hashes where these are equal.
using PointWord = std::uint64_t;
inline constexpr PointWord point_state = 3; // its bits, 0 while the point is undecided

// m[j], ghost_m[g] <- how many of this rank's edges lead there; word[i] <- 1 where S_i is not empty, else 0.
template <class Ex>
PetscErrorCode count_dependents(Ex &, const EdgesView &diag, const EdgesView &offd, int *m, int *ghost_m, PointWord *word);
// m[row[k]] += more[k]
template <class Ex> PetscErrorCode add_to_rows(Ex &, std::int64_t n, const int *row, const int *more, int *m);
// The words before the first round, from what count_dependents() left; first: global index of the first point.
template <class Ex> PetscErrorCode first_words(Ex &, int n, PetscInt first, Isolated, const int *m, PointWord *word);
// The undecided points, ascending. Waits.
template <class Ex> PetscErrorCode undecided_points(Ex &, int n, const PointWord *word, int *list, std::int64_t *count);
// Decides those of the list that can be decided. ghost: global indices; ghost_word may be older than the ghosts' states are.
template <class Ex>
PetscErrorCode decide_points(Ex &, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd, PetscInt first,
                             const PetscInt *ghost, const PointWord *ghost_word, PointWord *word);
template <class Ex> PetscErrorCode coarse_of_words(Ex &, int n, const PointWord *word, unsigned char *coarse);
// number[i] <- how many C points precede C point i, -1 for F; room for n + 1. Waits.
template <class Ex> PetscErrorCode count_coarse_points(Ex &, int n, const unsigned char *coarse, int *number, int *count);
} // namespace amgkit
