// Errors that are answers: work whose failure the program survives.
#pragma once
#include "base/compat.hpp"

#include <functional>
#include <string>

namespace amgkit
{
// Runs work(), whose error is not printed: its code, and its message. Local, or collective where work is.
PetscErrorCode outcome_of(const std::function<PetscErrorCode()> &work, PetscErrorCode *code, std::string *message);

// PETSc's stack of function names, which a PETSc for debugging keeps and an error that is no error in the end leaves as it was where it
// arose.
class CallStack {
public:
#if defined(PETSC_USE_DEBUG) && !defined(PETSC_HAVE_THREADSAFETY)
  void restore() const { petscstack.currentsize = size_, petscstack.hotdepth = depth_; }

private:
  int size_ = petscstack.currentsize, depth_ = petscstack.hotdepth;
#else
  void restore() const {}
#endif
};
} // namespace amgkit
