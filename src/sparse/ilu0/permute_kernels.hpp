#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/permute.hpp"
#include "sparse/rows/search.hpp"
#include "sparse/rows/sorted_columns.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode invert_permutation(Ex &ex, std::int64_t n, const int *order, int *place)
{
  std::int64_t bad = 0;

  PetscFunctionBegin;
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { place[i] = -1; }));
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (order[i] >= 0 && order[i] < n) atomic_store(place + order[i], static_cast<int>(i));
  }));
  PetscCall(reduce<std::int64_t>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return std::int64_t{place[i] < 0}; }, 0, Sum{}, &bad));
  PetscCheck(bad == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "This is no permutation of %lld numbers: %lld of them are missing",
             static_cast<long long>(n), static_cast<long long>(bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode permute(Ex &ex, CsrView<double> A, const int *order, const int *place, Csr<double, Ex> &B, Array<int, Ex> &from)
{
  Array<int, Ex> sources, positions;
  std::int64_t nnz = 0;

  PetscFunctionBegin;
  B = {};
  B.rows = A.rows;
  B.cols = A.cols;
  PetscCall(B.ptr.allocate(ex, std::int64_t{A.rows} + 1));
  int *ptr = B.ptr.data();
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment row = entries_of(A, order ? order[i] : i);
    ptr[i] = row.end - row.begin;
  }));
  PetscCall(exclusive_scan(ex, A.rows, ptr, &nnz));
  PetscCall(allocate_each(ex, nnz, sources, positions, from, B.col, B.val));
  int *source = sources.data(), *col = B.col.data();
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(A, order ? order[i] : i);
    for (int k : team.share(row.begin, row.end)) {
      const int t = ptr[i] + k - row.begin;
      col[t] = place[A.col[k]];
      source[t] = k;
    }
  }));
  PetscCall(sorted_columns(ex, B.view(), positions.data(), col));
  PetscCall(gather(ex, nnz, positions.data(), static_cast<const int *>(source), from.data()));
  PetscCall(gather(ex, nnz, from.data(), A.val, B.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode permute_symmetric(Ex &ex, CsrView<double> A, const int *order, const int *place, Csr<double, Ex> &B, Array<int, Ex> &from)
{
  PetscFunctionBegin;
  PetscCheck(A.rows == A.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "Rows and columns of a matrix of %d x %d in one order", A.rows, A.cols);
  PetscCall(permute(ex, A, order, place, B, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(invert_permutation)
AMGKIT_INSTANTIATE(permute)
AMGKIT_INSTANTIATE(permute_symmetric)
} // namespace amgkit
