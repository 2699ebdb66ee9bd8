#include "amg/chebyshev.hpp"

#include "support/petsc_problems.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
namespace
{
// p(x), by the steps that solve x y = 0 from y = 1
double value(const std::vector<RelaxStep> &steps, double x)
{
  double y = 1, before = 0;
  for (const RelaxStep &step : steps) {
    const double next = y + step.momentum * (y - before) - step.factor * x * y;
    before = y;
    y = next;
  }
  return y;
}

double largest(const std::vector<RelaxStep> &steps, Interval interval)
{
  double found = 0;
  for (int k = 0; k <= 2000; k++)
    found = std::max(found, std::abs(value(steps, interval.low + k / 2000.0 * (interval.high - interval.low))));
  return found;
}
// The largest |p| of the polynomial that is smallest
double chebyshev_bound(PetscInt degree, Interval x)
{
  return 1 / std::cosh(static_cast<double>(degree) * std::acosh((x.high + x.low) / (x.high - x.low)));
}
} // namespace

TEST(Chebyshev, StepsMakeThePolynomialThatIsSmallest)
{
  for (const Interval interval : {Interval{0.2, 2.3}, {1e-3, 1.1}, {0.9, 1}}) {
    for (PetscInt degree : {1, 2, 3, 8, 31}) {
      const auto steps = chebyshev_steps(degree, interval);
      EXPECT_EQ(static_cast<PetscInt>(steps.size()), degree);
      EXPECT_DOUBLE_EQ(value(steps, 0), 1);
      EXPECT_NEAR(largest(steps, interval), chebyshev_bound(degree, interval), 1e-12);
      const double root = chebyshev_root(degree, interval);
      EXPECT_NEAR(value(steps, root), 0, 1e-12);
      EXPECT_LE(std::abs(root - (interval.low + interval.high) / 2), (interval.high - interval.low) / 2);
    }
  }
}

TEST(Chebyshev, TheDegreeIsTheLeastThatServes)
{
  for (const Interval interval : {Interval{0.2, 2.3}, {1e-3, 1.1}, {0.9, 1}, {1, 1}}) {
    for (double bound : {0.5, 0.2, 0.01}) {
      const PetscInt degree = chebyshev_degree(bound, interval, 1000);
      EXPECT_LE(chebyshev_bound(degree, interval), bound * (1 + 1e-12));
      if (degree > 1) {
        EXPECT_GT(chebyshev_bound(degree - 1, interval), bound);
      }
      EXPECT_NEAR(chebyshev_low(bound, interval, degree), interval.low, 1e-12);
    }
  }
}

TEST(Chebyshev, WithTooFewStepsTheIntervalIsShorter)
{
  const Interval all = {1e-6, 2};
  EXPECT_EQ(chebyshev_degree(0.2, all, 30), 30);
  const Interval served = {chebyshev_low(0.2, all, 30), 2};
  EXPECT_GT(served.low, all.low);
  EXPECT_NEAR(chebyshev_bound(30, served), 0.2, 1e-12);
  const auto steps = chebyshev_steps(30, served);
  for (double x = 1e-6; x < served.low; x += 1e-4) { // below it errors still fall
    EXPECT_LT(value(steps, x), 1);
    EXPECT_GT(value(steps, x), 0);
  }
}
} // namespace amgkit::test
