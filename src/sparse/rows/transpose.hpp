// The transpose of one rank's rows, and where rows begin.
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

// ptr[j], 0 <= j <= rows <- where row j begins among n entries: entry k is of row[k], and these ascend.
template <class Ex> PetscErrorCode begins_of_rows(Ex &, int rows, std::int64_t n, const std::uint32_t *row, int *ptr);
} // namespace amgkit
