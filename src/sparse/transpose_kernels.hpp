#include "base/parallel.hpp"
#include "sparse/transpose.hpp"

namespace amgkit
{
// Sorting the entries by their columns, in a stable way, leaves the rows of each column in ascending order.
template <class Ex> PetscErrorCode transpose(Ex &ex, CsrView<double> A, Csr<double, Ex> &At, Array<int, Ex> *from)
{
  Array<std::uint64_t, Ex> columns;
  Array<int, Ex> positions, rows;
  const std::int64_t n = A.nnz;
  int bits = 1;

  PetscFunctionBegin;
  At.rows = A.cols;
  At.cols = A.rows;
  PetscCall(At.ptr.allocate(ex, At.rows + 1));
  PetscCall(At.col.allocate(ex, n));
  PetscCall(At.val.allocate(ex, n));
  PetscCall(columns.allocate(ex, n));
  PetscCall(positions.allocate(ex, n));
  PetscCall(rows.allocate(ex, n));
  std::uint64_t *column = columns.data();
  int *position = positions.data(), *row = rows.data(), *ptr = At.ptr.data(), *col = At.col.data();
  double *val = At.val.data();
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      column[k] = static_cast<std::uint64_t>(A.col[k]);
      position[k] = k;
      row[k] = static_cast<int>(i);
    }
  }));
  while (A.cols >> bits) bits++;
  PetscCall(stable_sort_pairs(ex, n, column, position, bits));
  // the first entry of every row at or after the one before it
  PetscCall(for_each(ex, n + 1, [=] AMGKIT_FN(std::int64_t k) {
    const std::int64_t here = k < n ? static_cast<std::int64_t>(column[k]) : A.cols;
    for (std::int64_t j = k > 0 ? static_cast<std::int64_t>(column[k - 1]) + 1 : 0; j <= here; j++) ptr[j] = static_cast<int>(k);
  }));
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
