// How fast the balls of a graph grow: what tells a mesh in 3D from one in 2D without coordinates. The first ball of a vertex has the vertex
// and its neighbours, the second one their neighbours, too. On a grid with 5 points, balls have 5 and 13 vertices, with 9 points 9 and 25,
// with 7 points in 3D 7 and 25, with 27 points 27 and 125. So the second ball is 2.6 to 2.8 times as large in 2D, 3.5 to 5 times in 3D, and
// 5/3 times on a line. With triangles it is 2.2 to 2.8 times as large, with tetrahedra 3.1 to 4.2 times. An anisotropic problem's graph has
// the dimension of its strong couplings. Wide stencils grow faster, in 2D up to 4 times.
#pragma once
#include "graph/dist_graph.hpp"

namespace amgkit
{
// *growth <- vertices of second balls by those of first balls, over up to 512 vertices of each rank, and fewer in dense graphs. Vertices
// with neighbours of other ranks, without neighbours or with more than most_neighbours do not count; 0 if no vertex is left. The mean size
// of the second balls is estimated by the hashes of their vertices (linear counting, Whang, Vander-Zanden, Taylor 1990). It is too small
// for balls of many thousands, which still counts as fast growth. The same in every space. Collective.
template <class Ex> PetscErrorCode ball_growth(Ex &, const DistGraph<Ex> &, double *growth);

// The local step: of n vertices, spread over all rows, those of the first ball and the marks that the second one makes, or 0 and 0. Of a
// neighbour's row no more entries are read than there are marks.
inline constexpr int marks_of_ball = 2048, most_neighbours = 512;
struct BallCount {
  int first, marks;
};
template <class Ex> PetscErrorCode count_balls(Ex &, const EdgesView &diag, const EdgesView &offd, std::int64_t n, BallCount *counts);
} // namespace amgkit
