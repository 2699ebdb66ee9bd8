#include "dist/vec_view.hpp"

#include "base/log.hpp"
#include "dist/object_state.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// Gives copy n entries, keeping the memory it has when that is right.
template <class Ex> PetscErrorCode resize(Ex &ex, PetscInt n, Array<double, Ex> &copy)
{
  PetscFunctionBegin;
  if (copy.size() != n) PetscCall(copy.allocate(ex, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

bool on_cuda(Vec x)
{
#if defined(AMGKIT_HAVE_CUDA)
  PetscBool is = PETSC_FALSE;
  return !PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(x), &is, VECSEQCUDA, VECMPICUDA, "") && is;
#else
  static_cast<void>(x);
  return false;
#endif
}

PetscErrorCode check_layout(const std::vector<PetscInt> &range, Vec x)
{
  const PetscInt *theirs;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRanges(x, &theirs));
  PetscCheck(std::equal(range.begin(), range.end(), theirs), PetscObjectComm(reinterpret_cast<PetscObject>(x)), PETSC_ERR_ARG_SIZ,
             "The preconditioner was set up for other rows than those of the vector: let it be set up again, "
             "KSPSetReusePreconditioner(ksp, PETSC_FALSE)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode VecReader<Ex>::access(Ex &ex, Vec x, const double **entries)
{
  PetscMemType where = PETSC_MEMTYPE_HOST;
  PetscInt n;

  PetscFunctionBegin;
  if (SpaceVectorIn<Ex> *vector = space_vector<Ex>(x)) {
    double *here;
    PetscCall(vector->in_space(VecUse::read, &here));
    *entries = here;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(x, &n));
  if constexpr (Ex::on_device)
    PetscCall(VecGetArrayReadAndMemType(x, &theirs_, &where));
  else
    PetscCall(VecGetArrayRead(x, &theirs_));
  *entries = theirs_;
  if (Ex::apart && PetscMemTypeHost(where)) {
    const LogPhase logged(Phase::vector_up);
    PetscCall(resize(ex, n, copy_));
    PetscCall(copy_in(ex, copy_.data(), theirs_, copy_.bytes()));
    *entries = copy_.data();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode VecReader<Ex>::release(Vec x)
{
  PetscFunctionBegin;
  if (!theirs_) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (Ex::on_device)
    PetscCall(VecRestoreArrayReadAndMemType(x, &theirs_));
  else
    PetscCall(VecRestoreArrayRead(x, &theirs_));
  theirs_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode VecWriter<Ex>::access(Ex &ex, Vec y, double **entries, VecUse use)
{
  PetscMemType where = PETSC_MEMTYPE_HOST;
  PetscInt n;

  PetscFunctionBegin;
  use_ = use;
  elsewhere_ = false;
  vector_ = space_vector<Ex>(y);
  if (vector_) {
    PetscCall(vector_->in_space(use, entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(y, &n));
  if constexpr (Ex::on_device)
    PetscCall((use == VecUse::change ? VecGetArrayAndMemType : VecGetArrayWriteAndMemType)(y, &theirs_, &where));
  else
    PetscCall((use == VecUse::change ? VecGetArray : VecGetArrayWrite)(y, &theirs_));
  *entries = theirs_;
  elsewhere_ = Ex::apart && PetscMemTypeHost(where);
  if (!elsewhere_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(resize(ex, n, copy_));
  if (use == VecUse::change) {
    const LogPhase logged(Phase::vector_up);
    PetscCall(copy_in(ex, copy_.data(), theirs_, copy_.bytes()));
  }
  *entries = copy_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode VecWriter<Ex>::release(Ex &ex, Vec y)
{
  PetscFunctionBegin;
  if (vector_) {
    PetscCall(next_state(reinterpret_cast<PetscObject>(y))); // what PETSc knew of its norms is old
    vector_ = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (elsewhere_) {
    const LogPhase logged(Phase::vector_down);
    PetscCall(copy_out(ex, theirs_, copy_.data(), copy_.bytes()));
  }
  if constexpr (Ex::on_device)
    PetscCall((use_ == VecUse::change ? VecRestoreArrayAndMemType : VecRestoreArrayWriteAndMemType)(y, &theirs_));
  else
    PetscCall((use_ == VecUse::change ? VecRestoreArray : VecRestoreArrayWrite)(y, &theirs_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, VecReader)
AMGKIT_INSTANTIATE_TYPE(class, VecWriter)
} // namespace amgkit
