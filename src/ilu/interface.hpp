// A rank's rows as interior ones, which no other rank knows of, and interface ones: what a two-level method takes apart.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// part[i] = 1 for rows with entries in offd, and for those in sent, which other ranks have as ghosts; 0 for the interior ones, of which
// there are so many. On a symmetric pattern the two kinds of row are the same. Waits.
template <class Ex>
PetscErrorCode mark_interface(Ex &, CsrView<double> offd, std::int64_t nsent, const int *sent, int *part, int *interior);
// to[k] = place[sent[k]] - interior
template <class Ex> PetscErrorCode interface_places(Ex &, std::int64_t nsent, const int *sent, const int *place, int interior, int *to);

// Some rows of a matrix, and some of its columns: row[i], or first + i where row is nullptr, for i < rows; columns begin <= j < end.
struct BlockShape {
  int rows = 0, first = 0;
  const int *row = nullptr;
  int begin = 0, end = 0;
};
// A matrix of its own from part of another's entries: entry k is that one's entry from[k], columns count from the first.
template <class Ex> struct SubMatrix {
  Csr<double, Ex> A;
  Array<int, Ex> from;
  Array<int, Ex> nonempty; // rows with entries, ascending

  std::size_t bytes() const { return A.bytes() + from.bytes() + nonempty.bytes(); }
};
// All but the values, for which there is room. Columns of A ascend; reads no values. Waits.
template <class Ex> PetscErrorCode sub_matrix(Ex &, CsrView<double> A, const BlockShape &, SubMatrix<Ex> &);

// y_i = (A x)_i for the given rows only
template <class Ex> PetscErrorCode multiply_rows(Ex &, CsrView<double> A, std::int64_t nrows, const int *rows, const double *x, double *y);
} // namespace amgkit
