// A host matrix as the rank's part of a distributed one, as a preconditioner has the user's.
#pragma once
#include "dist/mat_view.hpp"
#include "support/coarse_problem.hpp"

namespace amgkit::test
{
template <class Ex> struct DistSystem {
  OwnedMat mat;
  MatView<Ex> view;
  DistMatrix<Ex> A;

  DistSystem() = default;
  DistSystem(const DistSystem &) = delete;
  DistSystem &operator=(const DistSystem &) = delete;
  ~DistSystem() { static_cast<void>(view.release()); }
  PetscErrorCode create(Ex &ex, const HostCsr &whole, const std::vector<PetscInt> &range, MPI_Comm comm = PETSC_COMM_WORLD)
  {
    PetscFunctionBegin;
    PetscCall(distribute(whole, Ex::on_device, mat.out(), range[rank_of_world() + 1] - range[rank_of_world()], comm));
    PetscCall(view.create(mat, A));
    PetscCall(view.access(ex, A));
    PetscCall(A.allocate(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Other values of the same pattern
  PetscErrorCode replace_values(Ex &ex, const HostCsr &whole)
  {
    PetscInt first, last;
    PetscFunctionBegin;
    PetscCall(view.release());
    PetscCall(MatGetOwnershipRange(mat, &first, &last));
    for (PetscInt i = first; i < last; i++) {
      for (int k = whole.ptr[i]; k < whole.ptr[i + 1]; k++) PetscCall(MatSetValue(mat, i, whole.col[k], whole.val[k], INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
    PetscCall(view.access(ex, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace amgkit::test
