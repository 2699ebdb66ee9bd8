/*
  Finite elements for -div(c grad u) with Dirichlet boundaries. The matrix belongs to the inner points, n x n x nz of them, of a grid whose
  points 0 and n + 1 are the boundary.
    kuhn    linear, c = 1: the cells of the grid are cut into 6 tetrahedra each. Inner vertices are moved by up to 0.2 of the spacing in
  each direction. As the mesher's tetrahedra would, they have positive off-diagonal entries here and there. None is inverted in practice: of
  6e7 random ones the smallest had a hundredth of the volume of those of the plain grid. The volume of one would count positive. sliver
  linear, the same cells: columns of vertices are moved by up to 0.2 of the spacing in x and y, and vertices by up to 0.49 of the thinner
  layer beside them in z. Layers around z = 0.35 and 0.65 are 20 times as thin as the others. So the tetrahedra are flat, with angles up to
  180 degrees, and none is inverted: each has an edge of positive length along z above a triangle in x and y that is not. c = 1000 in a pipe
  of radius 0.15 that is bent in y, else 1; here the sides of the grid count as 1, the layers as equal. p2      quadratic, c = 1, on the
  mesh of kuhn with vertices of even place and midpoints of edges between: all other points. n must be odd. graded  trilinear on bricks, c =
  1: the layers' thickness grows by a factor, 1000 from the lowest to the highest. On the average it is the spacing in x and y. mesh2d
  linear on triangles, c = 1: n x nz points, cells cut into 2, moved as in kuhn; here none can be inverted Rows are in natural order (x
  fastest) and distributed in contiguous blocks. A point is moved by a hash of its place: the matrix does not depend on the number of
  processes. It is symmetric to the last bit, as both rows of an entry add up the same terms in the same order.
*/
#ifndef AMGKIT_BENCH_MESH_PROBLEM_H
#define AMGKIT_BENCH_MESH_PROBLEM_H

#include <petscmat.h>

typedef enum { MESH_KUHN, MESH_SLIVER, MESH_P2, MESH_GRADED, MESH_2D, MESH_COUNT } MeshSystem;
extern const char *const MeshNames[MESH_COUNT];

typedef struct {
  MeshSystem system;
  PetscInt n[3];    /* inner points in x, y, z; mesh2d: 1 in z */
  PetscInt dim;     /* in which the mesh extends */
  PetscInt step;    /* points from vertex to vertex of the grid: p2: 2 */
  PetscReal *plane; /* sliver, graded: z of the planes 0, ..., n[2] + 1 */
} Mesh;

/* Lengths are in spacings of the vertices in x. */
PetscErrorCode MeshCreate(MPI_Comm comm, MeshSystem system, PetscInt n, PetscInt nz, Mesh *mesh);
PetscErrorCode MeshDestroy(Mesh *mesh);
/* Where a point is, one of the boundary included; mesh2d: its place in z is 1. */
void MeshPoint(const Mesh *mesh, const PetscInt at[3], PetscReal x[3]);
/* The type is AIJ or what -mat_type says. */
PetscErrorCode MeshCreateMat(MPI_Comm comm, const Mesh *mesh, Mat *A);
/* The two together. */
PetscErrorCode MeshProblemCreateMat(MPI_Comm comm, MeshSystem system, PetscInt n, PetscInt nz, Mat *A);

#endif
