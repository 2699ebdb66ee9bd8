#include "base/parallel.hpp"
#include "ilu/interface.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode mark_interface(Ex &ex, CsrView<double> offd, std::int64_t nsent, const int *sent, int *part, int *interior)
{
  PetscFunctionBegin;
  PetscCall(for_each(ex, offd.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment row = entries_of(offd, i);
    part[i] = row.begin < row.end;
  }));
  PetscCall(for_each(ex, nsent, [=] AMGKIT_FN(std::int64_t k) { atomic_store(part + sent[k], 1); }));
  PetscCall(reduce<int>(
      ex, offd.rows, [=] AMGKIT_FN(std::int64_t i) { return 1 - part[i]; }, 0, Sum{}, interior));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode interface_places(Ex &ex, std::int64_t nsent, const int *sent, const int *place, int interior, int *to)
{
  return for_each(ex, nsent, [=] AMGKIT_FN(std::int64_t k) { to[k] = place[sent[k]] - interior; });
}

template <class Ex> PetscErrorCode sub_matrix(Ex &ex, CsrView<double> A, const BlockShape &shape, SubMatrix<Ex> &B)
{
  const int *row = shape.row, first = shape.first, begin = shape.begin, end = shape.end;
  std::int64_t nnz = 0;

  PetscFunctionBegin;
  B = {};
  B.A.rows = shape.rows;
  B.A.cols = end - begin;
  PetscCall(B.A.ptr.allocate(ex, std::int64_t{shape.rows} + 1));
  int *ptr = B.A.ptr.data();
  PetscCall(for_each(ex, shape.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment all = entries_of(A, row ? row[i] : first + i);
    ptr[i] = lower_bound(A.col, all.begin, all.end, end) - lower_bound(A.col, all.begin, all.end, begin);
  }));
  PetscCall(exclusive_scan(ex, shape.rows, ptr, &nnz));
  PetscCall(allocate_each(ex, nnz, B.A.col, B.A.val, B.from));
  int *col = B.A.col.data(), *from = B.from.data();
  PetscCall(for_rows(ex, shape.rows, B.A.view().average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment all = entries_of(A, row ? row[i] : first + i);
    const int shift = lower_bound(A.col, all.begin, all.end, begin) - ptr[i];
    for (int k : team.share(ptr[i], ptr[i + 1])) {
      col[k] = A.col[k + shift] - begin;
      from[k] = k + shift;
    }
  }));
  PetscCall(nonempty_rows(ex, B.A.view(), B.nonempty));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode multiply_rows(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, const double *x, double *y)
{
  const double average = nrows > 0 ? static_cast<double>(A.nnz) / static_cast<double>(nrows) : 0;
  return for_rows(ex, nrows, average, [=] AMGKIT_FN(auto team, std::int64_t r) {
    const int i = rows[r];
    const double y_i = team.ordered_sum(A.ptr[i], A.ptr[i + 1], [&](int k) { return A.val[k] * x[A.col[k]]; });
    team.once([&] { y[i] = y_i; });
  });
}

AMGKIT_INSTANTIATE(mark_interface)
AMGKIT_INSTANTIATE(interface_places)
AMGKIT_INSTANTIATE(sub_matrix)
AMGKIT_INSTANTIATE(multiply_rows)
} // namespace amgkit
