#include "amg/kcycle_levels.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
constexpr double largest = 0.99;

double condition(double factor) { return (1 + factor) / (1 - factor); }
double sound(double factor) { return std::isfinite(factor) ? std::clamp(factor, 0.0, largest) : largest; }
} // namespace

double factor_above(double next, double after_next)
{
  const double of_next = condition(sound(next)), above = std::max(of_next, 2 * of_next - condition(sound(after_next)));
  return sound((above - 1) / (above + 1));
}

double iteration_cost(const std::vector<VisitCost> &cost, int twice)
{
  double total = 0, visits = 1;
  for (std::size_t l = 0; l < cost.size(); l++) {
    if (l > 0 && l <= static_cast<std::size_t>(twice)) {
      total += visits * cost[l].beside;
      visits *= 2;
    }
    total += visits * cost[l].once;
  }
  return total;
}

int worthwhile_kcycle_levels(const std::vector<VisitCost> &cost, const std::vector<double> &factor)
{
  const std::size_t between = cost.size() < 2 ? 0 : cost.size() - 2;
  const std::size_t most = std::min({between, factor.size() - 1, std::size_t{most_kcycle_levels}});

  for (int m = 1; m <= static_cast<int>(most); m++) {
    const double gain = 1 + std::pow(sound(factor[static_cast<std::size_t>(m)]), 2 * m - 1);
    if (gain * iteration_cost(cost, m - 1) <= iteration_cost(cost, m)) return m - 1;
  }
  return static_cast<int>(most);
}

namespace
{
constexpr int passed_over = 5; // the first steps are faster than later ones
} // namespace

void VisitsOnTrial::begin_solve()
{
  if (phase_ == Phase::compare) phase_ = Phase::watch;
  late_ = false;
  steps_ = 0;
  log_left_ = log_left_of_16_ = log_left_in_all_ = 0;
}

void VisitsOnTrial::observe(double factor)
{
  if (!(factor > 0) || !std::isfinite(factor)) return;
  const double log_factor = std::log(factor);
  log_left_in_all_ += log_factor;
  if (steps_++ < passed_over) return;
  watch_for_slow(log_factor);
  watch_for_very_slow(log_factor);
}

// Steps 6 to 9, 10 to 13 and 14 to 17 are looked at: a comparison must come early to pay.
void VisitsOnTrial::watch_for_slow(double log_factor)
{
  constexpr double slow = 0.55;
  constexpr int window = 4, last_step = passed_over + 3 * window;
  if (phase_ != Phase::watch || steady_ || late_ || steps_ > last_step) return;
  log_left_ += log_factor;
  if ((steps_ - passed_over) % window != 0) return;
  if (log_left_ > window * std::log(slow)) phase_ = Phase::compare;
  log_left_ = 0;
}

// Steps 6 to 21, 22 to 37 and so on, as long as six digits have not been reached. A comparison that has begun comes first.
void VisitsOnTrial::watch_for_very_slow(double log_factor)
{
  constexpr double very_slow = 0.92, late = 1e-6;
  constexpr int window = 16;
  if (steady_ || rejected()) return;
  log_left_of_16_ += log_factor;
  if ((steps_ - passed_over) % window != 0) return;
  const bool found = log_left_of_16_ > window * std::log(very_slow) && log_left_in_all_ > std::log(late);
  steady_ = found && phase_ != Phase::compare;
  log_left_of_16_ = 0;
}

double VisitsOnTrial::mean() const { return comparisons_ > 0 ? std::exp(log_shares_ / comparisons_) : 0; }

// Stops as soon as the answer is clear. In slow solves the share was below 0.9 where v-cycles needed 1.2 to 3 times as many iterations, and
// 0.95 to 1 where both needed about as many.
void VisitsOnTrial::compare(double share)
{
  constexpr int most = 4;
  constexpr double far_less = 0.75, clearly_less = 0.85, less = 0.9, clearly_as_much = 0.95;
  if (phase_ != Phase::compare) return;
  if (!(share > 0) || !std::isfinite(share)) { // no more in this solve
    phase_ = Phase::watch;
    late_ = true;
    return;
  }
  comparisons_++;
  log_shares_ += std::log(share);
  const bool several = comparisons_ > 1, clear = mean() < (several ? clearly_less : far_less) || (several && mean() >= clearly_as_much);
  if (!clear && comparisons_ < most) return;
  phase_ = mean() >= less && mean() * relative_cost_ > 1 ? Phase::rejected : Phase::kept;
}
} // namespace amgkit
