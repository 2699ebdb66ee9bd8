// A matrix without the couplings that cancel one another, for decisions on its graph.
//
// Where the positive couplings of a row cancel negative ones (positive_couplings.hpp), these negative ones do not say which rows belong
// together. In rectangles of 1 : 100, for example, each unknown has two couplings of -66 along the short direction. Of the six others, to
// the two lines beside its own, two are +33 and four -17. They sum to next to nothing, and a smooth error differs from line to line. But
// the sums of a coarse matrix no longer show that: groups of unknowns that lie beside each other on two lines are coupled by 0, but by -17
// if one ends where the other begins. So these couplings are lumped before sums are made.
//
// All is said of b_ij = w_i a_ij w_j for a vector w, nullptr: of a_ij. All functions are local, for a square A with ascending columns. a:
// its diagonal, with no entry missing or 0.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// Estimates from a sample: all rows if there are fewer than 2048, else at least 1024.
struct CouplingSurvey {
  bool any = false;       // some couplings are positive; if none is, sums of them over aggregates are not, either
  bool cancel = false;    // in at least 1 % of the rows they cancel negative ones
  bool symmetric = false; // no opposite entry of theirs is negative, 0 or missing, as convection makes it
};
// Waits.
template <class Ex> PetscErrorCode survey_couplings(Ex &, CsrView<double> A, const double *a, const double *w, CouplingSurvey *);
// limit[i]: the largest size of a negative b_ij that row i cancels. 0: it cancels none. A row that cancels any also cancels those up to a
// sixteenth of its largest. Infinity: its positive couplings sum to as much as the negative ones, as where lines end; the other row of a
// coupling decides alone. symmetric: as in CouplingSurvey.
template <class Ex>
PetscErrorCode cancelled_couplings(Ex &, CsrView<double> A, const double *a, const double *w, bool symmetric, double *limit);
// values[k] <- A.val[k]. Between rows that both have limits above 0, one of them finite, positive couplings become 0, and negative ones
// that both rows cancel. Each row's diagonal entry takes them up, so that A w stays as it is. values may be A.val. Sums in order: decisions
// follow from their last bits.
template <class Ex>
PetscErrorCode lump_cancelled(Ex &, CsrView<double> A, const double *a, const double *w, const double *limit, double *values);
} // namespace amgkit
