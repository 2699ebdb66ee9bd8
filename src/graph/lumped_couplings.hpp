// A matrix without the couplings that cancel one another, for decisions on its graph.
//
// Where the positive couplings of a row cancel negative ones (positive_couplings.hpp), these do not say what belongs together. In
// rectangles of 1 : 100, for example, each unknown has two couplings of -66 along the short direction. Of the six others, to the two lines
// beside its own, two are +33 and four -17. They sum to next to nothing, and a smooth error differs from line to line. But the sums of a
// coarse matrix no longer show that: groups of unknowns that lie beside each other on two lines are coupled by 0, but by -17 if one ends
// where the other begins. So these couplings are lumped before sums are made.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// What 1000 to 2000 rows of a matrix tell of all.
struct PositiveCouplings {
  bool any = false;       // some are positive: if not, none is in matrices either that have sums of the entries over aggregates
  bool cancel = false;    // in at least 1 % of the rows they cancel negative ones
  bool symmetric = false; // none of them has a negative entry opposite, as convection makes
};

// All is said of b_ij = w_i a_ij w_j for a vector w, nullptr: of a_ij. Local, for a square A with ascending columns; a: its diagonal, of
// which no entry is missing. Waits.
template <class Ex> PetscErrorCode look_at_couplings(Ex &, CsrView<double> A, const double *a, const double *w, PositiveCouplings *);
// limit[i]: row i's negative b_ij up to this size are cancelled; 0: none. If any is, so are those below a sixteenth of the largest.
// Infinity, where the positive ones are as large in sum as the negative ones, as where lines end: the other row of a coupling decides
// alone. symmetric: as in PositiveCouplings.
template <class Ex>
PetscErrorCode cancelled_couplings(Ex &, CsrView<double> A, const double *a, const double *w, bool symmetric, double *limit);
// values[k] <- A.val[k]. Between rows that both have limits above 0, one of them finite, positive couplings become 0, and negative ones
// that both rows cancel. Each row's diagonal entry takes them up, so that A w stays as it is. values may be A.val.
template <class Ex>
PetscErrorCode lump_cancelled(Ex &, CsrView<double> A, const double *a, const double *w, const double *limit, double *values);
} // namespace amgkit
