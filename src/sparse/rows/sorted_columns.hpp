// Rows whose columns are in any order; included by kernel files only.
#pragma once
#include "base/parallel.hpp"

namespace amgkit
{
// col[k], ascending within rows, are C's columns, of which the k-th was at position[k]; col may be C's.
template <class Ex> PetscErrorCode sorted_columns(Ex &ex, CsrView<double> C, int *position, int *col)
{
  Array<std::uint64_t, Ex> keys;
  int bits = 32;

  PetscFunctionBegin;
  PetscCall(keys.allocate(ex, C.nnz));
  std::uint64_t *key = keys.data();
  PetscCall(for_rows(ex, C.rows, C.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(C.ptr[i], C.ptr[i + 1])) {
      key[k] = static_cast<std::uint64_t>(i) << 32 | static_cast<unsigned>(C.col[k]);
      position[k] = k;
    }
  }));
  while (C.rows >> (bits - 32)) bits++;
  PetscCall(stable_sort_pairs(ex, C.nnz, key, position, bits));
  PetscCall(for_each(ex, C.nnz, [=] AMGKIT_FN(std::int64_t k) { col[k] = static_cast<int>(key[k] & 0xffffffffU); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
