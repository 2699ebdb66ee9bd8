// C = R (A P) of one rank's matrices with A P in slices: the largest of these matrices is never there as a whole.
//
// A slice is some rows of R. The columns that they have entries in are listed; A's rows of this list are copied and multiplied with P, and
// the slice, its columns numbered by their places in the list, with that. So any order of rows will do; where neighbours lie next to each
// other, slices share few rows of A P. Every entry of C is the sum that it is in two whole products, in the same order.
//
// C's pattern comes first, slice by slice; then C is allocated once, and A P's slices are made again, for the values. At the time there
// are, besides R, A, P and C, 12 bytes an entry of a slice's part of A and of A P, and 4 an entry of its part of R: at 7-point 256³ in 14
// slices 0.3 GB in place of A P's 2.2. A cut there makes 1.1 planes' rows of A P twice, one of the next coarser level those of 2.8.
#pragma once
#include "sparse/spgemm/row_slices.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
template <class Ex> struct SlicedPlan {
  struct Slice {
    RowSlice rows;               // of R and of C
    std::int64_t first, entries; // C's
    SpgemmPlan<Ex> plan;         // native: of C's rows. Other back ends, which keep more, find patterns again for new values
  };
  SpgemmOptions options;
  std::vector<Slice> slices;

  std::size_t bytes() const
  {
    std::size_t total = 0;
    for (const Slice &slice : slices) total += slice.plan.bytes();
    return total;
  }
};

// How many slices keep A P's part and A's, in 12 bytes an entry, near options.product_bytes, and 1 where all of A P is not larger. An
// estimate that costs no pass: two products make an entry of A P. There are 2 at 7-point, 5 to 8 at 27-point and on coarser levels; where
// none meet, A P is twice as large. Rows of A P that several slices need come on top of it, and what a back end other than native takes.
template <class Ex>
PetscErrorCode slices_of_product(Ex &, const SpgemmOptions &, std::int64_t entries_of_A, const CsrView<double> &P, std::int64_t *slices);

// C's pattern, in up to so many slices; C's values allocated, not set. Waits. Errors as spgemm_symbolic(). C and plan are then undefined.
template <class Ex>
PetscErrorCode sliced_product_symbolic(Ex &, const SpgemmOptions &, std::int64_t slices, CsrView<double> R, CsrView<double> A,
                                       CsrView<double> P, Csr<double, Ex> &C, SlicedPlan<Ex> &plan);
// C's values, as often as wanted, for any values on the same patterns. Waits, and allocates what the slices take.
template <class Ex>
PetscErrorCode sliced_product_numeric(Ex &, const SlicedPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                      Csr<double, Ex> &C);
} // namespace amgkit
