#include "dist/space_vector.hpp"

#include "base/log.hpp"
#include "dist/attached.hpp"

namespace amgkit
{
namespace
{
constexpr const char *name_on_vec = "AMGKitSpaceVector";
}

SpaceVector *space_vector_of(Vec x) { return static_cast<SpaceVector *>(attached(reinterpret_cast<PetscObject>(x), name_on_vec)); }
PetscErrorCode attach(Vec x, SpaceVector *vector) { return attach(reinterpret_cast<PetscObject>(x), name_on_vec, vector); }
PetscErrorCode detach(Vec x) { return detach(reinterpret_cast<PetscObject>(x), name_on_vec); }

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::create(Ex &ex, std::int64_t n)
{
  PetscFunctionBegin;
  ex_ = &ex;
  n_ = n;
  PetscCall(own_.allocate(ex, n));
  here_ = own_.data();
  PetscCall(take(nullptr, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::take(double *host, bool zero)
{
  PetscFunctionBegin;
  host_ = host ? host : own_host_.data();
  if (zero) PetscCall(memory_zero(*ex_, here_, own_.bytes()));
  here_is_current_ = zero;
  host_is_current_ = host != nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void SpaceVectorIn<Ex>::release()
{
  own_.release();
  own_host_.release();
  host_ = here_ = nullptr;
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::on_host(VecUse use, double **entries)
{
  PetscFunctionBegin;
  if (!host_ && n_ > 0) {
    PetscCall(own_host_.allocate(host_space_, n_));
    host_ = own_host_.data();
  }
  if (use != VecUse::overwrite && !host_is_current_) {
    const LogPhase logged(Phase::vector_down);
    PetscCall(copy_out(*ex_, host_, here_, own_.bytes()));
  }
  host_is_current_ = true;
  if (use != VecUse::read) here_is_current_ = false;
  *entries = host_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::in_space(VecUse use, double **entries)
{
  PetscFunctionBegin;
  if (use != VecUse::overwrite && !here_is_current_) {
    const LogPhase logged(Phase::vector_up);
    PetscCall(copy_in(*ex_, here_, host_, own_.bytes()));
  }
  here_is_current_ = true;
  if (use != VecUse::read) host_is_current_ = false;
  *entries = here_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::set_zero()
{
  double *entries;

  PetscFunctionBegin;
  PetscCall(in_space(VecUse::overwrite, &entries));
  PetscCall(memory_zero(*ex_, entries, own_.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::copy_in_space(SpaceVector &to, bool *copied)
{
  auto *other = dynamic_cast<SpaceVectorIn *>(&to);
  double *from = nullptr, *there = nullptr;

  PetscFunctionBegin;
  *copied = other && other->n_ == n_;
  if (!*copied) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(in_space(VecUse::read, &from));
  PetscCall(other->in_space(VecUse::overwrite, &there));
  PetscCall(memory_copy(*ex_, there, from, own_.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void SpaceVectorIn<Ex>::place(double *entries)
{
  here_ = entries;
  here_is_current_ = true;
  host_is_current_ = false;
}

template <class Ex> PetscErrorCode SpaceVectorIn<Ex>::take_back()
{
  double *entries;

  PetscFunctionBegin;
  PetscCall(in_space(VecUse::read, &entries));
  here_ = own_.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, SpaceVectorIn)
} // namespace amgkit
