#include "amg/kcycle.hpp"
#include "base/parallel.hpp"

#include <algorithm>

namespace amgkit
{
struct KCycleCoefficients {
  double c1, c2;
};

namespace
{
AMGKIT_FN inline double ratio(double a, double b) { return b != 0 ? a / b : 0; }

AMGKIT_FN inline bool all_finite(const double *sums, int first, int last)
{
  double zero = 0;
  for (int k = first; k < last; k++) zero += 0 * sums[k];
  return zero == 0;
}
AMGKIT_FN inline double first_step(const double *sums) { return all_finite(sums, 0, kcycle_first_sums) ? ratio(sums[1], sums[0]) : 0; }

// Of c_1 and c_2 in x, vectors of V. A second direction that depends on the first (rho_2 = 0 to rounding) is left out; c_1 stays as it is
// where a sum overflows.
template <class V> AMGKIT_FN KCycleCoefficients coefficients(const double *sums)
{
  constexpr double enough = 0.25 * 0.25, dependent = sizeof(V) == sizeof(float) ? 1e-5 : 1e-14;
  if (!all_finite(sums, 0, kcycle_first_sums)) return {1, 0};
  const double rho1 = sums[0], first = ratio(sums[1], rho1);
  const double after = sums[2] - 2 * first * sums[3] + first * first * sums[4]; // |r_2|²
  if (after <= enough * sums[2] || !all_finite(sums, kcycle_first_sums, kcycle_sums)) return {first, 0};
  // no product of two sums: each is of the size of 1 / A with FCG, and the square of that may be no number
  const double beta = sums[5], alpha2 = sums[6], gamma = sums[7], part = ratio(gamma, rho1), rho2 = beta - part * gamma;
  const double least = dependent * (beta < 0 ? -beta : beta);
  if (rho2 <= least && rho2 >= -least) return {first, 0};
  return {first - part * (alpha2 / rho2), alpha2 / rho2};
}
} // namespace

template <class Ex> PetscErrorCode KCycle<Ex>::allocate(Ex &ex, int rows)
{
  PetscFunctionBegin;
  PetscCall(allocate_each(ex, rows, v, c));
  PetscCall(work.allocate(ex, kcycle_first_sums * product_sum_parts_of(rows)));
  PetscCall(sums.allocate(ex, std::max(kcycle_sums, kcycle_test_steps * kcycle_first_sums)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V>
PetscErrorCode kcycle_residual(Ex &ex, std::int64_t n, const V *v, const double *sums, V *r, const FirstStep<V> &first)
{
  struct Read {
    V r, v;
    double d;
  };
  const FirstStep<V> step = first;
  return for_each_read(
      ex, n, [=] AMGKIT_FN() { return first_step(sums); },
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{r[i], v[i], step.scaling(i)};
      },
      [=] AMGKIT_FN(std::int64_t i, double along, const Read &at) {
        const V r_i = static_cast<V>(at.r - along * at.v);
        r[i] = r_i;
        step.take(i, at.d, r_i);
      });
}

template <class Ex, class V> PetscErrorCode kcycle_combine(Ex &ex, std::int64_t n, const double *sums, const V *c2, V *c1)
{
  struct Read {
    V c1, c2;
  };
  return for_each_read(
      ex, n, [=] AMGKIT_FN() { return coefficients<V>(sums); },
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{c1[i], c2[i]};
      },
      [=] AMGKIT_FN(std::int64_t i, const KCycleCoefficients &x, const Read &at) {
        c1[i] = static_cast<V>(x.c1 * at.c1 + (x.c2 != 0 ? x.c2 * at.c2 : 0));
      });
}

using Space = AMGKIT_SPACE;
template struct KCycle<Space>;
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode kcycle_residual(Space &, std::int64_t, const V *, const double *, V *, const FirstStep<V> &);                    \
  template PetscErrorCode kcycle_combine(Space &, std::int64_t, const double *, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
