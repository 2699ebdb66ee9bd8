#include "dist/near_null.hpp"

#include "dist/vec_view.hpp"
#include "sparse/spmv.hpp"

#include <algorithm>

namespace amgkit
{
template <class Ex> PetscErrorCode smooth_vector_of(Ex &ex, Mat A, Array<double, Ex> &w)
{
  MatNullSpace space;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0, bs;
  const Vec *vectors = nullptr;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(MatGetNearNullSpace(A, &space));
  if (!space) PetscCall(MatGetNullSpace(A, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  PetscCall(fill(ex, w.size(), count == 0 || constant ? 1 : 0, w.data()));
  for (PetscInt k = 0; k < std::min(count, bs - (constant ? 1 : 0)); k++) {
    VecReader<Ex> reader;
    const double *entries;
    PetscInt n;
    PetscCall(VecGetLocalSize(vectors[k], &n));
    PetscCheck(n == w.size(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "Vector %" PetscInt_FMT " of the near-null space has %" PetscInt_FMT " entries here, the matrix %d rows", k, n,
               static_cast<int>(w.size()));
    PetscCall(reader.access(ex, vectors[k], &entries));
    PetscCall(add(ex, w.size(), entries, w.data()));
    PetscCall(reader.release(vectors[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex) template PetscErrorCode smooth_vector_of(Ex &, Mat, Array<double, Ex> &);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
