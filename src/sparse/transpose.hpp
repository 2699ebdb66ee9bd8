// The transpose of one rank's rows.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// At = Aᵀ, columns ascending. Waits.
template <class Ex> PetscErrorCode transpose(Ex &, CsrView<double> A, Csr<double, Ex> &At);
} // namespace amgkit
