#include "base/parallel.hpp"
#include "sparse/transpose.hpp"

namespace amgkit
{
// Sorting the entries by their columns, in a stable way, leaves the rows of each column in ascending order.
template <class Ex> PetscErrorCode transpose(Ex &ex, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from)
{
  Array<std::uint32_t, Ex> columns;
  Array<int, Ex> positions;
  const std::int64_t n = A.nnz;
  int bits = 1;

  PetscFunctionBegin;
  At.rows = A.cols;
  At.cols = A.rows;
  At.col.release();
  At.val.release();
  PetscCall(columns.allocate(ex, n));
  PetscCall(positions.allocate(ex, n));
  std::uint32_t *column = columns.data();
  int *position = positions.data(), *row = columns.template as<int>();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) {
    column[k] = static_cast<std::uint32_t>(A.col[k]);
    position[k] = static_cast<int>(k);
  }));
  while (A.cols >> bits) bits++;
  PetscCall(stable_sort_pairs(ex, n, column, position, bits));
  PetscCall(At.ptr.allocate(ex, std::int64_t{At.rows} + 1));
  int *ptr = At.ptr.data();
  // the first entry of every row at or after the one before it
  PetscCall(for_each(ex, n + 1, [=] AMGKIT_FN(std::int64_t k) {
    const std::int64_t here = k < n ? static_cast<std::int64_t>(column[k]) : A.cols;
    for (std::int64_t j = k > 0 ? static_cast<std::int64_t>(column[k - 1]) + 1 : 0; j <= here; j++) ptr[j] = static_cast<int>(k);
  }));
  // the columns have done their work: each entry's row in place of them
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) row[k] = static_cast<int>(i);
  }));
  PetscCall(At.col.allocate(ex, n));
  PetscCall(At.val.allocate(ex, n));
  int *col = At.col.data();
  double *val = At.val.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) {
    col[k] = row[position[k]];
    val[k] = A.val[position[k]];
  }));
  if (from) *from = std::move(positions);
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode transpose(Space &, CsrView<double>, Csr<double, Space> &, Array<int, Space> *);
} // namespace amgkit
