#include "amg/single_precision.hpp"
#include "base/parallel.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// e; within the range in which 2^e and 2^-e are numbers, and 0 where the sum is none
AMGKIT_FN inline int exponent_of_mean(double sum, double entries)
{
  const double mean = sum / entries;
  int e = 0;
  if (!(mean > 0 && mean < HUGE_VAL)) return 0;
  frexp(mean, &e);
  return e < -1000 ? -1000 : e > 1000 ? 1000 : e;
}
} // namespace

template <class Ex> PetscErrorCode norm1_of(Ex &ex, std::int64_t n, const double *b, double *work, double *norm1)
{
  return sum_into<1>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return Sums<1>{{b[i] < 0 ? -b[i] : b[i]}}; }, work, norm1);
}

template <class Ex> PetscErrorCode to_single(Ex &ex, std::int64_t n, const double *norm1, PetscInt entries, const double *from, float *to)
{
  const auto all = static_cast<double>(entries);
  return for_each(ex, n,
                  [=] AMGKIT_FN(std::int64_t i) { to[i] = static_cast<float>(from[i] * ldexp(1.0, -exponent_of_mean(*norm1, all))); });
}

template <class Ex> PetscErrorCode from_single(Ex &ex, std::int64_t n, const double *norm1, PetscInt entries, const float *from, double *to)
{
  const auto all = static_cast<double>(entries);
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { to[i] = from[i] * ldexp(1.0, exponent_of_mean(*norm1, all)); });
}

template <class Ex> PetscErrorCode round_factors(Ex &ex, std::int64_t n, const double *from, float *to, int *unfit)
{
  constexpr double most = 1e18;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    to[i] = static_cast<float>(from[i]);
    if (!(from[i] <= most && from[i] >= -most)) *unfit = 1;
  });
}

AMGKIT_INSTANTIATE(norm1_of)
AMGKIT_INSTANTIATE(to_single)
AMGKIT_INSTANTIATE(from_single)
AMGKIT_INSTANTIATE(round_factors)
} // namespace amgkit
