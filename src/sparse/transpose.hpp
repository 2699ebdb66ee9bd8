// The transpose of one rank's rows.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// At = Aᵀ, columns ascending. from, when given: At's entry k is A's entry from[k]. Waits. Takes on Cuda, besides A, 16 bytes an entry
// before At's entries are there, then 8 beside them, with from's.
template <class Ex> PetscErrorCode transpose(Ex &, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from = nullptr);
} // namespace amgkit
