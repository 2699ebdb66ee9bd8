#include "graph/positive_couplings.hpp"
#include "graph/strength.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// The rows of one rank, whose couplings to other unknowns do not count.
struct CountedRows {
  CsrView<double> diag, offd;
  const int *unknown, *ghost_unknown;
  int ghosts_before;

  AMGKIT_FN bool counts(std::int64_t i, int k) const { return !unknown || unknown[diag.col[k]] == unknown[i]; }
  AMGKIT_FN bool ghost_counts(std::int64_t i, int k) const { return !unknown || ghost_unknown[offd.col[k]] == unknown[i]; }
  // coupling(a_ij, k) for the lane's couplings of row i, k its place in diag or -1, diagonal(a_ii) for the lane that has it
  template <class Team, class F, class G> AMGKIT_FN void each(const Team &team, std::int64_t i, F coupling, G diagonal) const
  {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    for (int k : team.share(own.begin, own.end)) {
      const int j = diag.col[k];
      const double a_ij = diag.val[k]; // both on their way at once
      if (j == i)
        diagonal(a_ij);
      else if (counts(i, k))
        coupling(a_ij, k);
    }
    for (int k : team.share(other.begin, other.end)) {
      if (ghost_counts(i, k)) coupling(offd.val[k], -1);
    }
  }
  // The sum of row i in the order of the global columns
  template <class Team> AMGKIT_FN double sum(const Team &team, std::int64_t i) const
  {
    const SplitRow row(diag, offd, ghosts_before, i);
    return team.ordered_sum(0, row.length(), [&](int t) {
      const SplitRow::Place at = row.at(t);
      if (at.ghost) return ghost_counts(i, at.k) ? offd.val[at.k] : 0.0;
      return counts(i, at.k) ? diag.val[at.k] : 0.0;
    });
  }
};

struct RowJudge {
  RowCouplings couplings;
  double weak; // the largest size of a weak negative coupling

  template <class Team>
  AMGKIT_FN RowJudge(const Team &team, const CountedRows &A, std::int64_t i, double theta, bool cancel, SignLimits limits)
  {
    A.each(
        team, i, [&](double a_ij, int) { couplings.take(a_ij); }, [&](double a_ii) { couplings.a_ii = a_ii; });
    couplings.gather(team);
    weak = theta * couplings.largest_negative();
    if (!cancel || theta == 0) return;
    const auto each = [&](const auto &f) { A.each(team, i, f, [](double) {}); };
    const Cancellation<decltype(each)> rule{couplings, A.diag, each, limits, false, true};
    const double cancelled = rule.largest_size(team, static_cast<int>(i), weak);
    weak = cancelled > weak ? cancelled : weak;
  }
  AMGKIT_FN bool strong(double a_ij) const { return couplings.size(a_ij) > weak; }
  // Whether |sum of row i| > limit. Only near the limit it matters in which order the sum is taken.
  template <class Team> AMGKIT_FN bool sums_to_more(const Team &team, const CountedRows &A, std::int64_t i, double limit) const
  {
    const double a_ii = couplings.a_ii;
    const SumAndSizes row = {couplings.above + couplings.below + a_ii, couplings.above - couplings.below + fabs(a_ii)};
    if (fabs(row.sum) + row.apart() < limit) return false;
    return fabs(row.sum) - row.apart() > limit || fabs(A.sum(team, i)) > limit;
  }
};
} // namespace

template <class Ex>
PetscErrorCode classical_strength(Ex &ex, CsrView<double> diag, CsrView<double> offd, int ghosts_before, const StrengthRule &rule,
                                  Strength<Ex> &S)
{
  const int *unknown = rule.unknown, *ghost_unknown = rule.ghost_unknown;
  const double theta = rule.theta, max_row_sum = rule.max_row_sum;
  const double *diagonal = rule.diagonal, *ghost_diagonal = rule.ghost_diagonal;
  const bool cancel = rule.cancel_positive;
  const SignLimits limits = SignLimits::of_amgclassical(rule.coarse);

  PetscFunctionBegin;
  PetscCall(S.diag.allocate(ex, diag.nnz));
  PetscCall(S.offd.allocate(ex, offd.nnz));
  unsigned char *mark = S.diag.data(), *ghost_mark = S.offd.data();
  PetscCall(for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const CountedRows A = {diag, offd, unknown, ghost_unknown, ghosts_before};
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const RowJudge judge(team, A, i, theta, cancel, limits);
    const double a_ii = judge.couplings.a_ii;
    const bool weak = max_row_sum < 1 && judge.sums_to_more(team, A, i, max_row_sum * fabs(a_ii));
    for (int k : team.share(own.begin, own.end)) {
      const double a_ij = diag.val[k];
      const int j = diag.col[k];
      const bool strong = !weak && j != i && A.counts(i, k) && judge.strong(a_ij);
      mark[k] = strong && (!diagonal || comparable_rows(a_ij, a_ii, diagonal[j]));
    }
    for (int k : team.share(other.begin, other.end)) {
      const double a_ij = offd.val[k];
      const bool strong = !weak && A.ghost_counts(i, k) && judge.strong(a_ij);
      ghost_mark[k] = strong && (!diagonal || comparable_rows(a_ij, a_ii, ghost_diagonal[offd.col[k]]));
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode unknowns_of_blocks(Ex &ex, std::int64_t n, PetscInt first, int bs, int *unknown)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { unknown[i] = static_cast<int>((first + i) % bs); });
}

template <class Ex> PetscErrorCode unknowns_of_blocks(Ex &ex, const std::vector<PetscInt> &rows, int bs, Array<int, Ex> &unknown)
{
  std::vector<int> of_rows(rows.size());

  PetscFunctionBegin;
  for (std::size_t k = 0; k < rows.size(); k++) of_rows[k] = static_cast<int>(rows[k] % bs);
  PetscCall(upload(ex, of_rows, unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(classical_strength)
template PetscErrorCode unknowns_of_blocks(Space &, std::int64_t, PetscInt, int, int *);
template PetscErrorCode unknowns_of_blocks(Space &, const std::vector<PetscInt> &, int, Array<int, Space> &);
} // namespace amgkit
