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
CsrView<double> with_values(CsrView<double> A, const double *val)
{
  if (val) A.val = val;
  return A;
}
// Whether rows i and j both make a_ij weak; w of each
AMGKIT_FN inline bool is_cancelled(double b_ij, double w_i, double w_j)
{
  const double least = fabs(w_i) < fabs(w_j) ? fabs(w_i) : fabs(w_j);
  return least > 0 && (w_i < 0) == (w_j < 0) && ((b_ij < 0) == (w_i < 0) || fabs(b_ij) <= least);
}
} // namespace

template <class Ex>
PetscErrorCode strength_scales(Ex &ex, CsrView<double> diag, CsrView<double> offd, RowScales B, const SignedValues &by,
                               const SymmetricRule &rule, double *d, double *w)
{
  const CsrView<double> signs = with_values(diag, by.diag), ghost_signs = with_values(offd, by.offd);
  const bool apart = B.of_rows || by.diag || by.offd;
  const bool relative = rule.kind == StrengthKind::relative;
  const double theta = rule.strong;
  const SignLimits limits = SignLimits::of_amgsa(rule.coarse);
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const auto couplings = [&](const auto &of_own, const auto &of_ghost) {
      RowCouplings row;
      for (int k : team.share(own.begin, own.end)) {
        if (diag.col[k] == i)
          row.a_ii = of_own(k);
        else
          row.take(of_own(k));
      }
      for (int k : team.share(other.begin, other.end)) row.take(of_ghost(k));
      row.gather(team);
      return row;
    };
    const auto scaled_own = [&](int k) { return B.scaled(signs.val[k], i, diag.col[k]); };
    const auto scaled_ghost = [&](int k) { return B.scaled_ghost(ghost_signs.val[k], i, offd.col[k]); };
    const auto each = [&](const auto &f) {
      for (int k : team.share(own.begin, own.end)) f(scaled_own(k), k);
      for (int k : team.share(other.begin, other.end)) f(scaled_ghost(k), -1);
    };
    const RowCouplings row = couplings([&](int k) { return copysign(diag.val[k], signs.val[k]); },
                                       [&](int k) { return copysign(offd.val[k], ghost_signs.val[k]); });
    const RowCouplings scaled = apart ? couplings(scaled_own, scaled_ghost) : row;
    const double by_sign = relative ? row.largest_negative() : fabs(row.a_ii), by_size = relative ? row.largest() : by_sign;
    const double weak = theta * (relative ? scaled.largest_negative() : fabs(scaled.a_ii));
    const Cancellation<decltype(each)> rule_of_signs{scaled, signs, each, limits};
    const double cancelled = w ? rule_of_signs.largest_size(team, static_cast<int>(i), weak) : -1;
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
  const double strong = rule.strong, kept = rule.kept, least = rule.least, soft = rule.soft;
  const bool coarse = rule.coarse;
  return for_rows(ex, rows, block.A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t i = row ? row[t] : t;
    const Segment entries = entries_of(block.A, i);
    const double d_i = block.d[i];
    for (int k : team.share(entries.begin, entries.end)) {
      const int j = block.A.col[k];
      const double a = fabs(block.A.val[k]), d_j = block.column_d[j], mean = geometric_mean(d_i, d_j);
      const bool counts = !(block.own && j == i) && (mean == 0 || a <= comparable * mean);
      const bool cancelled = block.w && is_cancelled(block.b(i, k), block.w[i], block.column_w[j]);
      const bool is_strong = a > strong * mean && !cancelled, is_edge = is_strong && a > least * d_i && a > least * d_j;
      const bool of_both_signs = block.w && (block.w[i] != 0 || block.column_w[j] != 0),
                 may_keep = kept < strong && !(coarse && of_both_signs);
      const bool is_kept = is_strong || (may_keep && a > kept * mean) || (a > strong * d_i && d_i < soft * d_j && !cancelled);
      const bool is_weak = a > 0 && !cancelled;
      mark[k] = !counts ? 0 : is_edge ? strong_coupling : is_kept ? kept_coupling : is_weak ? weak_coupling : 0;
    }
  });
}

AMGKIT_INSTANTIATE(strength_scales)
AMGKIT_INSTANTIATE(mark_symmetric)
} // namespace amgkit
