// The parts of ilu0.hpp, for ilu0.cpp.
#pragma once
#include "sparse/ilu0/ilu0.hpp"

namespace amgkit
{
// The places of a factorisation's status: the first row with a zero pivot, the first with what is not finite, how many pivots were shifted.
inline constexpr int status_zero = 0, status_not_finite = 1, status_shifted = 2, status_places = 3;

// The largest number of entries in a row. Waits.
template <class Ex> PetscErrorCode longest_row(Ex &, CsrView<double> A, int *longest);
// *row: the first of n with diagonal[row] < 0, else n. Waits.
template <class Ex> PetscErrorCode first_without_diagonal(Ex &, int n, const int *diagonal, int *row);
// The largest sum of |a_ij| - a_ii over a row's entries j other than i, less a_ii where it is negative twice; at least `least`. Waits.
template <class Ex> PetscErrorCode largest_shift(Ex &, CsrView<double> A, const int *diagonal, double least, double *largest);
// f.val, f.inverse and f.status of A with shift on its diagonal.
template <class Ex> PetscErrorCode native_factor(Ex &, CsrView<double> A, double shift, Ilu0<Ex> &f);
// f.inverse and f.status for the factors in f.val.
template <class Ex> PetscErrorCode check_pivots(Ex &, CsrView<double> A, Ilu0<Ex> &f);

PetscErrorCode cusparse_ilu_symbolic(Cuda &, CsrView<double> A, Ilu0<Cuda> &f);
// f.val: A's values, then the factors.
PetscErrorCode cusparse_ilu_factor(Cuda &, Ilu0<Cuda> &f);
// Ready for solves with these values, transposed ones too where f says so.
PetscErrorCode cusparse_ilu_analyse(Cuda &, Ilu0<Cuda> &f);
PetscErrorCode cusparse_ilu_solve(Cuda &, Ilu0<Cuda> &f, bool transposed, const double *b, double *x);
} // namespace amgkit
