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

int worthwhile_kcycle_levels(const std::vector<VisitCost> &cost, const std::vector<double> &factor)
{
  std::vector<double> once_from(cost.size() + 1, 0); // level l and all below
  for (std::size_t l = cost.size(); l-- > 0;) once_from[l] = once_from[l + 1] + cost[l].once;
  const std::size_t between = cost.size() < 2 ? 0 : cost.size() - 2;
  const std::size_t most = std::min({between, factor.size() - 1, std::size_t{most_kcycle_levels}});

  double total = once_from[0];
  for (std::size_t m = 1; m <= most; m++) {
    const double more = std::exp2(m - 1) * (once_from[m] + cost[m].beside);
    const double gain = 1 + std::pow(sound(factor[m]), 2 * static_cast<int>(m) - 1);
    if (gain * total <= total + more) return static_cast<int>(m) - 1;
    total += more;
  }
  return static_cast<int>(most);
}
} // namespace amgkit
