// On a plain host, where one thread takes aggregate after aggregate: an array with a place for each of C's columns takes the part of the
// hash tables, as in spgemm/spgemm_marks.hpp. Columns, places and so sums are the same.
#pragma once
#include "sparse/rows/contract_product.hpp"

#include <algorithm>
#include <array>

namespace amgkit
{
namespace
{
// f(k) for A's entries k in the rows of aggregate I, in order
template <class In, class F> void for_entries(const In &in, int I, F f)
{
  for (int r = 0; r < in.ptr[I + 1] - in.ptr[I]; r++) {
    const Segment row = in.row(I, r);
    for (int k = row.begin; k < row.end; k++) f(k);
  }
}

// count[I] <- number of distinct columns of aggregate I; where there are more than slots, if_more, and *more becomes 1
template <class In>
PetscErrorCode count_by_marks(Host &ex, const In &in, const Csr<double, Host> &C, int slots, int if_more, int *count, unsigned *more)
{
  Array<int, Host> last; // aggregate that has the column

  PetscFunctionBegin;
  PetscCall(last.allocate(ex, C.cols));
  std::fill_n(last.data(), C.cols, -1);
  int *mark = last.data();
  for (int I = 0; I < C.rows; I++) {
    int n = 0;
    for_entries(in, I, [&](int k) {
      const int column = in.column_id[in.A.col[k]];
      if (column < 0) return;
      n += mark[column] != I;
      mark[column] = I;
    });
    count[I] = n <= slots ? n : if_more;
    if (n > slots) *more = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The columns of the rows of C of at most so many slots, ascending, and the places of their products.
template <class In> PetscErrorCode place_by_marks(Host &ex, const In &in, int slots, Csr<double, Host> &C, unsigned char *place)
{
  Array<int, Host> last, nths;
  const int *ptr = C.ptr.data();
  int *col = C.col.data();
  std::array<int, nowhere> found;          // columns of the present row, as they came up
  std::array<unsigned char, nowhere> rank; // of these among the sorted ones

  PetscFunctionBegin;
  PetscCall(last.allocate(ex, C.cols));
  PetscCall(nths.allocate(ex, C.cols));
  std::fill_n(last.data(), C.cols, -1);
  int *mark = last.data(), *nth = nths.data(); // nth[column]: that it was the n-th to come up, then its place
  for (int I = 0; I < C.rows; I++) {
    const int begin = ptr[I], n = ptr[I + 1] - begin;
    int known = 0;
    if (n > slots) continue;
    for_entries(in, I, [&](int k) {
      const int column = in.column_id[in.A.col[k]];
      if (column >= 0 && mark[column] != I) {
        mark[column] = I;
        nth[column] = known;
        found[known++] = column;
      }
      place[k] = static_cast<unsigned char>(column >= 0 ? nth[column] : nowhere);
    });
    std::copy_n(found.begin(), n, col + begin);
    std::sort(col + begin, col + begin + n);
    for (int t = 0; t < n; t++) nth[col[begin + t]] = t;
    for (int t = 0; t < n; t++) rank[t] = static_cast<unsigned char>(nth[found[t]]);
    for_entries(in, I, [&](int k) {
      if (place[k] != nowhere) place[k] = rank[place[k]];
    });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace
} // namespace amgkit
