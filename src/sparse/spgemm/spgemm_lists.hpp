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

// How many rows go to each size of table, the last ones to none, but to bits or windows; and two sums over all rows.
using RowsOfTables = PartSizes<tables + 1, 2>;
constexpr int doubtful_rows = 0, total_number = 1; // of numbers[]

// row <- the rows i with table(i) = 0, those with 1, ..., ascending among themselves. Sums: of doubtful(i), whether the table may turn out
// to be too small, and of number(i). One wait for all.
template <class Ex, class F, class G, class H>
PetscErrorCode list_by_table(Ex &ex, std::int64_t rows, F table, G doubtful, H number, int *row, RowsOfTables *counts)
{
  return partition(
      ex, rows,
      [=] AMGKIT_FN(std::int64_t i) {
        return Member<2>{table(i), {doubtful(i), number(i)}};
      },
      row, counts);
}
} // namespace amgkit::spgemm
