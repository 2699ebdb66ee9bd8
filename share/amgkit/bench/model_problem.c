#include "model_problem.h"

const char *const SystemNames[SYSTEM_COUNT] = {"7", "27", "aniso", "jump", "neumann"};

#define BLOCK_SIDE 8 /* cells a side of a block with one coefficient */

typedef struct {
  System system;
  PetscInt n[3];     /* grid points in x, y, z */
  PetscInt noffsets; /* the stencil: the row itself and its neighbours, in ascending order of columns */
  PetscInt offset[27][3];
  PetscInt nblocks[3];    /* jump only */
  PetscReal *coefficient; /* jump only: of each block, x fastest */
} Grid;

unsigned long long SplitMix64(unsigned long long z)
{
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

PetscReal UniformOfBits(unsigned long long bits) { return ((PetscReal)(bits >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */ }

/* 10^u of each block; it depends on the place of the block alone, not on n or on the number of ranks. */
static PetscErrorCode GridSetUpCoefficient(Grid *grid)
{
  PetscReal *p;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) grid->nblocks[d] = (grid->n[d] + BLOCK_SIDE - 1) / BLOCK_SIDE;
  PetscCall(PetscMalloc1(grid->nblocks[0] * grid->nblocks[1] * grid->nblocks[2], &grid->coefficient));
  p = grid->coefficient;
  for (PetscInt64 z = 0; z < grid->nblocks[2]; z++) {
    for (PetscInt64 y = 0; y < grid->nblocks[1]; y++) {
      for (PetscInt64 x = 0; x < grid->nblocks[0]; x++) {
        const PetscReal u = UniformOfBits(SplitMix64((unsigned long long)(x | (y << 20) | (z << 40))));

        *p++ = PetscPowReal(10.0, 6.0 * u - 3.0);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GridSetUpStencil(Grid *grid)
{
  for (PetscInt k = 0; k < 27; k++) {
    const PetscInt d[3] = {k % 3 - 1, (k / 3) % 3 - 1, k / 9 - 1};

    if (grid->system != SYSTEM_27 && PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]) > 1) continue;
    for (PetscInt axis = 0; axis < 3; axis++) grid->offset[grid->noffsets][axis] = d[axis];
    grid->noffsets++;
  }
}

static PetscReal GridCoefficient(const Grid *grid, const PetscInt at[3])
{
  const PetscInt x = at[0] / BLOCK_SIDE, y = at[1] / BLOCK_SIDE, z = at[2] / BLOCK_SIDE;

  return grid->coefficient[x + grid->nblocks[0] * (y + grid->nblocks[1] * z)];
}

/* w between a point and its neighbour; for jump a neighbour beyond the boundary has the point's own coefficient. */
static PetscReal GridWeight(const Grid *grid, const PetscInt at[3], const PetscInt to[3], PetscBool inside)
{
  PetscReal p, q;

  if (grid->system == SYSTEM_ANISO) return at[2] == to[2] ? 1.0 : 0.01;
  if (grid->system == SYSTEM_NEUMANN) return inside ? 1.0 : 0.0;
  if (grid->system != SYSTEM_JUMP) return 1.0;
  p = GridCoefficient(grid, at);
  q = inside ? GridCoefficient(grid, to) : p;
  return 2.0 * p * q / (p + q);
}

/* A RowFunction of the grid */
static PetscInt GridRow(const void *problem, PetscInt row, PetscInt cols[], PetscScalar vals[])
{
  const Grid *grid = (const Grid *)problem;
  const PetscInt *n = grid->n, at[3] = {row % n[0], (row / n[0]) % n[1], row / (n[0] * n[1])};
  PetscInt count = 0, diagonal = 0;
  PetscReal sum = 0.0;

  for (PetscInt k = 0; k < grid->noffsets; k++) {
    const PetscInt *offset = grid->offset[k], to[3] = {at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]};
    const PetscBool inside =
        (to[0] >= 0 && to[0] < n[0] && to[1] >= 0 && to[1] < n[1] && to[2] >= 0 && to[2] < n[2]) ? PETSC_TRUE : PETSC_FALSE;
    const PetscInt col = to[0] + n[0] * (to[1] + n[1] * to[2]);

    if (vals && !(inside && col == row)) {
      const PetscReal w = GridWeight(grid, at, to, inside);

      sum += w;
      vals[count] = -w;
    }
    if (!inside) continue;
    if (col == row) diagonal = count;
    cols[count++] = col;
  }
  if (vals) vals[diagonal] = sum;
  return count;
}

PetscErrorCode RowsCreateMat(MPI_Comm comm, PetscInt N, PetscInt longest, RowFunction row_of, const void *problem, Mat *A)
{
  PetscInt m = PETSC_DECIDE, start, end, *nnz_diag, *nnz_off, *cols;
  PetscScalar *vals;

  PetscFunctionBeginUser;
  PetscCall(PetscSplitOwnership(comm, &m, &N));
  PetscCallMPI(MPI_Scan(&m, &end, 1, MPIU_INT, MPI_SUM, comm));
  start = end - m;
  PetscCall(PetscCalloc2(m, &nnz_diag, m, &nnz_off));
  PetscCall(PetscMalloc2(longest, &cols, longest, &vals));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt count = row_of(problem, row, cols, NULL);

    for (PetscInt k = 0; k < count; k++) {
      if (cols[k] >= start && cols[k] < end)
        nnz_diag[row - start]++;
      else
        nnz_off[row - start]++;
    }
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, m, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatXAIJSetPreallocation(*A, 1, nnz_diag, nnz_off, NULL, NULL));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt count = row_of(problem, row, cols, vals);

    PetscCall(MatSetValues(*A, 1, &row, count, cols, vals, INSERT_VALUES));
  }
  PetscCall(PetscFree2(nnz_diag, nnz_off));
  PetscCall(PetscFree2(cols, vals));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ModelProblemCreateMat(MPI_Comm comm, System system, PetscInt n, PetscInt nz, Mat *A)
{
  Grid grid = {.system = system, .n = {n, n, nz}};

  PetscFunctionBeginUser;
  PetscCheck((PetscReal)n * n * nz < PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " rows are too many for PetscInt", n, n, nz);
  GridSetUpStencil(&grid);
  if (system == SYSTEM_JUMP) PetscCall(GridSetUpCoefficient(&grid));
  PetscCall(RowsCreateMat(comm, n * n * nz, 27, GridRow, &grid, A));
  PetscCall(PetscFree(grid.coefficient));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* order[k] = the index that comes k-th, by Fisher and Yates. */
static void ShuffleIndices(PetscInt first, PetscInt n, PetscInt order[])
{
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt j = (PetscInt)(SplitMix64((unsigned long long)(first + k)) % (unsigned long long)(k + 1));

    if (j < k) order[k] = order[j];
    order[j] = first + k;
  }
}

PetscErrorCode ModelProblemShuffle(Mat *A)
{
  PetscInt first, end, *order;
  MatType type;
  char name[256];
  IS rows;
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  PetscCall(MatGetType(*A, &type));
  PetscCall(PetscStrncpy(name, type, sizeof(name)));
  PetscCall(PetscMalloc1(end - first, &order));
  ShuffleIndices(first, end - first, order);
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)*A), end - first, order, PETSC_OWN_POINTER, &rows));
  PetscCall(ISSetPermutation(rows));
  PetscCall(MatPermute(*A, rows, rows, &B));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscCall(MatConvert(*A, name, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
