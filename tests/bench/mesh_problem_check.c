/*
  What must hold for the matrices of share/amgkit/bench/mesh_problem.h: the same on any number of processes, symmetric to the last bit; rows
  that reach no boundary vanish on the harmonic functions that the elements can represent, constant ones first; the energy of a smooth
  function; no simplex is inverted. Ends with an error where one of them fails.
*/
#include "../share/amgkit/bench/mesh_problem.h"
#include "../share/amgkit/bench/model_problem.h"

typedef PetscReal (*Function)(const PetscReal x[3]);

static PetscReal One(const PetscReal x[3]) { return (void)x, 1.0; }
static PetscReal Linear(const PetscReal x[3]) { return x[0] - 2.0 * x[1] + 3.0 * x[2]; }
static PetscReal Saddle(const PetscReal x[3]) { return x[0] * x[0] + x[1] * x[1] - 2.0 * x[2] * x[2] + x[0] * x[1] - x[1] * x[2]; }
static PetscReal Trilinear(const PetscReal x[3]) { return x[0] * x[1] * x[2] + x[0] * x[2]; }

typedef struct {
  MeshSystem system;
  PetscInt n, nz;
  Function harmonic[3];   /* functions that rows off the boundary vanish on */
  PetscReal energy_error; /* relative, of the product of sines; 0: not tested, as the coefficient jumps */
} Case;

static const Case cases[] = {
    {MESH_KUHN, 9, 11, {One, Linear}, 0.03},       {MESH_SLIVER, 20, 22, {One}, 0.0},
    {MESH_P2, 9, 13, {One, Linear, Saddle}, 0.01}, {MESH_GRADED, 9, 30, {One, Linear, Trilinear}, 0.06},
    {MESH_2D, 9, 12, {One, Linear}, 0.03},
};

static void PointOfRow(const Mesh *mesh, PetscInt row, PetscInt at[3])
{
  at[0] = row % mesh->n[0] + 1;
  at[1] = row / mesh->n[0] % mesh->n[1] + 1;
  at[2] = row / (mesh->n[0] * mesh->n[1]) + 1;
}

/* A's rows are those of B, which has all of them. */
static PetscErrorCode CheckRows(Mat A, Mat B, const char name[])
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    PetscInt count[2];
    const PetscInt *cols[2];
    const PetscScalar *vals[2];
    PetscBool same[2] = {PETSC_FALSE, PETSC_FALSE};

    PetscCall(MatGetRow(A, row, &count[0], &cols[0], &vals[0]));
    PetscCall(MatGetRow(B, row, &count[1], &cols[1], &vals[1]));
    if (count[0] == count[1]) {
      PetscCall(PetscArraycmp(cols[0], cols[1], count[0], &same[0]));
      PetscCall(PetscArraycmp(vals[0], vals[1], count[0], &same[1]));
    }
    PetscCheck(same[0] && same[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %" PetscInt_FMT " depends on the processes", name, row);
    PetscCall(MatRestoreRow(A, row, &count[0], &cols[0], &vals[0]));
    PetscCall(MatRestoreRow(B, row, &count[1], &cols[1], &vals[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (A f)_i in units of a_ii max |f|, the largest of the rows that reach no boundary; there must be such rows. */
static PetscErrorCode CheckHarmonic(const Mesh *mesh, Mat A, Function f)
{
  PetscInt rows, tested = 0;
  PetscReal largest;
  Vec x, y, diagonal;
  PetscScalar *values;
  const PetscScalar *products, *diagonals;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecGetSize(x, &rows));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt row = 0; row < rows; row++) {
    PetscInt at[3];
    PetscReal place[3];

    PointOfRow(mesh, row, at);
    MeshPoint(mesh, at, place);
    values[row] = f(place);
  }
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscCall(VecNorm(x, NORM_INFINITY, &largest));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetArrayRead(y, &products));
  PetscCall(VecGetArrayRead(diagonal, &diagonals));
  for (PetscInt row = 0; row < rows; row++) {
    PetscInt at[3];
    PetscBool away = PETSC_TRUE;

    PointOfRow(mesh, row, at);
    for (PetscInt d = 0; d < mesh->dim; d++) {
      if (at[d] <= mesh->step || at[d] > mesh->n[d] - mesh->step) away = PETSC_FALSE;
    }
    if (!away) continue;
    tested++;
    PetscCheck(PetscAbsScalar(products[row]) <= 1e-13 * largest * PetscAbsScalar(diagonals[row]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: row %" PetscInt_FMT " of a harmonic function is %g", MeshNames[mesh->system], row,
               (double)PetscRealPart(products[row]));
  }
  PetscCheck(tested > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: every row reaches the boundary", MeshNames[mesh->system]);
  PetscCall(VecRestoreArrayRead(y, &products));
  PetscCall(VecRestoreArrayRead(diagonal, &diagonals));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The energy of u = the product of sin(pi x_d / L_d), 0 on the boundary: the sum of (pi / L_d)^2 times the product of L_d / 2. */
static PetscErrorCode CheckEnergy(const Mesh *mesh, Mat A, PetscReal error)
{
  PetscInt rows, at[3];
  PetscReal L[3], expected = 0.0, volume = 1.0;
  PetscScalar *values, energy;
  Vec x, y;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) at[d] = d < mesh->dim ? mesh->n[d] + 1 : 1;
  MeshPoint(mesh, at, L);
  for (PetscInt d = 0; d < mesh->dim; d++) {
    expected += PetscSqr(PETSC_PI / L[d]);
    volume *= 0.5 * L[d];
  }
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecGetSize(x, &rows));
  PetscCall(VecGetArrayWrite(x, &values));
  for (PetscInt row = 0; row < rows; row++) {
    PetscReal place[3];

    PointOfRow(mesh, row, at);
    MeshPoint(mesh, at, place);
    values[row] = 1.0;
    for (PetscInt d = 0; d < mesh->dim; d++) values[row] *= PetscSinReal(PETSC_PI * place[d] / L[d]);
  }
  PetscCall(VecRestoreArrayWrite(x, &values));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &energy));
  PetscCheck(PetscAbsReal(PetscRealPart(energy) / (volume * expected) - 1.0) <= error, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: the energy is %g, not %g", MeshNames[mesh->system], (double)PetscRealPart(energy), (double)(volume * expected));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The determinant of a simplex's edges from vertex to vertex, the order's sign included: 1 without any shift. */
static PetscReal Determinant(const Mesh *mesh, const PetscInt lowest[3], const PetscInt order[3])
{
  PetscInt at[3] = {lowest[0], lowest[1], lowest[2]};
  PetscReal x[4][3], e[3][3];

  MeshPoint(mesh, at, x[0]);
  for (PetscInt k = 0; k < 3; k++) { /* edge k in row order[k], so that without shifts the matrix is the unit matrix */
    if (order[k] < mesh->dim) at[order[k]] += mesh->step;
    MeshPoint(mesh, at, x[k + 1]);
    for (PetscInt d = 0; d < 3; d++) e[order[k]][d] = order[k] < mesh->dim ? x[k + 1][d] - x[k][d] : (PetscReal)(d == 2);
  }
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static PetscErrorCode CheckVolumes(const Mesh *mesh)
{
  static const PetscInt orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const PetscInt *n = mesh->n, step = mesh->step;
  PetscReal smallest = PETSC_MAX_REAL;
  PetscInt at[3];

  PetscFunctionBeginUser;
  for (at[2] = mesh->dim == 2; at[2] + step <= n[2] + 1; at[2] += step) {
    for (at[1] = 0; at[1] + step <= n[1] + 1; at[1] += step) {
      for (at[0] = 0; at[0] + step <= n[0] + 1; at[0] += step) {
        for (PetscInt k = 0; k < 6; k++) smallest = PetscMin(smallest, Determinant(mesh, at, orders[k]));
      }
    }
  }
  PetscCheck(smallest > 0.0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: inverted, %g", MeshNames[mesh->system], (double)smallest);
  PetscCheck(mesh->system != MESH_SLIVER || smallest < 0.01, PETSC_COMM_SELF, PETSC_ERR_PLIB, "sliver: none below %g", (double)smallest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sliver: a tenth of the rows or more have positive entries off the diagonal, and diagonal entries tell of the jump. */
static PetscErrorCode CheckSlivers(Mat A)
{
  PetscInt rows, positive = 0;
  PetscReal least = PETSC_MAX_REAL, most = 0.0;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  for (PetscInt row = 0; row < rows; row++) {
    PetscInt count;
    const PetscInt *cols;
    const PetscScalar *vals;
    PetscBool has = PETSC_FALSE;

    PetscCall(MatGetRow(A, row, &count, &cols, &vals));
    for (PetscInt k = 0; k < count; k++) {
      const PetscReal value = PetscRealPart(vals[k]);

      if (cols[k] == row) {
        least = PetscMin(least, value);
        most = PetscMax(most, value);
      } else if (value > 0.0)
        has = PETSC_TRUE;
    }
    PetscCall(MatRestoreRow(A, row, &count, &cols, &vals));
    if (has) positive++;
  }
  PetscCheck(10 * positive >= rows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "sliver: only %" PetscInt_FMT " rows have positive entries", positive);
  PetscCheck(most >= 1000.0 * least, PETSC_COMM_SELF, PETSC_ERR_PLIB, "sliver: diagonal entries from %g to %g", (double)least,
             (double)most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckCase(const Case *of)
{
  Mesh mesh;
  Mat A, B;
  PetscBool symmetric;

  PetscFunctionBeginUser;
  PetscCall(MeshCreate(PETSC_COMM_WORLD, of->system, of->n, of->nz, &mesh));
  PetscCall(MeshCreateMat(PETSC_COMM_WORLD, &mesh, &A));
  PetscCall(MeshCreateMat(PETSC_COMM_SELF, &mesh, &B));
  PetscCall(CheckRows(A, B, MeshNames[of->system]));
  PetscCall(MatIsSymmetric(B, 0.0, &symmetric));
  PetscCheck(symmetric, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not symmetric", MeshNames[of->system]);
  for (PetscInt k = 0; k < 3 && of->harmonic[k]; k++) PetscCall(CheckHarmonic(&mesh, B, of->harmonic[k]));
  if (of->energy_error > 0.0) PetscCall(CheckEnergy(&mesh, B, of->energy_error));
  if (of->system != MESH_GRADED) PetscCall(CheckVolumes(&mesh));
  if (of->system == MESH_SLIVER) PetscCall(CheckSlivers(B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every row of the Neumann problem sums up to 0, and A is the same on any number of processes. */
static PetscErrorCode CheckNeumann(void)
{
  Mat A, B;
  Vec x, y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(ModelProblemCreateMat(PETSC_COMM_WORLD, SYSTEM_NEUMANN, 5, 7, &A));
  PetscCall(ModelProblemCreateMat(PETSC_COMM_SELF, SYSTEM_NEUMANN, 5, 7, &B));
  PetscCall(CheckRows(A, B, SystemNames[SYSTEM_NEUMANN]));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCheck(norm == 0.0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "neumann: constants are not the null space");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) PetscCall(CheckCase(&cases[k]));
  PetscCall(CheckNeumann());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "every matrix is as it should be\n"));
  PetscCall(PetscFinalize());
  return 0;
}
