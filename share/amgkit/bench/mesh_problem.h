/*
  Finite elements for -div(c grad u) with Dirichlet boundaries. The matrix belongs to the inner points, n x n x nz of them,
  of a grid whose points 0 and n + 1 are the boundary.
    kuhn    Linear, c = 1. Each cell of the grid is cut into 6 tetrahedra. Inner vertices are moved by up to 0.2 of the spacing
            in each direction. An inverted tetrahedron is possible but very rare: of 6e7 random ones the smallest had a
            hundredth of its volume before the move. It would count with the absolute value of its volume.
    sliver  Linear, the same cells. Columns of vertices are moved by up to 0.2 of the spacing in x and y, and vertices by up to
            0.49 of the thinner layer beside them in z. Layers around z = 0.35 and z = 0.65 are 20 times as thin as the others.
            Many tetrahedra are flat, and angles come close to 180 degrees. None is inverted: each has an edge of positive
            length along z, and its projection along this edge is a triangle of mesh2d.
            c = 1000 in a pipe of radius 0.15 that is bent in y, else 1; for the pipe all layers count as equally thick.
    p2      Quadratic, c = 1, on the mesh of kuhn. Points with even places only are its vertices, all others the middles of
            edges. n must be odd.
    graded  Trilinear on bricks, c = 1. The thickness of the layers grows by a constant factor, by 1000 in all. On the average
            it is the spacing in x and y.
    mesh2d  Linear on triangles, c = 1: n x nz points, each cell cut into 2, moved as in kuhn. None can be inverted.
  Rows are in natural order (x fastest) and distributed in contiguous blocks. A hash of its place moves a vertex, so the matrix
  does not depend on the number of processes. It is symmetric to the last bit: the terms of a_ij and a_ji are equal and added in
  the same order.
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
