#include "sparse/rows/search.hpp"
#include "sparse/rows/selection.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// The entries k of A that keep(k) names, in one pass.
template <class Keep> PetscErrorCode select_one_by_one(Host &ex, CsrView<double> A, Keep keep, Selection<Host> &chosen)
{
  Array<int, Host> list;
  int n = 0;

  PetscFunctionBegin;
  PetscCall(list.allocate(ex, A.nnz));
  int *at = list.data(), *ptr = chosen.ptr.data();
  for (int i = 0; i < A.rows; i++) {
    ptr[i] = n;
    if (A.nnz == 0) continue;                       // A.ptr may then be missing
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) { // without a branch, which would often be mispredicted
      at[n] = k;
      n += keep(k);
    }
  }
  ptr[A.rows] = n;
  PetscCall(chosen.at.allocate(ex, n));
  std::copy_n(at, n, chosen.at.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode select_entries(Ex &ex, CsrView<double> A, const unsigned char *mark, unsigned char bits, ColumnRange range,
                              Selection<Ex> &chosen)
{
  const int first = range.first, end = range.end;
  const bool inside = range.inside;
  Array<int, Ex> list;
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(chosen.ptr.allocate(ex, std::int64_t{A.rows} + 1));
  if (!inside && first <= 0 && end >= A.cols) { // no column is outside
    PetscCall(chosen.at.allocate(ex, 0));
    PetscCall(memory_zero(ex, chosen.ptr.data(), chosen.ptr.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Without branches, see select_one_by_one()
  const auto keep = [=] AMGKIT_FN(std::int64_t k) {
    return ((mark[k] & bits) != 0) & (((A.col[k] >= first) & (A.col[k] < end)) == inside);
  };
  if constexpr (Ex::one_by_one) PetscFunctionReturn(select_one_by_one(ex, A, keep, chosen));
  PetscCall(list.allocate(ex, A.nnz));
  PetscCall(compact(ex, A.nnz, keep, list.data(), &count));
  PetscCall(chosen.at.allocate(ex, count));
  PetscCall(memory_copy(ex, chosen.at.data(), list.data(), chosen.at.bytes()));
  if (count == 0) {
    PetscCall(memory_zero(ex, chosen.ptr.data(), chosen.ptr.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const int *at = chosen.at.data(), n = static_cast<int>(count);
  int *ptr = chosen.ptr.data();
  PetscCall(for_each(ex, std::int64_t{A.rows} + 1, [=] AMGKIT_FN(std::int64_t i) { ptr[i] = lower_bound(at, 0, n, A.ptr[i]); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode selected_columns(Ex &ex, CsrView<double> A, const Selection<Ex> &chosen, int first, int *col)
{
  const int *at = chosen.at.data();
  return for_each(ex, chosen.size(), [=] AMGKIT_FN(std::int64_t k) { col[k] = A.col[at[k]] - first; });
}

template <class Ex>
PetscErrorCode selected_values(Ex &ex, CsrView<double> A, const Selection<Ex> &chosen, const double *factor, double *val)
{
  const int *at = chosen.at.data(), *ptr = chosen.ptr.data();

  PetscFunctionBegin;
  if (!factor) {
    PetscCall(for_each(ex, chosen.size(), [=] AMGKIT_FN(std::int64_t k) { val[k] = A.val[at[k]]; }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const double average = A.rows > 0 ? static_cast<double>(chosen.size()) / A.rows : 0;
  PetscCall(for_rows(ex, A.rows, average, [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(ptr[i], ptr[i + 1])) val[k] = factor[i] * A.val[at[k]];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(select_entries)
AMGKIT_INSTANTIATE(selected_columns)
AMGKIT_INSTANTIATE(selected_values)
} // namespace amgkit
