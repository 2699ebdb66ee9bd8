// Rows that are in a space's memory, though PETSc sees a matrix without entries: what a head holds for the processes of its group. As
// space_vector.hpp for vectors.
#pragma once
#include "dist/mat_view.hpp"

namespace amgkit
{
class SpaceMatrix {
public:
  SpaceMatrix() = default;
  SpaceMatrix(const SpaceMatrix &) = delete;
  SpaceMatrix &operator=(const SpaceMatrix &) = delete;
  virtual ~SpaceMatrix() = default;
};

// What was attached to A, or nullptr.
SpaceMatrix *space_matrix_of(Mat A);
// A does not own it.
PetscErrorCode attach(Mat A, SpaceMatrix *);
PetscErrorCode detach(Mat A);

template <class Ex> class SpaceMatrixIn final : public SpaceMatrix {
public:
  Csr<double, Ex> own, others; // as DistMatrix has them; on one rank there may be no others
  std::vector<PetscInt> ghosts;
  MatCopies copied; // to the space, from where the rows came
};

// A's, if it is of this space
template <class Ex> SpaceMatrixIn<Ex> *space_matrix(Mat A) { return dynamic_cast<SpaceMatrixIn<Ex> *>(space_matrix_of(A)); }
} // namespace amgkit
