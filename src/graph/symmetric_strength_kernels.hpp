#include "base/parallel.hpp"
#include "graph/symmetric_strength.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// sqrt(x y) = sqrt(y x), x and y not negative
AMGKIT_FN inline double geometric_mean(double x, double y)
{
  const double product = x * y;
  return product > 1e-290 && product < 1e300 ? sqrt(product) : sqrt(x) * sqrt(y);
}
} // namespace

template <class Ex> PetscErrorCode strength_scales(Ex &ex, CsrView<double> diag, CsrView<double> offd, StrengthKind kind, double *d)
{
  const bool relative = kind == StrengthKind::relative;
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    double most = 0;
    for (int k : team.share(own.begin, own.end)) {
      const double a = fabs(diag.val[k]);
      if ((diag.col[k] == i) != relative) most = a > most ? a : most;
    }
    if (relative) {
      for (int k : team.share(other.begin, other.end)) {
        const double a = fabs(offd.val[k]);
        most = a > most ? a : most;
      }
    }
    most = team.combine(most, Max{});
    team.once([&] { d[i] = most; });
  });
}

template <class Ex>
PetscErrorCode mark_symmetric(Ex &ex, const ScaledBlock &block, std::int64_t rows, const int *row, const StrengthThresholds &theta,
                              unsigned char *mark)
{
  const CsrView<double> A = block.A;
  const double *d = block.d, *column_d = block.column_d;
  const bool own = block.own;
  const double strong = theta.strong, kept = theta.kept;
  return for_rows(ex, rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t i = row ? row[t] : t;
    const Segment entries = entries_of(A, i);
    for (int k : team.share(entries.begin, entries.end)) {
      const int j = A.col[k];
      const double a = fabs(A.val[k]), mean = geometric_mean(d[i], column_d[j]);
      const bool counts = !(own && j == i) && (mean == 0 || a <= comparable * mean);
      mark[k] = !counts ? 0 : a > strong * mean ? strong_coupling : a > kept * mean ? kept_coupling : 0;
    }
  });
}

AMGKIT_INSTANTIATE(strength_scales)
AMGKIT_INSTANTIATE(mark_symmetric)
} // namespace amgkit
