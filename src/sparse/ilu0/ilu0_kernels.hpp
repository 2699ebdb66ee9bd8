#include "sparse/ilu0/ilu0_elimination.hpp"
#include "sparse/rows/search.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// What is said about row i of the factors when its pivot is as it will be used; for one lane.
AMGKIT_FN inline void judge_row(bool zero, int i, double pivot, bool finite, int *status)
{
  if (finite && zero)
    atomic_min(status + status_zero, i);
  else if (!finite || !is_finite(1 / pivot))
    atomic_min(status + status_not_finite, i);
}

// The same where the pivot may yet be shifted, and the pivot as it is used.
AMGKIT_FN inline double judge_pivot(const PivotRule &rule, int i, double pivot, double size, double sum, int *status)
{
  const bool finite = is_finite(sum + fabs(pivot));
  bool small = rule.too_small(pivot, size, sum);
  if (finite && small && rule.shift == IluShift::inblocks) {
    pivot += rule.amount;
    small = false;
    atomic_increment(status + status_shifted);
  }
  judge_row(small, i, pivot, finite, status);
  return pivot;
}

// In the factors' memory, for a host, and on a GPU for long rows. The cells are 1 / u_ii: who sees one sees row i of U.
struct Factor {
  CsrView<double> A;
  const int *row, *diagonal;
  PivotRule rule;
  double shift;
  double *lu, *inverse;
  int *status;
  struct Known {
    int i, k;
    double size; // the largest |a_ij| of those that the lane has read
  };

  template <class Team> AMGKIT_FN Known begin(const Team &team, std::int64_t p) const
  {
    const int i = row[p];
    double size = 0;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      const double a = A.val[k];
      size = Max{}(size, fabs(a));
      lu[k] = k == diagonal[i] ? a + shift : a;
    }
    team.sync();
    return {i, A.ptr[i], size};
  }
  template <class Team> AMGKIT_FN bool advance(const Team &team, Known &known) const
  {
    for (; known.k < diagonal[known.i]; known.k++) {
      const double u_kk_inverse = peek_cell_first(inverse + A.col[known.k]);
      if (team.any(is_pending(u_kk_inverse))) return false;
      eliminate(team, known, u_kk_inverse);
    }
    finish(team, known);
    return true;
  }
  template <class Team> AMGKIT_FN void eliminate(const Team &team, const Known &known, double u_kk_inverse) const
  {
    const int end = A.ptr[known.i + 1], k = A.col[known.k];
    if (lu[known.k] == 0) return;
    const double l_ik = lu[known.k] * u_kk_inverse;
    for (int e : team.share(diagonal[k] + 1, A.ptr[k + 1])) {
      const int j = A.col[e], at = lower_bound(A.col, known.k + 1, end, j);
      if (at < end && A.col[at] == j) lu[at] -= l_ik * lu[e];
    }
    team.sync();
    team.once([&] { lu[known.k] = l_ik; });
  }
  template <class Team> AMGKIT_FN void finish(const Team &team, const Known &known) const
  {
    const int i = known.i, d = diagonal[i];
    team.sync();
    const double sum = team.ordered_sum(A.ptr[i], A.ptr[i + 1], [&](int k) { return k == d ? 0 : fabs(lu[k]); });
    const double size = team.max(known.size);
    team.once([&] {
      const double u_ii = judge_pivot(rule, i, lu[d], size, sum, status);
      lu[d] = u_ii;
      set_cell_after(inverse + i, 1 / u_ii);
    });
  }
};

// Row i's place among the faults, of factors whose shifts are done
struct JudgeRows {
  CsrView<double> A;
  const int *diagonal;
  PivotRule rule;
  const double *lu;
  int *status;
  template <class Team> AMGKIT_FN void operator()(const Team &team, std::int64_t i) const
  {
    const int d = diagonal[i];
    const double sum = team.ordered_sum(A.ptr[i], A.ptr[i + 1], [&](int k) { return k == d ? 0 : fabs(lu[k]); });
    double size = 0;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) size = Max{}(size, fabs(A.val[k]));
    size = team.max(size);
    team.once([&] {
      const bool zero = rule.shift != IluShift::inblocks && rule.too_small(lu[d], size, sum);
      judge_row(zero, static_cast<int>(i), lu[d], is_finite(sum + fabs(lu[d])), status);
    });
  }
};

// Lanes of a level: rows of few entries get teams of more lanes than they need where a level has no more lanes than these. Then the chain
// of the levels binds, and teams of one warp wait for one another. 7-point 128³, 64³, 32³ with 4 lanes: 2.7, 1.30, 0.64 ms; with 16: 2.4,
// 0.94, 0.46; with 32: 2.8, 0.71, 0.35.
constexpr std::int64_t narrow_level = 100000;

// As many rows under way at once as were fastest on an H200: four levels of them, of 120 000 to 160 000 lanes, or one level. More of them
// wait and are in the way of others, by a few percent.
template <int Lanes, class Ex> RowOrder order_with(Triangle<Ex> &T)
{
  const std::int64_t width = T.width();
  return {T.tickets.data(), std::max(width, std::clamp<std::int64_t>(4 * width, 120000 / Lanes, 160000 / Lanes))};
}

// Rows of up to Capacity entries
template <int Lanes, int Capacity, int Together, int Chunks, class Ex>
PetscErrorCode factor_in_scratch(Ex &ex, const Factor &how, Triangle<Ex> &lower, std::int64_t nnz)
{
  using Scratch = ScratchRow<Capacity>;
  const CsrView<double> &A = how.A;

  PetscFunctionBegin;
  PetscCall(clear_cells(ex, nnz, how.lu));
  PetscCall(for_rows_in_order_with<Lanes, Scratch>(
      ex, A.rows, order_with<Lanes>(lower),
      Elimination<Scratch, Together, Chunks>{A, how.row, how.diagonal, how.rule, how.shift, how.lu, how.inverse, how.status}));
  PetscCall(for_rows(ex, A.rows, A.average(), JudgeRows{A, how.diagonal, how.rule, how.lu, how.status}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PivotRule rule_of(const IluOptions &options, double shift = 0)
{
  return {options.shift, options.zero_pivot, options.shift_amount, shift > 0};
}

template <class Ex> PetscErrorCode clear_status(Ex &ex, int *status)
{
  return for_each(ex, status_places, [=] AMGKIT_FN(std::int64_t t) { status[t] = t == status_shifted ? 0 : INT32_MAX; });
}
} // namespace

template <class Ex> PetscErrorCode longest_row(Ex &ex, CsrView<double> A, int *longest)
{
  return reduce<int>(
      ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { return A.ptr[i + 1] - A.ptr[i]; }, 0, Max{}, longest);
}

template <class Ex> PetscErrorCode first_without_diagonal(Ex &ex, int n, const int *diagonal, int *row)
{
  return reduce<int>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return diagonal[i] < 0 ? static_cast<int>(i) : n; }, n, Min{}, row);
}

template <class Ex> PetscErrorCode largest_shift(Ex &ex, CsrView<double> A, const int *diagonal, double least, double *largest)
{
  return reduce<double>(
      ex, A.rows,
      [=] AMGKIT_FN(std::int64_t i) {
        const double a_ii = A.val[diagonal[i]];
        double s = -fabs(a_ii) - a_ii;
        for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) s += fabs(A.val[k]);
        return s;
      },
      least, Max{}, largest);
}

template <class Ex> PetscErrorCode native_factor(Ex &ex, CsrView<double> A, double shift, Ilu0<Ex> &f)
{
  const std::int64_t width = f.lower.width();
  const Factor factor{A,     f.lower.row.data(), f.diagonal.data(), rule_of(f.options, shift),
                      shift, f.val.data(),       f.inverse.data(),  f.status.data()};

  PetscFunctionBegin;
  PetscCall(clear_status(ex, f.status.data()));
  PetscCall(clear_cells(ex, A.rows, f.inverse.data()));
  if constexpr (!Ex::one_by_one) {
    if (f.longest <= 33 && (f.longest > 16 || 32 * width <= narrow_level))
      PetscFunctionReturn((factor_in_scratch<32, 64, 3, 1>(ex, factor, f.lower, A.nnz)));
    if (f.longest <= 16 && 16 * width <= narrow_level) PetscFunctionReturn((factor_in_scratch<16, 16, 3, 1>(ex, factor, f.lower, A.nnz)));
    if (f.longest <= 16) PetscFunctionReturn((factor_in_scratch<4, 16, 3, 2>(ex, factor, f.lower, A.nnz)));
    if (f.longest <= 256) PetscFunctionReturn((factor_in_scratch<32, 256, 4, 2>(ex, factor, f.lower, A.nnz)));
  }
  PetscCall(for_rows_in_order<32>(ex, A.rows, order_with<32>(f.lower), factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_pivots(Ex &ex, CsrView<double> A, Ilu0<Ex> &f)
{
  const PivotRule rule = rule_of(f.options);
  const int *diagonal = f.diagonal.data();
  const double *lu = f.val.data();
  double *inverse = f.inverse.data();
  int *status = f.status.data();

  PetscFunctionBegin;
  PetscCall(clear_status(ex, status));
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    const int d = diagonal[i];
    double size = 0, sum = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      size = Max{}(size, fabs(A.val[k]));
      sum += k == d ? 0 : fabs(lu[k]);
    }
    inverse[i] = 1 / judge_pivot(rule, static_cast<int>(i), lu[d], size, sum, status);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(longest_row)
AMGKIT_INSTANTIATE(first_without_diagonal)
AMGKIT_INSTANTIATE(largest_shift)
AMGKIT_INSTANTIATE(native_factor)
AMGKIT_INSTANTIATE(check_pivots)
} // namespace amgkit
