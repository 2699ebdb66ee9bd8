#include "amg/block_ilu.hpp"
#include "base/parallel.hpp"

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

using Space = AMGKIT_SPACE;
template PetscErrorCode first_unstable_row(Space &, int, const double *, const double *, double, const double *, int *);
} // namespace amgkit
