// Positive couplings, that is those of the diagonal entry's sign, and what they say of the others.
//
// A positive coupling says that two unknowns differ, and is never strong. It also opposes negative couplings of its row. In flat bricks,
// for example, an unknown's couplings to those above and below are -16, those along the diagonals of upright faces -4, those through a
// brick -1, and those in the plane +8 and +2: this is the stiffness matrix of the upright direction times the mass matrix of the plane.
// With the mass lumped, the two of -16 alone are left, which become -36: the positive couplings cancel the weakest negative ones.
//
// Let P be the sum of row i's positive couplings and N that of the absolute values of its negative ones. If N / 4 < P < N, the negative
// couplings are cancelled in the order of their absolute values, as long as the sum of the smaller ones and half of those of the same size
// is at most P. Those left sum to N - P or more, which is a_ii where the row's sum is 0. Nothing is cancelled in other rows: those with
// P >= N are far from the rows of an M-matrix, and those with less than N / 4, which most meshes and coarse levels have, gain nothing.
// Bricks have more where couplings along diagonals exceed a quarter of the largest.
#pragma once
#include "base/parallel.hpp"

#include <cmath>

namespace amgkit
{
// Couplings are of the same size where they differ by less than this factor: rows of one stencil then have the same strong couplings,
// however they were rounded.
inline constexpr double same_coupling = 1 + 1e-6;

// The couplings of a row, taken one after the other by the lanes of a team.
struct RowCouplings {
  double least = 0, most = 0, below = 0, above = 0; // of all, and 0; the sums of those below and above 0
  double a_ii = 0;

  AMGKIT_FN void take(double a_ij)
  {
    least = a_ij < least ? a_ij : least;
    most = a_ij > most ? a_ij : most;
    below += a_ij < 0 ? a_ij : 0;
    above += a_ij > 0 ? a_ij : 0;
  }
  template <class Team> AMGKIT_FN void gather(const Team &team)
  {
    a_ii = team.sum(a_ii);
    least = team.combine(least, Min{});
    most = team.combine(most, Max{});
    below = team.sum(below);
    above = team.sum(above);
  }
  // |a_ij| of a negative coupling; of a positive one its negative
  AMGKIT_FN double negative(double a_ij) const { return a_ii < 0 ? a_ij : -a_ij; }
  AMGKIT_FN double largest_negative() const { return a_ii < 0 ? most : -least; }
  AMGKIT_FN double largest() const { return most > -least ? most : -least; }
  AMGKIT_FN double positive_sum() const { return a_ii < 0 ? -below : above; }
  AMGKIT_FN bool cancel() const
  {
    const double negative_sum = a_ii < 0 ? above : -below;
    return positive_sum() * same_coupling > negative_sum / 4 && positive_sum() * same_coupling < negative_sum;
  }
  // Where cancel() holds: negative couplings of at most this size are weak. Those of at most `weak` are so anyway, and are cancelled first,
  // after them at most 64 sizes. each(f): f(a_ij) for the couplings of the lane, and for a_ii or not, which is not negative.
  template <class Team, class Each> AMGKIT_FN double largest_cancelled(const Team &team, Each each, double weak) const
  {
    constexpr int most_sizes = 64;
    const double positive = positive_sum();
    double sum = 0;
    each([&](double a_ij) { sum += negative(a_ij) > 0 && negative(a_ij) <= weak ? negative(a_ij) : 0; });
    sum = team.sum(sum);
    for (int size = 0; size < most_sizes && sum + weak / 2 <= positive; size++) {
      double next = HUGE_VAL, of_next = 0;
      each([&](double a_ij) { next = negative(a_ij) > weak && negative(a_ij) < next ? negative(a_ij) : next; });
      next = team.combine(next, Min{}) * same_coupling;
      each([&](double a_ij) { of_next += negative(a_ij) > weak && negative(a_ij) <= next ? negative(a_ij) : 0; });
      of_next = team.sum(of_next);
      if (!(sum + of_next / 2 <= positive * same_coupling)) break;
      sum += of_next;
      weak = next;
    }
    return weak;
  }
};
} // namespace amgkit
