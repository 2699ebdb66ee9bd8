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

// What lanczos_next() reads of a row, with z = D⁻¹ A w or with another; w_{k+1} = scale (z - along w_k) - back w_{k-1}
struct LanczosRead {
  static constexpr bool by_diagonal = true;
  double d, w, Aw, before;
  AMGKIT_FN double scaled() const { return d * Aw; }
};
struct LanczosReadZ : LanczosRead {
  static constexpr bool by_diagonal = false;
  double z;
  AMGKIT_FN double scaled() const { return z; }
};
struct LanczosFactors {
  double scale, along, back;
};

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
  struct Read {
    double d, w, Aw, before;
  };
  return sum_read_into<3>(
      ex, n, detail::NothingGiven{},
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{d[i], w[i], Aw[i], k == 1 ? w_before[i] : 0};
      },
      [=] AMGKIT_FN(std::int64_t, int, const Read &at) {
        const double product = at.w * at.Aw, mixed = at.before * at.Aw;
        return Sums<3>{{at.d < 0 ? -product : product, mixed, magnitude(mixed)}};
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
  double *sums = scalars + (k + 1) * lanczos_scalars;
  const auto factors = [=] AMGKIT_FN() {
    const double N = step[0], scale = N > 0 ? 1 / sqrt(N) : 0;
    const bool has_before = k > 0 && step[-lanczos_scalars] > 0;
    return LanczosFactors{scale, step[3] * scale * scale, has_before ? sqrt(N / step[-lanczos_scalars]) : 0};
  };
  const auto use = [=] AMGKIT_FN(std::int64_t i, const LanczosFactors &by, const auto &at) {
    double next = by.scale * (at.scaled() - by.along * at.w);
    if (by.back != 0) next -= by.back * at.before;
    w_before[i] = next;
    const double mixed = next * at.Aw, along = at.d < 0 ? -by.scale * mixed : by.scale * mixed;
    return Sums<3>{{at.d == 0 ? 0 : at.by_diagonal ? next * next / magnitude(at.d) : along, mixed, magnitude(mixed)}};
  };
  const auto by_diagonal = [=] AMGKIT_FN(std::int64_t i) { return LanczosRead{d[i], w[i], Aw[i], k > 0 ? w_before[i] : 0}; };
  const auto with_z = [=] AMGKIT_FN(std::int64_t i) { return LanczosReadZ{{d[i], w[i], Aw[i], k > 0 ? w_before[i] : 0}, z[i]}; };
  return z ? sum_read_into<3>(ex, n, factors, with_z, use, work, sums) : sum_read_into<3>(ex, n, factors, by_diagonal, use, work, sums);
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
