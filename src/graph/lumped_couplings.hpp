// A matrix without the couplings that cancel one another, for decisions on its graph.
//
// Where the positive couplings of a row cancel negative ones (positive_couplings.hpp), these negative ones do not say which rows belong
// together. In rectangles of 1 : 100, for example, each unknown has two couplings of -66 along the short direction. Of the six others, to
// the two lines beside its own, two are +33 and four -17. They sum to next to nothing, and a smooth error differs from line to line. But
// the sums of a coarse matrix no longer show that. Take two groups of m unknowns on neighbouring lines. Their coupling is +33 if they lie
// side by side, and 0 if one is shifted by 1 to m - 1 unknowns. It is -17 if one ends where the other begins, and this looks like a
// coupling to follow. So these couplings are lumped before sums are made.
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
  bool symmetric = false; // the entries opposite positive ones are positive, too; convection makes some negative, 0 or missing
};
// Waits.
template <class Ex> PetscErrorCode survey_couplings(Ex &, CsrView<double> A, const double *a, const double *w, CouplingSurvey *);
// limit[i]: row i cancels its negative b_ij of at most this size; 0: none. If it cancels any, it cancels all up to a sixteenth of its
// largest. Infinity: its positive couplings sum to at least as much as its negative ones, as at ends of lines; then the other row of a
// coupling decides. symmetric: as in CouplingSurvey.
template <class Ex>
PetscErrorCode cancelled_couplings(Ex &, CsrView<double> A, const double *a, const double *w, bool symmetric, double *limit);
// values <- A's values, with 0 for couplings between rows whose limits are above 0 and not both infinite: the positive ones, and the
// negative ones of at most the smaller limit. The diagonal takes them up, so that A w is unchanged. values may be A.val. Sums are made in
// order, because decisions depend on their last bits.
template <class Ex>
PetscErrorCode lump_cancelled(Ex &, CsrView<double> A, const double *a, const double *w, const double *limit, double *values);
} // namespace amgkit
