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

void VisitsOnTrial::begin_solve()
{
  if (phase_ == Phase::visits) log_visits_ = 0;
  if (phase_ == Phase::v_cycle) log_v_cycle_ = 0;
  steps_ = 0;
  passed_over_ = of_solve;
}

void VisitsOnTrial::observe(double factor)
{
  const bool first = phase_ == Phase::visits;
  const int watched = first ? 8 : 6;
  constexpr double slow = 0.55;
  if (phase_ == Phase::kept || phase_ == Phase::rejected || !(factor > 0) || !std::isfinite(factor)) return;
  double &average = first ? log_visits_ : log_v_cycle_;
  if (steps_++ >= passed_over_) average += std::log(factor) / watched;
  if (steps_ < passed_over_ + watched) return;
  steps_ = 0;
  passed_over_ = of_phase;
  if (first)
    phase_ = log_visits_ > std::log(slow) ? Phase::v_cycle : Phase::kept;
  else
    phase_ = log_v_cycle_ * relative_cost_ < log_visits_ ? Phase::rejected : Phase::kept;
}

double VisitsOnTrial::left_with_visits() const { return std::exp(log_visits_); }
double VisitsOnTrial::left_with_v_cycle() const { return std::exp(log_v_cycle_); }
} // namespace amgkit
