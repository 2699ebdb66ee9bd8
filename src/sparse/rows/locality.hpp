// How the numbering of a square matrix's rows and columns suits products with it, and a better one.
//
// A GPU reads vectors in pieces of 32 bytes, eight floats. Neighbouring rows of a mesh that is well numbered share these pieces; in a
// random order nearly every entry takes a piece of its own, and a product takes twice as long although the matrix has as many bytes.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// Which share of the entries takes a piece of eight columns that neither the same row nor the one before takes: in reverse Cuthill-McKee
// order 0.3 for a mesh of tetrahedra, 0.1 for 7-point grids in natural order, about 1 in random order. By one row of 15, but not by many
// more than 65536; 0 of no entries. With bs unknowns a node, which divides A.rows, the same of nodes for rows and of blocks for entries, by
// the first rows of nodes: a piece has as many whole nodes as eight columns hold, or one. Columns ascend. Waits.
template <class Ex> PetscErrorCode scattered_share(Ex &, CsrView<double> A, int bs, double *share);

// order[new] = old, by clusters: with h_k(i) the largest of the hashes of the rows within k edges of i, rows are sorted by h_4, then by
// h_2. Rows of the same h_2 lie within four edges of each other, about 30 in a mesh of tetrahedra. Five products' time and a sort; the same
// in all spaces. With bs unknowns a node it is nodes that are sorted, and a node's rows stay together. For symmetric patterns.
template <class Ex> PetscErrorCode cluster_order(Ex &, CsrView<double> A, int bs, Array<int, Ex> &order);

// to[m i + k] = from[m index[i] + k] for 0 <= k < m
template <class Ex> PetscErrorCode gather_rows(Ex &, std::int64_t n, int m, const int *index, const double *from, double *to);
// to[index[i]] = from[i], no index twice
template <class Ex> PetscErrorCode scatter(Ex &, std::int64_t n, const int *index, const double *from, double *to);
} // namespace amgkit
