// The transpose of one rank's rows.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// A's entries may come in complete aligned blocks of rows x cols. One pass over its columns tells; then the blocks are sorted, not the
// entries: at 3 x 6 an eighteenth of them. The result is the same.
struct TransposeBlocks {
  int rows = 1, cols = 1;
};

// At = Aᵀ, columns ascending. from, when given: At's entry k is A's entry from[k]. Waits. Takes on Cuda, besides A, 16 bytes an entry, or
// a block, before At's entries are there, then 8 beside them, with from's.
template <class Ex>
PetscErrorCode transpose(Ex &, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from = nullptr, TransposeBlocks = {});
} // namespace amgkit
