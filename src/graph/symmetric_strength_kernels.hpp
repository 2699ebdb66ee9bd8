#include "graph/positive_couplings.hpp"
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
// Whether rows i and j both make a_ij weak; w of each
AMGKIT_FN inline bool is_cancelled(double a_ij, double w_i, double w_j)
{
  const double least = fabs(w_i) < fabs(w_j) ? fabs(w_i) : fabs(w_j);
  return least > 0 && (w_i < 0) == (w_j < 0) && ((a_ij < 0) == (w_i < 0) || fabs(a_ij) <= least);
}
} // namespace

template <class Ex>
PetscErrorCode strength_scales(Ex &ex, CsrView<double> diag, CsrView<double> offd, const SymmetricRule &rule, double *d, double *w)
{
  const bool relative = rule.kind == StrengthKind::relative;
  const double theta = rule.strong, q = rule.coarse ? judging::q_of_coarse_levels : judging::q;
  const double sure = rule.coarse ? q : judging::sure_of_finest_level;
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    RowCouplings row;
    for (int k : team.share(own.begin, own.end)) {
      if (diag.col[k] == i)
        row.a_ii = diag.val[k];
      else
        row.take(diag.val[k]);
    }
    for (int k : team.share(other.begin, other.end)) row.take(offd.val[k]);
    row.gather(team);
    const auto each = [&](const auto &f) {
      for (int k : team.share(own.begin, own.end)) f(diag.val[k], k);
      for (int k : team.share(other.begin, other.end)) f(offd.val[k], -1);
    };
    const double by_sign = relative ? row.largest_negative() : fabs(row.a_ii), by_size = relative ? row.largest() : by_sign;
    const Cancellation<decltype(each)> signs{row, diag, each, q, sure};
    const double cancelled = w ? signs.largest_size(team, static_cast<int>(i), theta * by_sign) : -1;
    team.once([&] {
      d[i] = cancelled < 0 ? by_size : by_sign;
      if (w) w[i] = cancelled < 0 ? 0 : row.a_ii < 0 ? -cancelled : cancelled;
    });
  });
}

template <class Ex>
PetscErrorCode mark_symmetric(Ex &ex, const ScaledBlock &block, std::int64_t rows, const int *row, const SymmetricRule &rule,
                              unsigned char *mark)
{
  const CsrView<double> A = block.A;
  const double *d = block.d, *column_d = block.column_d, *w = block.w, *column_w = block.column_w;
  const bool own = block.own;
  const double strong = rule.strong, kept = rule.kept, least = rule.least, soft = rule.soft;
  return for_rows(ex, rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t i = row ? row[t] : t;
    const Segment entries = entries_of(A, i);
    for (int k : team.share(entries.begin, entries.end)) {
      const int j = A.col[k];
      const double a = fabs(A.val[k]), mean = geometric_mean(d[i], column_d[j]);
      const bool counts = !(own && j == i) && (mean == 0 || a <= comparable * mean);
      const bool cancelled = w && is_cancelled(A.val[k], w[i], column_w[j]);
      const bool is_strong = a > strong * mean && !cancelled, is_edge = is_strong && a > least * d[i] && a > least * column_d[j];
      const bool is_kept =
          is_strong || (kept < strong && a > kept * mean) || (a > strong * d[i] && d[i] < soft * column_d[j] && !cancelled);
      const bool is_weak = a > 0 && !cancelled;
      mark[k] = !counts ? 0 : is_edge ? strong_coupling : is_kept ? kept_coupling : is_weak ? weak_coupling : 0;
    }
  });
}

AMGKIT_INSTANTIATE(strength_scales)
AMGKIT_INSTANTIATE(mark_symmetric)
} // namespace amgkit
