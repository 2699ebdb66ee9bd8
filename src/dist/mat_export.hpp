// PETSc matrices made from what a level holds, for those who ask for them.
#pragma once
#include "dist/matrix.hpp"

#include <petscmat.h>

namespace amgkit
{
// A rank's rows with global columns that ascend in each row, on the host.
struct HostRows {
  std::vector<PetscInt> ptr = {0}, col;
  std::vector<PetscScalar> val;
};

// Local: all of A's rows of this rank.
template <class Ex> PetscErrorCode rows_of(Ex &, const DistMatrix<Ex> &A, HostRows &);

// Collective over comm: the matrix with these rows and n columns of this rank. type: a MATAIJ type or one derived from it.
PetscErrorCode make_mat(MPI_Comm comm, MatType type, PetscInt bs, PetscInt n, const HostRows &, Mat *);
} // namespace amgkit
