// Classical strength of connection (Ruge, Stüben 1987): for a_ii > 0,
//   j is strong for i  iff  a_ij < theta min_{k != i} a_ik,
// where no a_ik < 0 counts as 0: a row with positive couplings alone has no strong one. Mirrored for a_ii < 0. A row with
// |sum_j a_ij| > max_row_sum |a_ii| has none either, if max_row_sum < 1 (hypre's BoomerAMG). Rows that are not comparable are not coupled.
//
// The result is a byte an entry, in the entries' order. That is a quarter of a compressed graph's columns, needs no pass that counts, and
// what interpolates from strong entries finds value and mark at the same place.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// What an entry is marked with: kept_coupling if it is weak, but shall smooth a prolongator all the same; weak_coupling for what
// symmetric_strength() finds weak, but which may still join a node to an aggregate; 0 for all else.
enum CouplingMark : unsigned char { strong_coupling = 1, kept_coupling = 2, weak_coupling = 4 };
inline constexpr unsigned char smoothing_couplings = strong_coupling | kept_coupling;

template <class Ex> struct Strength {
  Array<unsigned char, Ex> diag, offd; // CouplingMarks

  std::size_t bytes() const { return diag.bytes() + offd.bytes(); }
};

// A coarse equation is a sum of fine ones. Where a_ij^2 > comparable^2 |a_ii a_jj|, as in rows that were multiplied by numbers of any size,
// row i is so much larger than row j that nothing but row i is left of a sum of both: coarse equations with a share of it are all but the
// same, their solutions grow without bound, and a Krylov method takes rounding for progress. Such a_ij are weak. Definite matrices have
// none, whatever their scaling, for there |a_ij| is below the mean.
// Interpolation that reaches over two couplings takes the bound for both together: classical_strength() has its root for each.
inline constexpr double comparable = 1e4;
AMGKIT_FN inline bool comparable_rows(double a_ij, double a_ii, double a_jj)
{
  const double by_row = a_ij / a_ii, by_column = a_ij / a_jj, ratio = by_row * by_column;
  return !(ratio > comparable || -ratio > comparable);
}

struct StrengthRule {
  double theta, max_row_sum;
  // Block systems by the unknown approach: entries between different unknowns are as if they were not there. Which unknown each row
  // and each ghost is of; nullptr: all are of one.
  const int *unknown = nullptr, *ghost_unknown = nullptr;
  // a_ii of the rank's rows and of the ghosts, to see which rows are comparable; nullptr: all are.
  const double *diagonal = nullptr, *ghost_diagonal = nullptr;
  bool cancel_positive = false; // positive couplings make the smallest negative ones weak (positive_couplings.hpp), if theta > 0
  bool coarse = false;          // of a level below the finest
};

// Local. The rows of one rank; ghosts_before: how many of its ghosts stand before its own rows. The order of the global columns is that
// of the sums, so that marks do not depend on the number of ranks.
template <class Ex>
PetscErrorCode classical_strength(Ex &, CsrView<double> diag, CsrView<double> offd, int ghosts_before, const StrengthRule &,
                                  Strength<Ex> &);

// unknown[i] = (first + i) mod bs: a finest level of block size bs
template <class Ex> PetscErrorCode unknowns_of_blocks(Ex &, std::int64_t n, PetscInt first, int bs, int *unknown);
// The same for a list of global indices
template <class Ex> PetscErrorCode unknowns_of_blocks(Ex &, const std::vector<PetscInt> &rows, int bs, Array<int, Ex> &unknown);
} // namespace amgkit
