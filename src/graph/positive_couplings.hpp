// Positive couplings, that is those of the diagonal entry's sign, and what they say of the others.
//
// A positive coupling says that two unknowns differ. It also opposes negative couplings of its row. In flat bricks, for example, an
// unknown's couplings to those above and below are -16, those along the diagonals of upright faces -4, those through a brick -1, and those
// in the plane +8 and +2: this is the stiffness matrix of the upright direction times the mass matrix of the plane. With the mass lumped,
// the two of -16 alone are left, which become -36: the positive couplings cancel the smallest negative ones.
//
// Let P be the sum of row i's positive couplings and N that of the absolute values of its negative ones. If N / q < P < N, negative
// couplings are weak from the smallest on. Sizes within a tenth go together: they are cancelled if the smaller ones and half of theirs sum
// to at most P. The largest never are. A row with P >= N is far from one of an M-matrix, and its signs say nothing; amgmatching then lets
// the other row decide (lumped_couplings.hpp). With P <= N / q, as in many rows of well-shaped meshes, the couplings cancelled are small,
// and nothing is gained.
//
// Smaller couplings of the unknown's own line may come first and use up P. In discontinuous linear elements, for example, an unknown's
// couplings in its line are -20 and -3.3, those to the next line -10 and -1.7, and the positive one, again of the mass matrix, is 13.3,
// half the diagonal entry: what it cancels is half as large as a coupling in the line, its shadow. So sizes that go together are cancelled
// as well where they are at most shadows, up to a tenth, and alone sum to at most P. A shadow is the largest positive coupling over the
// diagonal entry, times the largest negative one. In conforming linear elements, it is at most a quarter of the latter.
//
// On the finest level q = 10. Long elements couple the unknowns of a line across them. Rows beside a boundary at their short sides have
// P = N / 5, and those of quadratic elements N / 9. With a smaller q, the outermost lines would be aggregated with the next ones.
// amgmatching has q = 6 on all levels: with 10, tetrahedra took as many iterations, and setup a sixth longer.
//
// On coarse levels q = 20. There, unknowns of neighbouring lines no longer lie side by side. Beside couplings of -1 along its line, a row
// has some of -0.1 to -0.3 to the next lines, which would be strong. The positive couplings that cancel these sum to less than N / 15 in
// some rows.
//
// On the finest level, rows with N / q < P <= N / sure are only judged by signs if their negative couplings are of two clearly different
// sizes, as in flat elements: those of up to half the largest size have a sum of at most 5 P / 4, and those left are at least twice as
// large as the largest size that may be cancelled. Tetrahedra have rows with such P, too, and couplings of all sizes. For amgclassical,
// sure = 4. If couplings are cancelled in these rows, their unknowns become coarse points: quadratic tetrahedra took a sixth longer, for as
// many iterations. For amgsa, sure = 6: with 10, linear tetrahedra took an iteration more.
//
// Convection gives positive couplings, too, downstream, where the opposite entry is negative: a coupling a_ij counts in P as
// (a_ij + a_ji) / 2, if that is positive. Of ghosts a_ji is taken to be a_ij. Both P and the sum of the positive a_ij alone must be within
// the limits, and the smaller one cancels. The latter is taken first: where it is outside the limits, no other row is read.
#pragma once
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
// The couplings of a row, taken one after the other by the lanes of a team.
struct RowCouplings {
  double least = 0, most = 0;  // the smallest and the largest, at most and at least 0
  double below = 0, above = 0; // the sums of the negative and of the positive numbers
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
  // The size of a negative coupling; of others its negative
  AMGKIT_FN double size(double a_ij) const { return a_ii < 0 ? a_ij : -a_ij; }
  AMGKIT_FN double largest_negative() const { return a_ii < 0 ? most : -least; }
  AMGKIT_FN double largest_positive() const { return a_ii < 0 ? -least : most; }
  AMGKIT_FN double largest() const { return most > -least ? most : -least; }
  AMGKIT_FN double largest_shadow() const { return a_ii != 0 ? largest_positive() / fabs(a_ii) * largest_negative() : 0; }
  AMGKIT_FN double positive_sum() const { return a_ii < 0 ? -below : above; }
  AMGKIT_FN double negative_sum() const { return a_ii < 0 ? above : -below; }
};

// q and sure of the header. Where they are equal, no row needs couplings of two sizes.
struct SignLimits {
  double q, sure;

  static AMGKIT_FN SignLimits of_amgmatching() { return {6, 6}; }
  static SignLimits of_amgclassical(bool coarse) { return coarse ? SignLimits{20, 20} : SignLimits{10, 4}; }
  static SignLimits of_amgsa(bool coarse) { return coarse ? SignLimits{20, 20} : SignLimits{10, 6}; }
};

// What cancels in row i. each(f) calls f(a_ij, k) for the lane's couplings, and may call it for a_ii. k: the place in A, -1 of a ghost's.
// All may be those of W A W for a diagonal matrix W.
template <class Each> struct Cancellation {
  static constexpr double rounding = 1 + 1e-6; // of sums, so that rounding does not change what rows of one stencil get
  const RowCouplings &row;
  const CsrView<double> &A;
  Each each;
  SignLimits limits;
  bool symmetric = false;   // no a_ji differs in sign from a_ij: none is looked at
  bool beyond_only = false; // the caller takes -1 for `weak`

  // The largest size that is weak, where those up to `weak` are so anyway and are cancelled first; -1: the row is not judged so.
  template <class Team> AMGKIT_FN double largest_size(const Team &team, int i, double weak) const
  {
    const double own = row.positive_sum() * rounding;
    double small = -1; // small_sum(), where it has been needed
    if (!may(own) || !small_ones_cancel(team, own, small)) return -1;
    const double by_own = largest_cancelled(team, own, weak);
    if (symmetric || (beyond_only && by_own == weak)) return by_own;
    const double mean = positive_sum(team, i) * rounding;
    if (!may(mean) || !small_ones_cancel(team, mean, small)) return -1;
    return mean * rounding < own ? largest_cancelled(team, mean, weak) : by_own;
  }

private:
  AMGKIT_FN bool may(double positive) const { return positive > row.negative_sum() / limits.q && positive < row.negative_sum(); }
  AMGKIT_FN bool is_sure(double positive) const { return positive > row.negative_sum() / limits.sure; }
  // The first condition for two sizes: those of up to half the largest sum to at most 5 P / 4. True where two sizes are not asked for.
  template <class Team> AMGKIT_FN bool small_ones_cancel(const Team &team, double positive, double &small) const
  {
    constexpr double most_small = 1.25;
    if (is_sure(positive)) return true;
    if (small < 0) small = small_sum(team);
    return small <= most_small * positive;
  }
  // largest_size() if the positive couplings sum to `positive`; -1: the sizes left are too close to those cancelled.
  template <class Team> AMGKIT_FN double largest_cancelled(const Team &team, double positive, double weak) const
  {
    constexpr double same_size = 1.1;
    // the sum of the sizes in (above, to], and the smallest size beyond
    const auto take = [&](double above, double to, double *beyond) {
      double sum = 0, least = HUGE_VAL;
      each([&](double a_ij, int) {
        const double size = row.size(a_ij), small = size > to ? 0 : size, large = size > to ? size : HUGE_VAL;
        sum += small > above ? small : 0;
        least = large < least ? large : least;
      });
      *beyond = team.combine(least, Min{});
      return team.sum(sum);
    };
    const double shadows = same_size * row.largest_shadow();
    double next, sum = take(0, weak, &next);
    while ((sum <= positive || next <= shadows) && next * same_size < row.largest_negative()) {
      double after;
      const double of_next = take(weak, next * same_size, &after);
      if (!(sum + of_next / 2 <= positive) && !(next <= shadows && of_next <= positive)) break;
      sum += of_next;
      weak = next * same_size;
      next = after;
    }
    return !is_sure(positive) && next < 2 * weak ? -1 : weak;
  }
  // The sum of the negative couplings up to half of the largest
  template <class Team> AMGKIT_FN double small_sum(const Team &team) const
  {
    double sum = 0;
    each([&](double a_ij, int) {
      const double size = row.size(a_ij), small = 2 * size > row.largest_negative() ? 0 : size;
      sum += small > 0 ? small : 0;
    });
    return team.sum(sum);
  }
  template <class Team> AMGKIT_FN double positive_sum(const Team &team, int i) const
  {
    double sum = 0;
    each([&](double a_ij, int k) {
      if (!(row.size(a_ij) < 0) || (k >= 0 && A.col[k] == i)) return;
      const int mirror = k < 0 ? -1 : mirror_of(A, i, k);
      const double a_ji = k < 0 ? a_ij : mirror < 0 ? 0 : A.val[mirror] * (a_ij / A.val[k]), both = -row.size(a_ij + a_ji) / 2;
      sum += both > 0 ? both : 0;
    });
    return team.sum(sum);
  }
};
} // namespace amgkit
