// Lists of rows by the size of table that they need.
#pragma once
#include "base/parallel.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"

namespace amgkit::spgemm
{
constexpr int largest = tables - 1;
constexpr int done = tables + 1; // no table is to be tried

// next[i]: the size of table that row i of C tries first. It has at most as many columns as products, or as C.
template <class Ex> PetscErrorCode choose_tables(Ex &ex, int rows, int cols, const int *products, unsigned char *next)
{
  constexpr int fit_first = 2 * slots_of(0), fit_second = 8 * slots_of(1);
  return for_each(ex, rows, [=] AMGKIT_FN(std::int64_t i) {
    const int n = products[i] < cols ? products[i] : cols;
    int t = n > fit_first ? 1 : 0;
    for (int fit = fit_second; t > 0 && t < largest && n > fit; fit *= 4) t++;
    next[i] = static_cast<unsigned char>(n > 0 ? t : done);
  });
}

// How many rows go to each size of table; the last ones to none, but to bits or windows.
struct RowsOfTables {
  int of[tables + 1] = {};
  int doubtful = 0;         // whose table may turn out to be too small
  std::int64_t numbers = 0; // a sum over the rows, which so costs no wait of its own: see list_by_table()
};
struct AllRowsOfTables {
  AMGKIT_FN RowsOfTables operator()(const RowsOfTables &a, const RowsOfTables &b) const
  {
    RowsOfTables sum;
    for (int t = 0; t <= tables; t++) sum.of[t] = a.of[t] + b.of[t];
    sum.doubtful = a.doubtful + b.doubtful;
    sum.numbers = a.numbers + b.numbers;
    return sum;
  }
};

// row <- the rows i with table(i) = 0, those with 1, ..., ascending among themselves; counts: how many these are, how many are doubtful(i),
// and the sum of number(i). One wait for all.
template <class Ex, class F, class G, class H>
PetscErrorCode list_by_table(Ex &ex, std::int64_t rows, F table, G doubtful, H number, int *row, RowsOfTables *counts)
{
  PetscFunctionBegin;
  PetscCall(reduce<RowsOfTables>(
      ex, rows,
      [=] AMGKIT_FN(std::int64_t i) {
        RowsOfTables one;
        const int mine = table(i);
        for (int t = 0; t <= tables; t++) one.of[t] = mine == t;
        one.doubtful = doubtful(i);
        one.numbers = number(i);
        return one;
      },
      {}, AllRowsOfTables{}, counts));
  for (int t = 0; t <= tables; row += counts->of[t++]) {
    if (counts->of[t] == 0) continue;
    PetscCall(compact(
        ex, rows, [=] AMGKIT_FN(std::int64_t i) { return table(i) == t; }, row, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::spgemm
