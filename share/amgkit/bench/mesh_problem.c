#include "mesh_problem.h"
#include "model_problem.h"

const char *const MeshNames[MESH_COUNT] = {"kuhn", "sliver", "p2", "graded", "mesh2d"};

#define REACH 2 /* points from a point to its farthest neighbour in x, y or z */
#define SIDE (2 * REACH + 1)
#define AROUND (SIDE * SIDE * SIDE) /* places around a point, x fastest */
#define OWN ((AROUND - 1) / 2)      /* the place of the point itself */
#define NODES 10                    /* of a quadratic tetrahedron */

/* A row while simplices are added to it. */
typedef struct {
  PetscInt at[3];             /* the row's point */
  PetscInt first[3], last[3]; /* cells around it */
  PetscReal x[27][3];         /* of the vertices of these cells, from that of the first one on, x fastest */
  PetscBool has[AROUND];      /* neighbours */
  PetscScalar value[AROUND];
} Star;

/* A number in (-1, 1), the d-th of a vertex. */
static PetscReal Shift(PetscInt x, PetscInt y, PetscInt z, PetscInt d)
{
  const unsigned long long place = (unsigned long long)x | (unsigned long long)y << 20 | (unsigned long long)z << 40;

  return 2.0 * UniformOfBits(SplitMix64(SplitMix64(place) + (unsigned long long)d)) - 1.0;
}

static PetscReal LayerThickness(const Mesh *mesh, PetscInt layer)
{
  const PetscReal count = (PetscReal)(mesh->n[2] + 1), z = ((PetscReal)layer + 0.5) / count, near = PetscMax(0.04, 0.5 / count);

  if (mesh->system == MESH_GRADED) return PetscPowReal(1000.0, (PetscReal)layer / (PetscReal)mesh->n[2]);
  return PetscAbsReal(z - 0.35) <= near || PetscAbsReal(z - 0.65) <= near ? 0.05 : 1.0;
}

PetscErrorCode MeshCreate(MPI_Comm comm, MeshSystem system, PetscInt n, PetscInt nz, Mesh *mesh)
{
  PetscFunctionBeginUser;
  PetscCheck((PetscReal)n * n * (system == MESH_2D ? 1 : nz) < PETSC_MAX_INT && (PetscReal)n * nz < PETSC_MAX_INT, comm,
             PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " and %" PetscInt_FMT " points a side are too many for PetscInt", n, nz);
  PetscCheck(system != MESH_P2 || (n % 2 == 1 && nz % 2 == 1), comm, PETSC_ERR_ARG_WRONG,
             "Quadratic elements need an odd number of points a side, not %" PetscInt_FMT " and %" PetscInt_FMT, n, nz);
  PetscCall(PetscMemzero(mesh, sizeof(*mesh)));
  mesh->system = system;
  mesh->dim = system == MESH_2D ? 2 : 3;
  mesh->step = system == MESH_P2 ? 2 : 1;
  mesh->n[0] = n;
  mesh->n[1] = system == MESH_2D ? nz : n;
  mesh->n[2] = system == MESH_2D ? 1 : nz;
  if (system != MESH_SLIVER && system != MESH_GRADED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(nz + 2, &mesh->plane));
  for (PetscInt k = 0; k <= nz; k++) mesh->plane[k + 1] = mesh->plane[k] + LayerThickness(mesh, k);
  const PetscReal scale = system == MESH_GRADED ? (PetscReal)(nz + 1) / mesh->plane[nz + 1] : 1.0;
  for (PetscInt k = 0; k <= nz + 1; k++) mesh->plane[k] *= scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeshDestroy(Mesh *mesh)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(mesh->plane));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a vertex is off the boundary in the first so many directions. */
static PetscBool VertexIsInside(const Mesh *mesh, const PetscInt v[3], PetscInt directions)
{
  for (PetscInt d = 0; d < directions; d++) {
    if (v[d] <= 0 || v[d] >= (mesh->n[d] + 1) / mesh->step) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void Vertex(const Mesh *mesh, const PetscInt v[3], PetscReal x[3])
{
  for (PetscInt d = 0; d < 3; d++) x[d] = d < mesh->dim ? (PetscReal)v[d] : 0.0;
  if (mesh->plane) x[2] = mesh->plane[v[2]];
  if (mesh->system == MESH_SLIVER) {
    if (VertexIsInside(mesh, v, 2)) {
      for (PetscInt d = 0; d < 2; d++) x[d] += 0.2 * Shift(v[0], v[1], 0, d);
    }
    if (VertexIsInside(mesh, v, 3)) {
      const PetscReal *z = &mesh->plane[v[2]];

      x[2] += 0.49 * PetscMin(z[0] - z[-1], z[1] - z[0]) * Shift(v[0], v[1], v[2], 2);
    }
  } else if (mesh->system != MESH_GRADED && VertexIsInside(mesh, v, mesh->dim)) {
    for (PetscInt d = 0; d < mesh->dim; d++) x[d] += 0.2 * Shift(v[0], v[1], v[2], d);
  }
}

void MeshPoint(const Mesh *mesh, const PetscInt at[3], PetscReal x[3])
{
  PetscInt lower[3], upper[3];
  PetscReal y[3];

  for (PetscInt d = 0; d < 3; d++) {
    lower[d] = at[d] / mesh->step;
    upper[d] = (at[d] + mesh->step - 1) / mesh->step;
  }
  Vertex(mesh, lower, x);
  Vertex(mesh, upper, y);
  for (PetscInt d = 0; d < 3; d++) x[d] = 0.5 * (x[d] + y[d]); /* the same vertex twice, or the ends of an edge */
}

static PetscReal Dot(const PetscReal a[3], const PetscReal b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void Cross(const PetscReal a[3], const PetscReal b[3], PetscReal c[3])
{
  for (PetscInt d = 0; d < 3; d++) c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* G_ij = the integral of grad l_i . grad l_j over a simplex, l_i its barycentric coordinates. In 2D a third edge of (0, 0, 1) makes the
   determinant twice the area. */
static void Gram(PetscInt dim, const PetscReal *const x[4], PetscReal G[4][4])
{
  PetscReal edge[3][3] = {{0.0}}, cofactor[4][3] = {{0.0}}; /* grad l_i = cofactor_i / determinant */

  edge[2][2] = 1.0;
  for (PetscInt k = 0; k < dim; k++) {
    for (PetscInt d = 0; d < 3; d++) edge[k][d] = x[k + 1][d] - x[0][d];
  }
  for (PetscInt k = 0; k < dim; k++) {
    Cross(edge[(k + 1) % 3], edge[(k + 2) % 3], cofactor[k + 1]);
    for (PetscInt d = 0; d < 3; d++) cofactor[0][d] -= cofactor[k + 1][d];
  }
  const PetscReal scale = (dim == 3 ? 6.0 : 2.0) * PetscAbsReal(Dot(edge[0], cofactor[1])); /* of half of the simplices it is negative */
  for (PetscInt i = 0; i <= dim; i++) {
    for (PetscInt j = 0; j <= dim; j++) G[i][j] = Dot(cofactor[i], cofactor[j]) / scale;
  }
}

/* The integral of grad p . grad q for quadratic shape functions p, q: of a vertex {i, i}, l_i (2 l_i - 1), of a midpoint {i, j}, 4 l_i l_j.
   Of l_i l_j the mean is 1/10 if i = j, else 1/20. The value is the same to the last bit when p and q change places. */
static PetscReal QuadraticValue(const PetscReal G[4][4], const PetscInt p[2], const PetscInt q[2])
{
  const PetscBool p_vertex = p[0] == p[1] ? PETSC_TRUE : PETSC_FALSE, q_vertex = q[0] == q[1] ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt i = p[0], j = p[1], k = q[0], l = q[1];

  if (p_vertex && q_vertex) return i == k ? 0.6 * G[i][i] : -0.2 * G[i][k];
  if (q_vertex) return QuadraticValue(G, q, p);
  if (p_vertex) return (i == k ? 0.6 : -0.2) * G[i][l] + (i == l ? 0.6 : -0.2) * G[i][k];
#define MEAN(a, b) ((a) == (b) ? 1.6 : 0.8) /* times 16, of the two 4 */
  return (MEAN(i, k) * G[j][l] + MEAN(j, l) * G[i][k]) + (MEAN(i, l) * G[j][k] + MEAN(j, k) * G[i][l]);
#undef MEAN
}

/* c at the middle of a simplex */
static PetscReal Coefficient(const Mesh *mesh, PetscInt v[4][3])
{
  PetscReal x[3];

  if (mesh->system != MESH_SLIVER) return 1.0;
  for (PetscInt d = 0; d < 3; d++) x[d] = (PetscReal)(v[0][d] + v[1][d] + v[2][d] + v[3][d]) / (4.0 * (PetscReal)(mesh->n[d] + 1));
  const PetscReal y = x[1] - 0.5 - 0.2 * PetscSinReal(2.0 * PETSC_PI * x[0]), z = x[2] - 0.5;
  return y * y + z * z < 0.15 * 0.15 ? 1000.0 : 1.0;
}

/* What a simplex contributes to the row, if it has the row's point. */
static void StarAdd(const Mesh *mesh, PetscInt v[4][3], PetscBool values, Star *star)
{
  PetscInt node[NODES][2], place[NODES], count = 0, own = -1;
  const PetscReal *x[4];
  PetscReal G[4][4] = {{0.0}};

  for (PetscInt i = 0; i <= mesh->dim; i++) {
    for (PetscInt j = i; j <= (mesh->step == 1 ? i : mesh->dim); j++) {
      node[count][0] = i;
      node[count][1] = j;
      place[count] = 0;
      for (PetscInt d = 2; d >= 0; d--) place[count] = SIDE * place[count] + (v[i][d] + v[j][d]) * mesh->step / 2 - star->at[d] + REACH;
      if (place[count] == OWN) own = count;
      count++;
    }
  }
  if (own < 0) return;
  for (PetscInt k = 0; k < count; k++) star->has[place[k]] = PETSC_TRUE;
  if (!values) return;
  for (PetscInt i = 0; i <= mesh->dim; i++) {
    const PetscInt *first = star->first;

    x[i] = star->x[v[i][0] - first[0] + 3 * (v[i][1] - first[1] + 3 * (v[i][2] - first[2]))];
  }
  Gram(mesh->dim, x, G);
  const PetscReal c = Coefficient(mesh, v);
  for (PetscInt k = 0; k < count; k++)
    star->value[place[k]] += c * (mesh->step == 1 ? G[own][k] : QuadraticValue((const PetscReal(*)[4])G, node[own], node[k]));
}

/* The simplices of a cell: from its lowest vertex to its highest, one direction after the other, in every order. */
static void StarAddCell(const Mesh *mesh, const PetscInt lowest[3], PetscBool values, Star *star)
{
  static const PetscInt orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  for (PetscInt order = 0; order < (mesh->dim == 2 ? 2 : 6); order++) {
    PetscInt v[4][3];

    for (PetscInt d = 0; d < 3; d++) v[0][d] = lowest[d];
    for (PetscInt k = 0; k < 3; k++) {
      for (PetscInt d = 0; d < 3; d++) v[k + 1][d] = v[k][d] + (orders[order][k] == d ? 1 : 0);
    }
    StarAdd(mesh, v, values, star);
  }
}

static void StarSetUp(const Mesh *mesh, PetscBool values, Star *star)
{
  PetscInt cell[3];
  PetscReal(*x)[3] = star->x;

  for (PetscInt d = 0; d < 3; d++) {
    star->first[d] = d < mesh->dim ? (star->at[d] + mesh->step - 1) / mesh->step - 1 : star->at[d];
    star->last[d] = star->at[d] / mesh->step;
  }
  for (cell[2] = star->first[2]; cell[2] < star->first[2] + 3; cell[2]++) {
    for (cell[1] = star->first[1]; cell[1] < star->first[1] + 3; cell[1]++) {
      for (cell[0] = star->first[0]; cell[0] < star->first[0] + 3; cell[0]++, x++) {
        PetscBool used = values;

        for (PetscInt d = 0; d < 3; d++) {
          if (cell[d] > star->last[d] + (d < mesh->dim ? 1 : 0)) used = PETSC_FALSE;
        }
        if (used) Vertex(mesh, cell, *x);
      }
    }
  }
}

/* The neighbours that are no boundary points */
static PetscInt StarRow(const Mesh *mesh, const Star *star, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt *n = mesh->n;
  PetscInt count = 0;

  for (PetscInt place = 0; place < AROUND; place++) {
    PetscInt to[3] = {place % SIDE, place / SIDE % SIDE, place / (SIDE * SIDE)};
    PetscBool inside = star->has[place];

    if (!inside) continue;
    for (PetscInt d = 0; d < 3; d++) {
      to[d] += star->at[d] - REACH - 1; /* counted from 0, as rows are */
      if (to[d] < 0 || to[d] >= n[d]) inside = PETSC_FALSE;
    }
    if (!inside) continue;
    cols[count] = to[0] + n[0] * (to[1] + n[1] * to[2]);
    if (vals) vals[count] = star->value[place];
    count++;
  }
  return count;
}

/* A RowFunction of simplices */
static PetscInt SimplexRow(const void *problem, PetscInt row, PetscInt cols[], PetscScalar vals[])
{
  const Mesh *mesh = (const Mesh *)problem;
  const PetscInt *n = mesh->n;
  Star star = {.at = {row % n[0] + 1, row / n[0] % n[1] + 1, row / (n[0] * n[1]) + 1}};
  PetscInt cell[3];

  StarSetUp(mesh, vals ? PETSC_TRUE : PETSC_FALSE, &star);
  for (cell[2] = star.first[2]; cell[2] <= star.last[2]; cell[2]++) {
    for (cell[1] = star.first[1]; cell[1] <= star.last[1]; cell[1]++) {
      for (cell[0] = star.first[0]; cell[0] <= star.last[0]; cell[0]++) StarAddCell(mesh, cell, vals ? PETSC_TRUE : PETSC_FALSE, &star);
    }
  }
  return StarRow(mesh, &star, cols, vals);
}

/* A RowFunction of bricks: K x M x M + M x K x M + M x M x K with the stiffness K and the mass M of each direction. */
static PetscInt BrickRow(const void *problem, PetscInt row, PetscInt cols[], PetscScalar vals[])
{
  const Mesh *mesh = (const Mesh *)problem;
  const PetscInt *n = mesh->n, at[3] = {row % n[0], row / n[0] % n[1], row / (n[0] * n[1])};
  PetscReal K[3][3], M[3][3];
  PetscInt count = 0;

  for (PetscInt d = 0; d < 3; d++) {
    const PetscReal *z = &mesh->plane[at[2] + 1], below = d < 2 ? 1.0 : z[0] - z[-1], above = d < 2 ? 1.0 : z[1] - z[0];

    K[d][0] = -1.0 / below;
    K[d][2] = -1.0 / above;
    K[d][1] = -(K[d][0] + K[d][2]);
    M[d][0] = below / 6.0;
    M[d][2] = above / 6.0;
    M[d][1] = 2.0 * (M[d][0] + M[d][2]);
  }
  for (PetscInt k = 0; k < 27; k++) {
    const PetscInt x = k % 3, y = k / 3 % 3, z = k / 9, to[3] = {at[0] + x - 1, at[1] + y - 1, at[2] + z - 1};

    if (to[0] < 0 || to[0] >= n[0] || to[1] < 0 || to[1] >= n[1] || to[2] < 0 || to[2] >= n[2]) continue;
    cols[count] = to[0] + n[0] * (to[1] + n[1] * to[2]);
    if (vals) vals[count] = K[0][x] * M[1][y] * M[2][z] + M[0][x] * K[1][y] * M[2][z] + M[0][x] * M[1][y] * K[2][z];
    count++;
  }
  return count;
}

PetscErrorCode MeshCreateMat(MPI_Comm comm, const Mesh *mesh, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(
      RowsCreateMat(comm, mesh->n[0] * mesh->n[1] * mesh->n[2], AROUND, mesh->system == MESH_GRADED ? BrickRow : SimplexRow, mesh, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeshProblemCreateMat(MPI_Comm comm, MeshSystem system, PetscInt n, PetscInt nz, Mat *A)
{
  Mesh mesh;

  PetscFunctionBeginUser;
  PetscCall(MeshCreate(comm, system, n, nz, &mesh));
  PetscCall(MeshCreateMat(comm, &mesh, A));
  PetscCall(MeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}
