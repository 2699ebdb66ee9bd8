// The memory of the user's vectors, where a space can read and write it.
#pragma once
#include "base/array.hpp"

#include <petscvec.h>

namespace amgkit
{
// x's entries for reading, between access() and release(). A vector that lives elsewhere is copied to this object's own array.
template <class Ex> class VecReader {
public:
  PetscErrorCode access(Ex &, Vec x, const double **entries);
  PetscErrorCode release(Vec x);

private:
  const PetscScalar *theirs_ = nullptr;
  Array<double, Ex> copy_;
};

// y's entries for overwriting all of them; release() brings them to where y lives.
template <class Ex> class VecWriter {
public:
  PetscErrorCode access(Ex &, Vec y, double **entries);
  PetscErrorCode release(Ex &, Vec y);

private:
  PetscScalar *theirs_ = nullptr;
  bool elsewhere_ = false;
  Array<double, Ex> copy_;
};
} // namespace amgkit
