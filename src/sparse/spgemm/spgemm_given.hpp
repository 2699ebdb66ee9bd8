// Rows of C that are given, for the kernels of spgemm_kernels.hpp: see GivenRows.
#pragma once
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit::spgemm
{
// count[i] <- the columns of the rows i of C that are given
template <class Ex> PetscErrorCode count_given(Ex &ex, const GivenRows &given, int *count)
{
  const int *row = given.row, *ptr = given.M.ptr;
  return for_each(ex, given.n(), [=] AMGKIT_FN(std::int64_t l) { count[row[l]] = ptr[l + 1] - ptr[l]; });
}

// to[ptr[i], ...] <- from, one of the given arrays, for the rows first <= i < end of C that are given
template <class T, class Ex>
PetscErrorCode put_given(Ex &ex, const GivenRows &given, int first, int end, const T *from, const int *ptr, T *to)
{
  const int *row = given.row, *begin = given.M.ptr;
  return for_rows(ex, given.n(), given.M.average(), [=] AMGKIT_FN(auto team, std::int64_t l) {
    const int i = row[l];
    if (i < first || i >= end) return;
    const int by = ptr[i] - begin[l];
    for (int k : team.share(begin[l], begin[l + 1])) to[k + by] = from[k];
  });
}
} // namespace amgkit::spgemm
