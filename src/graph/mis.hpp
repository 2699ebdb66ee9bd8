// MIS(k) (Bell, Dalton, Olson 2012): vertices of a distributed graph of which none reaches another in k steps, and one of which every other
// vertex reaches: the roots of aggregates. The steps below take max(k - 1, 1) keys a vertex.
//
// Every vertex is undecided, a root or out. Keys (state, hash(i), i), i the global index, are compared lexicographically, root > undecided
// > out. A vertex's reach is what k steps or fewer along edges lead to, itself included. Vertices with S_i empty are out from the
// beginning. Then, until all are decided, all the undecided ones at once:
//   one whose reach has a root is out;
//   one whose own key is the largest of its reach is a root.
// The largest keys of all reaches come from k rounds of maxima over {i} and S_i, what other ranks have of one round before the next.
//
// So every vertex with edges is a root or reaches one, and no graph goes on for ever: the largest key of all that are undecided is decided
// in every step. Where S is symmetric, roots are out of each other's reach, and they are those of the greedy method by decreasing keys.
// Where it is not, a root may reach another that became one in the same step or before; the steps are the same on any number of ranks.
//
// Of the key a word remains: hash64() is a bijection, so that an undecided vertex's hash tells it from all others, and roots need not be
// told apart. For a 7-point grid with n vertices a round over all reads 28 n bytes of columns, 7 n of marks, 4 n of row pointers and 8 n of
// words, and writes 8 n: 55 n, 0.44 GB for 200^3. The last round of a step is over the undecided vertices, the others leave out vertices
// whose largest key cannot change any more, at 8 bytes each. For 200^3 and k = 2 the 16 steps come to 4.5 n vertices in the first rounds
// and 2.6 n in the second ones. Where few are undecided, the rounds before the last are over those alone whose words the undecided ones
// still read, directly or in later rounds. With k = 2, 7 % are undecided after four steps, and these read the words of 29 %.
#pragma once
#include "graph/dist_graph.hpp"

namespace amgkit
{
// root[i] <- 1: a root, 0: none. k >= 1. Collective. On one CPU process, mis_greedy.hpp finds the same roots of a symmetric graph.
template <class Ex> PetscErrorCode mis(Ex &, const DistGraph<Ex> &, int k, Array<unsigned char, Ex> &root);

// The local steps of the above. A vertex's word, or the largest in a reach: word_out and word_root are the hashes of numbers above 2^61
// only.
using VertexWord = std::uint64_t;
inline constexpr VertexWord word_out = 0, word_root = UINT64_MAX;

// word[i] <- out where S_i is empty, else the hash of its global index, first + i.
template <class Ex> PetscErrorCode words_of_vertices(Ex &, const EdgesView &diag, const EdgesView &offd, PetscInt first, VertexWord *word);
// seen[i] <- 1 for the n vertices of the list and those that their edges lead to, and for those that other ranks' edges may lead to, which
// are sent; 0 for others. seen_list: the former, ascending. Waits.
template <class Ex>
PetscErrorCode vertices_seen(Ex &, std::int64_t n, const int *list, const EdgesView &diag, const Array<int, Ex> &sent, unsigned char *seen,
                             int *seen_list, std::int64_t *count);
// For the n vertices of the list, the first n where it is nullptr: reach[i] <- max of from over {i} and S_i, unless reach[i] is already out
// or root: so it will remain.
template <class Ex>
PetscErrorCode widen_reach(Ex &, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd, const VertexWord *from,
                           const VertexWord *ghost_from, VertexWord *reach);
// The same for the undecided ones of the list, and what becomes of them. from is not word.
template <class Ex>
PetscErrorCode decide_vertices(Ex &, std::int64_t n, const int *list, const EdgesView &diag, const EdgesView &offd, const VertexWord *from,
                               const VertexWord *ghost_from, VertexWord *word);
// The undecided vertices, ascending. Waits.
template <class Ex> PetscErrorCode undecided_vertices(Ex &, int n, const VertexWord *word, int *list, std::int64_t *count);
template <class Ex> PetscErrorCode roots_of_words(Ex &, int n, const VertexWord *word, unsigned char *root);
} // namespace amgkit
