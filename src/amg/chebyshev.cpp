#include "amg/chebyshev.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
double middle(Interval x) { return 0.5 * (x.high + x.low); }
double half_width(Interval x) { return 0.5 * (x.high - x.low); }
} // namespace

std::vector<RelaxStep> chebyshev_steps(PetscInt degree, Interval interval)
{
  const double theta = middle(interval), delta = half_width(interval), sigma = theta / delta;
  double last = 1 / sigma;
  std::vector<RelaxStep> steps = {{0, 1 / theta}};
  for (PetscInt k = 1; k < degree; k++) {
    const double next = 1 / (2 * sigma - last);
    steps.push_back({next * last, 2 * next / delta});
    last = next;
  }
  return steps;
}

double chebyshev_root(PetscInt degree, Interval interval)
{
  const auto k = static_cast<double>(degree), j = std::floor((k + 1) / 2);
  return middle(interval) - half_width(interval) * std::cos((2 * j - 1) / (2 * k) * PETSC_PI);
}

// The largest |p| is 1 / T_k((high + low) / (high - low)), and T_k(x) = cosh(k acosh(x)) for x >= 1.
PetscInt chebyshev_degree(double bound, Interval interval, PetscInt most)
{
  const double degree = std::ceil(std::acosh(1 / bound) / std::acosh(middle(interval) / half_width(interval)));
  return degree < static_cast<double>(most) ? std::max(static_cast<PetscInt>(degree), PetscInt{1}) : most;
}

double chebyshev_low(double bound, Interval interval, PetscInt degree)
{
  const double ratio = std::cosh(std::acosh(1 / bound) / static_cast<double>(degree)); // of middle and half_width
  return std::max(interval.low, interval.high * (ratio - 1) / (ratio + 1));
}
} // namespace amgkit
