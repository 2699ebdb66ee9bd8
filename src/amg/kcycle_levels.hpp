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

// Whether these visits pay in a solve, which setups cannot know: where the smoother of the finest level binds, coarse levels solved better
// save few iterations. If steps 9 to 16 of a solve with them leave more than 0.55 of the residual's norm each, so that 31 steps or more
// make eight digits, eight steps with a v-cycle follow, and what makes more progress for its cost stays, in later solves, too.
class VisitsOnTrial {
public:
  // relative_cost: of an iteration, in terms of one with a v-cycle
  explicit VisitsOnTrial(double relative_cost = 1) : relative_cost_(relative_cost) {}
  // A solve begins, or has ended: what it was too short for is tried in the next one.
  void begin_solve();
  // A step has left this part of the residual's norm; with a v-cycle, if with_v_cycle() was so before it.
  void observe(double factor);
  bool with_v_cycle() const { return phase_ == Phase::v_cycle || phase_ == Phase::rejected; }
  bool rejected() const { return phase_ == Phase::rejected; }
  // What a step left on average, in the two phases; 1 where there was none.
  double left_with_visits() const;
  double left_with_v_cycle() const;

private:
  enum class Phase { visits, v_cycle, kept, rejected };
  // The first steps of a solve are faster than later ones, and those of a phase show what was before it.
  static constexpr int of_solve = 8, of_phase = 2;
  double relative_cost_;
  Phase phase_ = Phase::visits;
  int steps_ = 0, passed_over_ = of_solve;  // of the phase; its first ones, which do not count
  double log_visits_ = 0, log_v_cycle_ = 0; // logarithms of the average factors
};
} // namespace amgkit
