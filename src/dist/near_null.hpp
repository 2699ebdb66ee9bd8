// The smooth vector that the user's matrix suggests.
#pragma once
#include "base/array.hpp"

#include <petscmat.h>

namespace amgkit
{
// w <- the sum of the first bs vectors that MatSetNearNullSpace(), or else MatSetNullSpace(), attached, bs being the matrix's block size:
// for rigid body modes the translations. Vectors that are not attached count as constants; w = 1 without any. Local; w has A's rows;
// a vector of another length is an error.
template <class Ex> PetscErrorCode smooth_vector_of(Ex &, Mat A, Array<double, Ex> &w);
} // namespace amgkit
