#include "elasticity_problem.h"
#include "model_problem.h" /* PETSC_SUCCESS, which older versions lack */

#define CORNERS 8
#define MODES (3 * CORNERS) /* displacements of an element */

typedef struct {
  PetscInt n[3];             /* nodes in x, y, z */
  PetscReal K[MODES][MODES]; /* stiffness of an element of modulus 1; corner x + 2 y + 4 z, displacements fastest */
} Solid;

/* K = integral of B^T D B over the cube of side 1, with 2 x 2 x 2 Gauss points; strains xx, yy, zz, xy, yz, zx. */
static void SolidSetUpElement(Solid *solid)
{
  const PetscReal nu = 0.25, lame = nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), shear = 0.5 / (1.0 + nu), gauss = 0.5 / PetscSqrtReal(3.0);

  for (int point = 0; point < CORNERS; point++) {
    PetscReal at[3], B[6][MODES] = {{0.0}}, stress[6][MODES];

    for (int d = 0; d < 3; d++) at[d] = 0.5 + (point >> d & 1 ? gauss : -gauss);
    for (int corner = 0; corner < CORNERS; corner++) {
      PetscReal value[3], slope[3], gradient[3];

      for (int d = 0; d < 3; d++) {
        value[d] = corner >> d & 1 ? at[d] : 1.0 - at[d];
        slope[d] = corner >> d & 1 ? 1.0 : -1.0;
      }
      for (int d = 0; d < 3; d++) gradient[d] = slope[d] * value[(d + 1) % 3] * value[(d + 2) % 3];
      for (int d = 0; d < 3; d++) {
        const int next = (d + 1) % 3;

        B[d][3 * corner + d] = gradient[d];
        B[3 + d][3 * corner + d] = gradient[next];
        B[3 + d][3 * corner + next] = gradient[d];
      }
    }
    for (int j = 0; j < MODES; j++) {
      const PetscReal volume = B[0][j] + B[1][j] + B[2][j];

      for (int d = 0; d < 3; d++) {
        stress[d][j] = lame * volume + 2.0 * shear * B[d][j];
        stress[3 + d][j] = shear * B[3 + d][j];
      }
    }
    for (int i = 0; i < MODES; i++) {
      for (int j = 0; j < MODES; j++) {
        for (int s = 0; s < 6; s++) solid->K[i][j] += B[s][i] * stress[s][j] / CORNERS;
      }
    }
  }
}

/* Young's modulus of the element whose lowest corner is this node; 0 outside. Elements of z = -1 stand on the fast plane. */
static PetscReal SolidModulus(const Solid *solid, const PetscInt at[3])
{
  const PetscInt *n = solid->n;
  const PetscReal middle = 0.5 * (PetscReal)(n[0] - 1), radius = 0.25 * (PetscReal)n[0];
  PetscReal square = 0.0;

  if (at[0] < 0 || at[0] >= n[0] - 1 || at[1] < 0 || at[1] >= n[1] - 1 || at[2] < -1 || at[2] >= n[2] - 1) return 0.0;
  for (int d = 0; d < 3; d++) {
    const PetscInt in_cube = d < 2 ? at[d] : (at[d] + 1) % n[0]; /* whose elements of z are 0, ..., n - 1 */
    const PetscReal away = (PetscReal)in_cube + 0.5 - (d < 2 ? middle : 0.5 * (PetscReal)n[0]);

    square += away * away;
  }
  return square < radius * radius ? 1e-3 : 1.0;
}

/* The blocks of one node's rows, in ascending order of columns; row-major, 3 rows of 3 count values. Returns count. */
static PetscInt SolidRows(const Solid *solid, PetscInt node, PetscInt cols[27], PetscScalar vals[3 * 81])
{
  const PetscInt *n = solid->n, at[3] = {node % n[0], (node / n[0]) % n[1], node / (n[0] * n[1])};
  PetscScalar blocks[27][3][3] = {{{0.0}}};
  PetscInt count = 0;

  for (int around = 0; around < CORNERS; around++) { /* elements, by the corner of theirs that is the node */
    const PetscInt lowest[3] = {at[0] - (around & 1), at[1] - (around >> 1 & 1), at[2] - (around >> 2)};
    const PetscReal modulus = SolidModulus(solid, lowest);

    if (modulus == 0.0) continue;
    for (int corner = 0; corner < CORNERS; corner++) {
      int neighbour = 0;

      for (int d = 2; d >= 0; d--) neighbour = 3 * neighbour + 1 + (corner >> d & 1) - (around >> d & 1);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) blocks[neighbour][i][j] += modulus * solid->K[3 * around + i][3 * corner + j];
      }
    }
  }
  for (int k = 0; k < 27; k++) {
    const PetscInt to[3] = {at[0] + k % 3 - 1, at[1] + (k / 3) % 3 - 1, at[2] + k / 9 - 1};

    if (to[0] < 0 || to[0] >= n[0] || to[1] < 0 || to[1] >= n[1] || to[2] < 0 || to[2] >= n[2]) continue;
    cols[count] = to[0] + n[0] * (to[1] + n[1] * to[2]);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) blocks[count][i][j] = blocks[k][i][j]; /* count <= k */
    }
    count++;
  }
  for (int i = 0; i < 3; i++) {
    for (PetscInt k = 0; k < count; k++) {
      for (int j = 0; j < 3; j++) vals[(i * count + k) * 3 + j] = blocks[k][i][j];
    }
  }
  return count;
}

static PetscErrorCode SetRigidBodyModes(const Solid *solid, PetscInt start, PetscInt end, Mat A)
{
  const PetscInt *n = solid->n;
  Vec coordinates;
  PetscScalar *x;
  MatNullSpace modes;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &coordinates, NULL));
  PetscCall(VecSetBlockSize(coordinates, 3));
  PetscCall(VecGetArrayWrite(coordinates, &x));
  for (PetscInt node = start; node < end; node++) {
    *x++ = (PetscReal)(node % n[0]);
    *x++ = (PetscReal)(node / n[0] % n[1]);
    *x++ = (PetscReal)(node / (n[0] * n[1]) + 1);
  }
  x -= 3 * (end - start);
  PetscCall(VecRestoreArrayWrite(coordinates, &x));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &modes));
  PetscCall(MatSetNearNullSpace(A, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticityCreateMat(MPI_Comm comm, PetscInt n, PetscInt nz, Mat *A)
{
  Solid solid = {.n = {n, n, nz}};
  PetscInt nodes = n * n * nz, m = PETSC_DECIDE, start, end, *nnz_diag, *nnz_off, cols[27];
  PetscScalar vals[3 * 81];

  PetscFunctionBeginUser;
  SolidSetUpElement(&solid);
  PetscCall(PetscSplitOwnership(comm, &m, &nodes));
  PetscCallMPI(MPI_Scan(&m, &end, 1, MPIU_INT, MPI_SUM, comm));
  start = end - m;
  PetscCall(PetscCalloc2(m, &nnz_diag, m, &nnz_off));
  for (PetscInt node = start; node < end; node++) {
    const PetscInt count = SolidRows(&solid, node, cols, vals);

    for (PetscInt k = 0; k < count; k++) {
      if (cols[k] >= start && cols[k] < end)
        nnz_diag[node - start]++;
      else
        nnz_off[node - start]++;
    }
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, 3 * m, 3 * m, 3 * nodes, 3 * nodes));
  PetscCall(MatSetBlockSize(*A, 3));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatXAIJSetPreallocation(*A, 3, nnz_diag, nnz_off, NULL, NULL));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt node = start; node < end; node++) {
    const PetscInt count = SolidRows(&solid, node, cols, vals);

    PetscCall(MatSetValuesBlocked(*A, 1, &node, count, cols, vals, INSERT_VALUES));
  }
  PetscCall(PetscFree2(nnz_diag, nnz_off));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(SetRigidBodyModes(&solid, start, end, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
