#include "amg/block_ilu.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"

#include <cmath>

namespace amgkit
{
template <class Ex>
PetscErrorCode first_unstable_row(Ex &ex, int n, const double *inverse_pivot, const double *d, double most, const double *x, int *row)
{
  return reduce<int>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const bool sound = (inverse_pivot[i] < 0) == (d[i] < 0) && x[i] <= most && x[i] >= -most;
        return sound ? n : static_cast<int>(i);
      },
      n, Min{}, row);
}

template <class Ex> PetscErrorCode random_error(Ex &ex, int n, PetscInt first, const double *d, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const auto bits = static_cast<std::int64_t>(hash64(static_cast<std::uint64_t>(first + i)));
    x[i] = sqrt(fabs(d[i])) * (static_cast<double>(bits) * 0x1p-63);
  });
}

template <class Ex> PetscErrorCode first_large_error(Ex &ex, int n, const double *d, const double *x, int *row)
{
  return reduce<int>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return fabs(x[i]) <= sqrt(fabs(d[i])) ? n : static_cast<int>(i); }, n, Min{}, row);
}

AMGKIT_INSTANTIATE(first_unstable_row)
AMGKIT_INSTANTIATE(random_error)
AMGKIT_INSTANTIATE(first_large_error)
} // namespace amgkit
