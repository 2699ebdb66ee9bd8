// On how many levels it pays to visit the coarser level twice.
//
// Level l is coarse problem l of the finest one. One step with the v-cycle on level m leaves the part f_m of a residual there. A Krylov
// method's second step leaves f_m² / (2 - f_m²), as two steps of Chebyshev's do, and since the iterations of conjugate gradients grow with
// the root of the condition number, they fall by the factor 1 + f_m if level m is all that counts. The levels above take two steps each
// already, and what level m leaves counts for the finest one as far as these steps leave it, too:
//   gain_m = 1 + f_m^(2 m - 1).
// The second visit pays if that is more than the factor by which an iteration gets dearer.
#pragma once
#include <cstddef>
#include <vector>

namespace amgkit
{
inline constexpr int most_kcycle_levels = 3; // where their number is chosen

// Seconds that an iteration takes on a level, the levels below not included.
struct VisitCost {
  double once = 0;   // one visit; on the finest level, all the rest of the iteration
  double beside = 0; // what a pair of visits takes besides: the Krylov method's products, sums and updates
};

// The factor of a level from those of the next two: the condition number (1 + f) / (1 - f) grows by the same amount from level to level.
double factor_above(double next, double after_next);
// Seconds of an iteration where levels 1, ..., twice are visited twice.
double iteration_cost(const std::vector<VisitCost> &cost, int twice);
// The levels 1, ..., result are to be visited twice. cost: of all levels, the finest first; factor[m]: f_m for m = 1, ...,
// most_kcycle_levels as far as there are such levels between the finest and the coarsest; factor[0] is not read.
int worthwhile_kcycle_levels(const std::vector<VisitCost> &cost, const std::vector<double> &factor);

// Whether these visits pay in a solve, which setups cannot know: where the finest level's smoother limits convergence, solving the coarse
// levels better saves no iterations. A residual r late in a solve with the k-cycle is made of what this cycle reduces slowly. If the coarse
// levels are to blame, a v-cycle reduces it more slowly still; if the smoother is, about as fast. So in a slow solve the two are compared
// on the same r. A step along x = B r reduces the square of the error's energy norm by (x·r)² / (x·A x). With GCR it reduces the square of
// the residual's norm by (A x·r)² / (A x·A x). A solve is slow if four steps leave more than 0.55 of the residual's norm on average; eight
// digits then take 31 steps or more.
//
// In a very slow solve the k-cycle itself may be to blame. Where B A has a few small eigenvalues, conjugate gradients remove their errors
// in some steps, and then become fast. This needs the same B in all steps, because each direction is made orthogonal only to the one
// before. A k-cycle changes from step to step: on a mesh with nearly flat elements at its boundary it left 2e-6 after 300 steps, where a
// w-cycle reached 1e-8 in 103. So if 16 steps leave more than 0.92 on average (eight digits would take more than 220 steps), a w-cycle
// takes its place. Steps after the sixth digit are not looked at: rounding may be what stops them.
class VisitsOnTrial {
public:
  // relative_cost: of an iteration, in terms of one with a v-cycle
  explicit VisitsOnTrial(double relative_cost = 1) : relative_cost_(relative_cost) {}
  // A solve begins, or has ended. If it was too short for its comparisons, the next one that is slow makes the rest.
  void begin_solve();
  // A step has left this part of the residual's norm.
  void observe(double factor);
  // Whether the next application of the k-cycle is to be compared.
  bool comparing() const { return phase_ == Phase::compare; }
  // share: what a step with the v-cycle removes, divided by what one with the k-cycle removes; no positive number where that is not known.
  void compare(double share);
  // Whether a v-cycle has taken the place of these visits.
  bool rejected() const { return phase_ == Phase::rejected; }
  // Whether a w-cycle, the same in all steps, has taken the place of the k-cycle.
  bool steady() const { return steady_; }
  // Which cycle these visits are now: 0 k, 1 w, 2 v.
  int version() const { return rejected() ? 2 : steady() ? 1 : 0; }
  // The geometric mean of the shares; 0 before the decision.
  double share() const { return phase_ == Phase::kept || phase_ == Phase::rejected ? mean() : 0; }

private:
  enum class Phase { watch, compare, kept, rejected };
  void watch_for_slow(double log_factor);
  void watch_for_very_slow(double log_factor);
  double mean() const;

  double relative_cost_;
  Phase phase_ = Phase::watch;
  bool steady_ = false, late_ = false; // late: not to be compared in this solve
  int steps_ = 0, comparisons_ = 0;
  double log_left_ = 0, log_left_of_16_ = 0, log_left_in_all_ = 0, log_shares_ = 0;
};
} // namespace amgkit
