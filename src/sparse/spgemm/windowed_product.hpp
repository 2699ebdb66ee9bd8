// C's values in C = R (A P), with A P's values for a window of its rows at a time.
//
// Both patterns are there as a whole, found once. C's rows are cut into slices; the rows of A P from the first to the last that a slice
// needs are its window. Windows share one array: what the next one needs again moves to its beginning, the rest is computed. So where
// neighbours lie next to each other, as on a grid numbered by planes, no row of A P is computed twice, and its values take the place of
// a slice's in all: at 7-point 256³ in 11 windows 0.14 GB in place of 1.43, where the pattern takes 0.72. Every entry is the sum that it
// is in two whole products, in the same order. Where the rows that a slice needs lie anywhere, there is one window: all of A P.
#pragma once
#include "sparse/spgemm/row_slices.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
// Places of a slice of C and of the rows of A P that it needs, in their plans; the latter's entries are first to end - 1 of A P.
struct ProductWindow {
  SpgemmPart of_C, of_AP;
  int first = 0, end = 0;

  std::int64_t entries() const { return std::int64_t{end} - first; }
};

// With values of A P in about so many bytes, or in more where rows would be computed twice; a single window where several would not halve
// them. AP, C: the patterns, with the plans that native made for them. Waits.
template <class Ex>
PetscErrorCode find_windows(Ex &, std::int64_t bytes, CsrView<double> R, CsrView<double> AP, const SpgemmPlan<Ex> &plan_AP,
                            const SpgemmPlan<Ex> &plan_C, std::vector<ProductWindow> &windows);
// So many entries of A P all of them compute, one after the other.
std::int64_t entries_computed(const std::vector<ProductWindow> &windows);
// C's values. Allocates those of the largest window. given: A P's, as spgemm_product() takes them.
template <class Ex>
PetscErrorCode windowed_product(Ex &, const std::vector<ProductWindow> &windows, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                CsrView<double> AP, const SpgemmPlan<Ex> &plan_AP, const SpgemmPlan<Ex> &plan_C, Csr<double, Ex> &C,
                                const GivenRows &given = {});
} // namespace amgkit
