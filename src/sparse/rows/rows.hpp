// What a matrix's rows say one by one: their faults, their diagonal, their absolute sum.
// A rank's rows are (diag, offd): the columns it owns and those of other ranks.
#pragma once
#include "base/array.hpp"

#include <cmath>

namespace amgkit
{
enum RowFault : int {
  row_not_finite = 1,       // an entry is NaN or infinite
  row_not_sorted = 2,       // the columns do not ascend strictly
  row_without_diagonal = 4, // a_ii is not stored
  row_zero_diagonal = 8,    // a_ii is stored and 0
  row_negative_diagonal = 16
};
inline constexpr int row_faults = row_not_finite | row_not_sorted | row_without_diagonal | row_zero_diagonal;

// Over the rows with a_ii != 0
struct RowBounds {
  double sum = 0;      // the largest sum_j |a_ij| / |a_ii|: D⁻¹ A has no larger eigenvalue (Gershgorin)
  double coupling = 0; // the largest |a_ij| / |a_ii|, j != i, of own columns
};

struct RowCheck {
  std::int64_t negative = 0;        // rows with a_ii < 0
  int first_negative = -1;          // the first of them, -1: none
  int first_fault = -1, faults = 0; // the first row with one of the faults that were sought, and its RowFault bits
  int all_faults = 0;               // those of all rows
  RowBounds bounds;
};

// a[i] = a_ii, 0 when missing, besides, unless a is nullptr. sought: of row_faults
template <class Ex>
PetscErrorCode check_rows(Ex &, CsrView<double> diag, CsrView<double> offd, double *a, RowCheck *, int sought = row_faults);

// a[i] = a_ii (0 when missing), d[i] = sign(a_ii) / sum_j |a_ij| over diag and offd (0 for a row of zeros): the l1-Jacobi scaling.
template <class Ex> PetscErrorCode diagonal_and_l1(Ex &, CsrView<double> diag, CsrView<double> offd, double *a, double *d);

// The smallest and the largest |a_i|; of no a_i infinity and 0. Waits.
struct Magnitudes {
  double least = HUGE_VAL, most = 0;
};
template <class Ex> PetscErrorCode magnitudes(Ex &, std::int64_t n, const double *a, Magnitudes *);

// d[i] = 1 / a[i], 0 where a[i] is 0
template <class Ex> PetscErrorCode invert_entries(Ex &, std::int64_t n, const double *a, double *d);

// a[i] = a_ii, 0 when missing
template <class Ex> PetscErrorCode diagonal_of(Ex &, CsrView<double> A, double *a);
// at[i]: the position of a_ii, -1 when missing; columns ascend
template <class Ex> PetscErrorCode diagonal_positions(Ex &, CsrView<double> A, int *at);

// a_ii <- 1 in the marked rows, where it is stored
template <class Ex> PetscErrorCode unit_diagonals(Ex &, CsrView<double> A, const unsigned char *mark, double *val);

// to[i] = from[i] for indices known to fit
template <class Ex> PetscErrorCode narrow(Ex &, std::int64_t n, const PetscInt *from, int *to);

// x[i] = i
template <class Ex> PetscErrorCode count_up(Ex &, std::int64_t n, int *x);

// How many are not 0. Waits.
template <class Ex> PetscErrorCode count_marks(Ex &, const Array<unsigned char, Ex> &mark, std::int64_t *count);

// The rows in which nothing but a_ii is other than 0, ascending. Waits.
template <class Ex> PetscErrorCode lone_rows(Ex &, CsrView<double> diag, CsrView<double> offd, Array<int, Ex> &rows);

// d[i] <- factor d[i] for these rows
template <class Ex> PetscErrorCode scale_rows(Ex &, const Array<int, Ex> &rows, double factor, double *d);

// The rows that have entries, ascending.
template <class Ex> PetscErrorCode nonempty_rows(Ex &, CsrView<double> A, Array<int, Ex> &rows);
} // namespace amgkit
