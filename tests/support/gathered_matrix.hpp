// Matrices of several ranks beside those of one.
#pragma once
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
// All of a matrix on every rank
inline PetscErrorCode gathered(Mat A, Mat *out)
{
  OwnedIS rows, cols;
  Mat *all;
  PetscInt m, n;
  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &m, &n));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, m, 0, 1, rows.out()));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, cols.out()));
  IS of_rows = rows, of_cols = cols;
  PetscCall(MatCreateSubMatrices(A, 1, &of_rows, &of_cols, MAT_INITIAL_MATRIX, &all));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(all[0])));
  *out = all[0];
  PetscCall(MatDestroySubMatrices(1, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same entries but for rounding, the two matrices on one rank
inline void expect_same(Mat A, Mat B, const std::string &name)
{
  OwnedMat difference;
  PetscInt sizes[4];
  PetscReal error, size;
  OK(MatGetSize(A, &sizes[0], &sizes[1]));
  OK(MatGetSize(B, &sizes[2], &sizes[3]));
  ASSERT_EQ(sizes[0], sizes[2]) << name;
  ASSERT_EQ(sizes[1], sizes[3]) << name;
  OK(MatDuplicate(A, MAT_COPY_VALUES, difference.out()));
  OK(MatAXPY(difference, -1, B, DIFFERENT_NONZERO_PATTERN));
  OK(MatNorm(difference, NORM_INFINITY, &error));
  OK(MatNorm(A, NORM_INFINITY, &size));
  EXPECT_LE(error, 1e-10 * size) << name;
}
} // namespace amgkit::test
