#include "base/parallel.hpp"
#include "graph/strength.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// What the entries of row i are judged by.
struct RowJudge {
  double least = 0, most = 0; // of the couplings that count, and 0
  double a_ii = 0;

  AMGKIT_FN void take(double a_ij)
  {
    least = a_ij < least ? a_ij : least;
    most = a_ij > most ? a_ij : most;
  }
  template <class Team> AMGKIT_FN void gather(const Team &team)
  {
    a_ii = team.sum(a_ii);
    least = team.combine(least, Min{});
    most = team.combine(most, Max{});
  }
  AMGKIT_FN bool strong(double theta, double a_ij) const { return a_ii < 0 ? a_ij > theta * most : a_ij < theta * least; }
};
} // namespace

template <class Ex>
PetscErrorCode classical_strength(Ex &ex, CsrView<double> diag, CsrView<double> offd, int ghosts_before, const StrengthRule &rule,
                                  Strength<Ex> &S)
{
  const double theta = rule.theta, max_row_sum = rule.max_row_sum;
  const int *unknown = rule.unknown, *ghost_unknown = rule.ghost_unknown;
  const double *diagonal = rule.diagonal, *ghost_diagonal = rule.ghost_diagonal;

  PetscFunctionBegin;
  PetscCall(S.diag.allocate(ex, diag.nnz));
  PetscCall(S.offd.allocate(ex, offd.nnz));
  unsigned char *mark = S.diag.data(), *ghost_mark = S.offd.data();
  PetscCall(for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const auto counts = [&](int k) { return !unknown || unknown[diag.col[k]] == unknown[i]; };
    const auto ghost_counts = [&](int k) { return !unknown || ghost_unknown[offd.col[k]] == unknown[i]; };
    RowJudge judge;
    for (int k : team.share(own.begin, own.end)) {
      if (diag.col[k] == i)
        judge.a_ii = diag.val[k];
      else if (counts(k))
        judge.take(diag.val[k]);
    }
    for (int k : team.share(other.begin, other.end)) {
      if (ghost_counts(k)) judge.take(offd.val[k]);
    }
    judge.gather(team);

    bool weak = false;
    if (max_row_sum < 1) {
      const int here = own.end - own.begin, there = other.end - other.begin;
      int below = 0; // ghosts before the own columns
      while (below < there && offd.col[other.begin + below] < ghosts_before) below++;
      const double sum = team.ordered_sum(0, here + there, [&](int t) {
        const int k = own.begin + t - below, g = other.begin + (t < below ? t : t - here);
        if (t >= below && t < below + here) return counts(k) ? diag.val[k] : 0.0;
        return ghost_counts(g) ? offd.val[g] : 0.0;
      });
      weak = fabs(sum) > max_row_sum * fabs(judge.a_ii);
    }
    for (int k : team.share(own.begin, own.end)) {
      const bool strong = !weak && diag.col[k] != i && counts(k) && judge.strong(theta, diag.val[k]);
      mark[k] = strong && (!diagonal || comparable_rows(diag.val[k], judge.a_ii, diagonal[diag.col[k]]));
    }
    for (int k : team.share(other.begin, other.end)) {
      const bool strong = !weak && ghost_counts(k) && judge.strong(theta, offd.val[k]);
      ghost_mark[k] = strong && (!diagonal || comparable_rows(offd.val[k], judge.a_ii, ghost_diagonal[offd.col[k]]));
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
