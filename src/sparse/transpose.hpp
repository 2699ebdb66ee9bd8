// The transpose of one rank's rows.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// At = Aᵀ, columns ascending. from, when given: At's entry k is A's entry from[k]. Waits.
template <class Ex> PetscErrorCode transpose(Ex &, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from = nullptr);
} // namespace amgkit
