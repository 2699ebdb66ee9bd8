#include "graph/positive_couplings.hpp"
#include "graph/symmetric_strength.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
// The numbers of a SymmetricRule
struct CouplingLimits {
  static constexpr double rounding = 1 + 1e-12; // so that what equals a limit is not beyond it
  double strong, kept, least, soft;
  bool keeps; // the second theta is smaller

  explicit CouplingLimits(const SymmetricRule &rule)
      : strong(rounding * rule.strong), kept(rounding * rule.kept), least(rounding * rule.least), soft(rule.soft / rounding),
        keeps(rule.kept < rule.strong)
  {}
  // Of a coupling of size a, from the roots of d_i and d_j. Without branches but for what is cancelled: on meshes they would be
  // mispredicted for every second entry.
  AMGKIT_FN unsigned char mark(double a, double root_i, double root_j, bool cancelled, bool may_keep) const
  {
    const double mean = root_i * root_j, d_i = root_i * root_i, d_j = root_j * root_j, by_mean = strong * mean;
    const double follows = d_i < soft * d_j ? strong * d_i : HUGE_VAL, keep = keeps && may_keep ? kept * mean : HUGE_VAL;
    const double least_kept = Min{}(Min{}(by_mean, keep), follows), least_edge = Max{}(by_mean, least * Max{}(d_i, d_j));
    const double most = mean == 0 ? HUGE_VAL : rounding * comparable * mean;
    if (cancelled) return a > keep && a <= most ? kept_coupling : 0;
    const int limits_passed = (a > 0) + (a > least_kept) + (a > least_edge);
    constexpr unsigned marks = weak_coupling << 8 | kept_coupling << 16 | strong_coupling << 24;
    return static_cast<unsigned char>(a <= most ? marks >> 8 * limits_passed : 0);
  }
};

namespace
{
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
                               const SymmetricRule &rule, double *root, double *w)
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
        const double a_ij = of_own(k);
        const bool self = diag.col[k] == i;
        row.a_ii = self ? a_ij : row.a_ii;
        row.take(self ? 0 : a_ij);
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
      root[i] = sqrt(cancelled < 0 ? by_size : by_sign);
      if (w) w[i] = cancelled < 0 ? 0 : row.a_ii < 0 ? -cancelled : cancelled;
    });
  });
}

template <class Ex>
PetscErrorCode mark_symmetric(Ex &ex, const ScaledBlock &block, std::int64_t rows, const int *row, const SymmetricRule &rule,
                              unsigned char *mark)
{
  const CouplingLimits limits(rule);
  const double *other_signs = rule.coarse && block.w ? block.column_w : nullptr;
  return for_rows(ex, rows, block.A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t i = row ? row[t] : t;
    const Segment entries = entries_of(block.A, i);
    const double root_i = block.root[i], w_i = block.w ? block.w[i] : 0;
    const bool may_keep = !other_signs || w_i == 0;
    for (int k : team.share(entries.begin, entries.end)) {
      const int j = block.A.col[k];
      const double a = block.own && j == i ? 0 : fabs(block.A.val[k]);
      const bool cancelled = w_i != 0 && is_cancelled(block.b(i, k), w_i, block.column_w[j]);
      mark[k] = limits.mark(a, root_i, block.column_root[j], cancelled, may_keep && !(other_signs && other_signs[j] != 0));
    }
  });
}

AMGKIT_INSTANTIATE(strength_scales)
AMGKIT_INSTANTIATE(mark_symmetric)
} // namespace amgkit
