#include "base/parallel.hpp"
#include "graph/lumped_couplings.hpp"
#include "graph/positive_couplings.hpp"
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
struct ScaledRows {
  static AMGKIT_FN bool same_sign(double x, double y) { return (x < 0 && y < 0) || (x > 0 && y > 0); }

  CsrView<double> A;
  const double *a;
  OrOnes<double> w;

  // b_ij, the same bits for (i, j) and (j, i) where A is symmetric
  AMGKIT_FN double entry(int i, int k) const { return scaled(w, A.val[k], i, A.col[k]); }
  // f(b_ij, k) for the lane's entries of row i, the diagonal one among them
  template <class Team, class F> AMGKIT_FN void each(const Team &team, int i, const F &f) const
  {
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) f(entry(i, k), k);
  }
  // Whether there is no positive coupling, from the values alone, which is so in most rows of most matrices.
  template <class Team> AMGKIT_FN bool surely_none(const Team &team, int i) const
  {
    int count = 0; // of the diagonal entry and positive couplings
    if (w.stored) return false;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) count += same_sign(A.val[k], a[i]) ? 1 : 0;
    return team.sum(count) <= 1;
  }
  template <class Team> AMGKIT_FN RowCouplings couplings(const Team &team, int i) const
  {
    RowCouplings row;
    each(team, i, [&](double b_ij, int k) {
      if (A.col[k] == i)
        row.a_ii = b_ij;
      else
        row.take(b_ij);
    });
    row.gather(team);
    return row;
  }
  template <class Team> AMGKIT_FN double limit(const Team &team, int i, const RowCouplings &row, bool symmetric) const
  {
    const auto every = [&](const auto &f) { each(team, i, f); };
    using Rule = Cancellation<decltype(every)>;
    if (!(row.positive_sum() > 0)) return 0;
    if (row.positive_sum() * Rule::rounding >= row.negative_sum()) return HUGE_VAL;
    const Rule rule{row, A, every, SignLimits::of_amgmatching(), symmetric};
    const double largest = rule.largest_size(team, i, row.largest_negative() / 16);
    return largest > 0 ? largest : 0;
  }
  // Whether the entry opposite some positive coupling is missing, 0, or of the other sign.
  template <class Team> AMGKIT_FN bool convective(const Team &team, int i) const
  {
    bool found = false;
    each(team, i, [&](double b_ij, int k) {
      if (A.col[k] == i || !same_sign(b_ij, a[i])) return;
      const int mirror = mirror_of(A, i, k);
      found = found || mirror < 0 || !same_sign(A.val[mirror], A.val[k]);
    });
    return team.any(found);
  }
};

template <class Ex> PetscErrorCode survey_couplings(Ex &ex, CsrView<double> A, const double *a, const double *w, CouplingSurvey *found)
{
  constexpr int enough = 1024, bits = 16; // fewer than 2 * enough rows are looked at, so that a count fits
  const int step = std::max(1, A.rows / enough), last = A.rows - 1;
  const std::int64_t rows = (std::int64_t{A.rows} + step - 1) / step;
  const ScaledRows scaled_rows = {A, a, {w}};
  Array<std::int64_t, Ex> codes;
  std::int64_t total = 0;

  PetscFunctionBegin;
  PetscCall(codes.allocate(ex, rows));
  std::int64_t *code = codes.data();
  PetscCall(for_rows(ex, rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    // at no fixed distance, or all rows may be of one side of a grid
    const std::int64_t number = t * step + (static_cast<std::uint32_t>(t) * 2654435761U >> 8U) % static_cast<std::uint32_t>(step);
    const int i = number < last ? static_cast<int>(number) : last;
    std::int64_t here = 0;
    if (!scaled_rows.surely_none(team, i)) {
      const RowCouplings row = scaled_rows.couplings(team, i);
      const double limit = scaled_rows.limit(team, i, row, false);
      const std::int64_t any = row.positive_sum() > 0, cancels = limit > 0 && limit < HUGE_VAL;
      here = any | cancels << bits | static_cast<std::int64_t>(any && scaled_rows.convective(team, i)) << 2 * bits;
    }
    team.once([&] { code[t] = here; });
  }));
  PetscCall(reduce<std::int64_t>(
      ex, rows, [=] AMGKIT_FN(std::int64_t t) { return code[t]; }, 0, Sum{}, &total));
  constexpr std::int64_t mask = (std::int64_t{1} << bits) - 1;
  found->any = (total & mask) > 0;
  found->cancel = (total >> bits & mask) * 100 >= rows && rows > 0;
  found->symmetric = total >> 2 * bits == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode cancelled_couplings(Ex &ex, CsrView<double> A, const double *a, const double *w, bool symmetric, double *limit)
{
  const ScaledRows scaled_rows = {A, a, {w}};
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t row) {
    const int i = static_cast<int>(row);
    const double largest = scaled_rows.surely_none(team, i) ? 0 : scaled_rows.limit(team, i, scaled_rows.couplings(team, i), symmetric);
    team.once([&] { limit[i] = largest; });
  });
}

template <class Ex>
PetscErrorCode lump_cancelled(Ex &ex, CsrView<double> A, const double *a, const double *smooth, const double *limit, double *values)
{
  const ScaledRows scaled_rows = {A, a, {smooth}};
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t row) {
    const int i = static_cast<int>(row);
    const auto goes = [&](int k) {
      const int j = A.col[k];
      const double least = limit[i] < limit[j] ? limit[i] : limit[j], b_ij = scaled_rows.entry(i, k), size = a[i] < 0 ? b_ij : -b_ij;
      return j != i && least > 0 && least < HUGE_VAL && size <= least;
    };
    double lumped = 0;
    if (limit[i] > 0)
      lumped = team.ordered_sum(A.ptr[i], A.ptr[i + 1], [&](int k) { return goes(k) ? A.val[k] * scaled_rows.w[A.col[k]] : 0.0; });
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      const double more = A.col[k] == i && lumped != 0 ? lumped / scaled_rows.w[i] : 0; // where w_i is 0, so is limit[i]
      values[k] = goes(k) ? 0 : A.val[k] + more;
    }
  });
}

AMGKIT_INSTANTIATE(survey_couplings)
AMGKIT_INSTANTIATE(cancelled_couplings)
AMGKIT_INSTANTIATE(lump_cancelled)
} // namespace amgkit
