#include "amg/kcycle.hpp"
#include "base/parallel.hpp"

namespace amgkit
{
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

struct Coefficients {
  double c1, c2;
};
// Of c_1 and c_2 in x, vectors of V. A second direction that depends on the first (rho_2 = 0 to rounding) is left out; c_1 stays as it is
// where a sum overflows.
template <class V> AMGKIT_FN Coefficients coefficients(const double *sums)
{
  constexpr double enough = 0.25 * 0.25, dependent = sizeof(V) == sizeof(float) ? 1e-5 : 1e-14;
  if (!all_finite(sums, 0, kcycle_first_sums)) return {1, 0};
  const double rho1 = sums[0], first = ratio(sums[1], rho1);
  const double after = sums[2] - 2 * first * sums[3] + first * first * sums[4]; // |r_2|²
  if (after <= enough * sums[2] || !all_finite(sums, kcycle_first_sums, kcycle_sums)) return {first, 0};
  // no product of two sums: each is of the size of 1 / A with FCG, and the square of that may be no number
  const double gamma = sums[5], beta = sums[6], alpha2 = sums[7], part = ratio(gamma, rho1), rho2 = beta - part * gamma;
  const double least = dependent * (beta < 0 ? -beta : beta);
  if (rho2 <= least && rho2 >= -least) return {first, 0};
  return {first - part * (alpha2 / rho2), alpha2 / rho2};
}
} // namespace

template <class Ex> PetscErrorCode KCycle<Ex>::allocate(Ex &ex, int rows)
{
  PetscFunctionBegin;
  PetscCall(allocate_each(ex, rows, v, c));
  PetscCall(work.allocate(ex, kcycle_first_sums * sum_parts_of(rows)));
  PetscCall(sums.allocate(ex, kcycle_sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V>
PetscErrorCode kcycle_first(Ex &ex, std::int64_t n, const V *u, const V *v, const V *r, double *work, double *sums)
{
  return sum_into<5>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double u_i = u[i], v_i = v[i], r_i = r[i];
        return Sums<5>{{u_i * v_i, u_i * r_i, r_i * r_i, r_i * v_i, v_i * v_i}};
      },
      work, sums);
}

template <class Ex, class V>
PetscErrorCode kcycle_residual(Ex &ex, std::int64_t n, const V *v, const double *sums, V *r, const FirstStep<V> &first)
{
  const FirstStep<V> step = first;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const V r_i = static_cast<V>(r[i] - first_step(sums) * v[i]);
    r[i] = r_i;
    step(i, r_i);
  });
}

template <class Ex, class V>
PetscErrorCode kcycle_second(Ex &ex, std::int64_t n, const V *u, const V *v1, const V *v2, const V *r, double *work, double *sums)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double u_i = u[i];
        return Sums<3>{{u_i * v1[i], u_i * v2[i], u_i * r[i]}};
      },
      work, sums + kcycle_first_sums);
}

template <class Ex, class V> PetscErrorCode kcycle_combine(Ex &ex, std::int64_t n, const double *sums, const V *c2, V *c1)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const Coefficients x = coefficients<V>(sums);
    c1[i] = static_cast<V>(x.c1 * c1[i] + (x.c2 != 0 ? x.c2 * c2[i] : 0));
  });
}

using Space = AMGKIT_SPACE;
template struct KCycle<Space>;
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode kcycle_first(Space &, std::int64_t, const V *, const V *, const V *, double *, double *);                        \
  template PetscErrorCode kcycle_residual(Space &, std::int64_t, const V *, const double *, V *, const FirstStep<V> &);                    \
  template PetscErrorCode kcycle_second(Space &, std::int64_t, const V *, const V *, const V *, const V *, double *, double *);            \
  template PetscErrorCode kcycle_combine(Space &, std::int64_t, const double *, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
