#include "amg/lanczos.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
AMGKIT_FN inline double magnitude(double x) { return x < 0 ? -x : x; }
AMGKIT_FN inline double hash_value(std::int64_t i, int salt)
{
  const std::uint64_t h = hash64(hash64(static_cast<std::uint64_t>(salt)) + static_cast<std::uint64_t>(i));
  return (static_cast<double>(h >> 11) + 0.5) * 0x1p-52 - 1;
}
} // namespace

template <class Ex> PetscErrorCode hash_vector(Ex &ex, std::int64_t n, PetscInt first, int salt, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = hash_value(first + i, salt); });
}

template <class Ex>
PetscErrorCode lanczos_start(Ex &ex, std::int64_t n, PetscInt first, const double *d, bool balanced, double *w, double *work,
                             double *scalars)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double w_i = d[i] != 0 ? hash_value(first + i, 0) * (balanced ? sqrt(magnitude(d[i])) : 1) : 0;
        w[i] = w_i;
        return Sums<3>{{d[i] != 0 ? w_i * w_i / magnitude(d[i]) : 0, 0, 0}};
      },
      work, scalars);
}

template <class Ex>
PetscErrorCode lanczos_product(Ex &ex, std::int64_t n, const double *d, const double *w, const double *Aw, const double *w_before,
                               double *work, double *scalars, int k)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double product = w[i] * Aw[i], mixed = k == 1 ? w_before[i] * Aw[i] : 0;
        return Sums<3>{{d[i] < 0 ? -product : product, mixed, magnitude(mixed)}};
      },
      work, scalars + k * lanczos_scalars + 3);
}

template <class Ex>
PetscErrorCode lanczos_start_from(Ex &ex, std::int64_t n, const double *d, const double *t, const double *z, double *w, double *work,
                                  double *scalars)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double w_i = d[i] != 0 ? z[i] : 0;
        w[i] = w_i;
        return Sums<3>{{d[i] < 0 ? -w_i * t[i] : w_i * t[i], 0, 0}};
      },
      work, scalars);
}

template <class Ex>
PetscErrorCode lanczos_next(Ex &ex, std::int64_t n, const double *d, const double *w, const double *Aw, const double *z, double *w_before,
                            double *work, double *scalars, int k)
{
  const double *step = scalars + k * lanczos_scalars;
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double N = step[0], a = step[3];
        const double scale = N > 0 ? 1 / sqrt(N) : 0;
        double next = scale * ((z ? z[i] : d[i] * Aw[i]) - a * scale * scale * w[i]);
        if (k > 0 && step[-lanczos_scalars] > 0) next -= sqrt(N / step[-lanczos_scalars]) * w_before[i];
        w_before[i] = next;
        const double mixed = next * Aw[i], along = d[i] < 0 ? -scale * mixed : scale * mixed;
        return Sums<3>{{d[i] == 0 ? 0 : z ? along : next * next / magnitude(d[i]), mixed, magnitude(mixed)}};
      },
      work, scalars + (k + 1) * lanczos_scalars);
}

template <class Ex>
PetscErrorCode lanczos_along(Ex &ex, std::int64_t n, const double *d, const double *z, const double *Az, const double *w, double *work,
                             double *sums)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        if (d[i] == 0) return Sums<3>{};
        const double product = z[i] * Az[i];
        return Sums<3>{{z[i] * z[i] / magnitude(d[i]), d[i] < 0 ? -product : product, z[i] * w[i] / magnitude(d[i])}};
      },
      work, sums);
}

template <class Ex>
PetscErrorCode lanczos_remove(Ex &ex, std::int64_t n, const double *d, const double *z, const double *sums, double *w, double *work,
                              double *scalars)
{
  return sum_into<3>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        if (d[i] == 0) return Sums<3>{};
        const double w_i = w[i] - sums[2] / sums[0] * z[i];
        w[i] = w_i;
        return Sums<3>{{w_i * w_i / magnitude(d[i]), 0, 0}};
      },
      work, scalars);
}

template <class Ex> PetscErrorCode dot_and_size(Ex &ex, std::int64_t n, const double *x, const double *y, double *work, double *sums)
{
  return sum_into<2>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        return Sums<2>{{x[i] * y[i], magnitude(x[i] * y[i])}};
      },
      work, sums);
}

AMGKIT_INSTANTIATE(hash_vector)
AMGKIT_INSTANTIATE(lanczos_start)
AMGKIT_INSTANTIATE(lanczos_product)
AMGKIT_INSTANTIATE(lanczos_start_from)
AMGKIT_INSTANTIATE(lanczos_next)
AMGKIT_INSTANTIATE(lanczos_along)
AMGKIT_INSTANTIATE(lanczos_remove)
AMGKIT_INSTANTIATE(dot_and_size)
} // namespace amgkit
