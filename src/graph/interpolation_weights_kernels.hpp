#include "graph/interpolation_weights.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace interpolation
{
// A with the kinds of its entries; the entries of a row in the order of the global columns.
struct Rows {
  CsrView<double> diag, offd;
  const unsigned char *kind, *ghost_kind;
  int ghosts_before, first; // row i is the rank's row first + i
};
inline Rows rows_of(const MarkedRows &A, int ghosts_before) { return {A.diag, A.offd, A.mark, A.ghost_mark, ghosts_before, A.first}; }
inline Rows rows_of(const PointRows &points) { return rows_of(points.A, points.ghosts_before); }
// number[i] of the rows
inline const int *numbers_of(const PointRows &points) { return points.number + points.A.first; }
struct Entry {
  double value;
  int kind;
};
// Strong and to F, off the diagonal
AMGKIT_FN inline bool is_path(const Entry &e) { return (e.kind & (to_fine | lumped)) == to_fine; }
struct Row : SplitRow {
  AMGKIT_FN Row(const Rows &A, std::int64_t i) : SplitRow(A.diag, A.offd, A.ghosts_before, i) {}
  static AMGKIT_FN Entry at(const Rows &A, const Place &e)
  {
    return e.ghost ? Entry{A.offd.val[e.k], A.ghost_kind[e.k]} : Entry{A.diag.val[e.k], A.kind[e.k]};
  }
  AMGKIT_FN Entry at(const Rows &A, int t) const { return at(A, SplitRow::at(t)); }
  // Sum of term(entry)
  template <class Team, class F> AMGKIT_FN double sum(const Team &team, const Rows &A, F term) const
  {
    if constexpr (teams_are_threads) {
      double s = 0;
      for_each([&](const Place &e) { s += term(at(A, e)); });
      return s;
    }
    return team.ordered_sum(0, length(), [&](int t) { return term(at(A, t)); });
  }
};
// alpha_i + gamma_i
template <class Team> AMGKIT_FN double lumped_sum(const Team &team, const Rows &A, std::int64_t i)
{
  return Row(A, i).sum(team, A, [](const Entry &e) { return e.kind & lumped ? e.value : 0.0; });
}

// The weight of a path from i through k, and what theta_i takes of a_ik.
struct Path {
  double weight, to_theta;
};
struct Ext {
  const double *beta;

  AMGKIT_FN Path operator()(std::int64_t, int k, double a_ik) const { return beta[k] != 0 ? Path{a_ik / beta[k], 0} : Path{0, a_ik}; }
};
// The first entry of the row that is not before the column. In short rows a host counts those before it: a search would be mispredicted.
AMGKIT_FN inline int place_of(const int *col, const Segment &row, int column)
{
  constexpr int few = 32;
  if (!teams_are_threads || row.end - row.begin > few) return lower_bound(col, row.begin, row.end, column);
  int at = row.begin;
  for (int k = row.begin; k < row.end; k++) at += col[k] < column;
  return at;
}
struct ExtI {
  const double *beta;
  Rows A; // all
  GhostCouplings ghosts;

  // a_ki if it is strong, i and k in F
  AMGKIT_FN double back(std::int64_t i, int k) const
  {
    const int own = k - A.ghosts_before, n = A.diag.rows;
    if (own >= 0 && own < n) {
      const Segment row = entries_of(A.diag, own);
      const int at = place_of(A.diag.col, row, static_cast<int>(i));
      return at < row.end && A.diag.col[at] == i && (A.kind[at] & to_fine) ? A.diag.val[at] : 0;
    }
    const Segment row = entries_of(ghosts.rows, own < 0 ? k : k - n);
    const int column = ghosts.first + static_cast<int>(i), at = lower_bound(ghosts.rows.col, row.begin, row.end, column);
    return at < row.end && ghosts.rows.col[at] == column ? ghosts.rows.val[at] : 0;
  }
  AMGKIT_FN Path operator()(std::int64_t i, int k, double a_ik) const
  {
    const double a_ki = back(i, k), b = beta[k] + a_ki;
    return b != 0 ? Path{a_ik / b, a_ki * (a_ik / b)} : Path{0, a_ik};
  }
};
struct ExtE {
  const double *beta, *mean;

  AMGKIT_FN Path operator()(std::int64_t, int k, double a_ik) const
  {
    const double lambda = beta[k] + mean[k];
    return lambda != 0 ? Path{a_ik / lambda, a_ik * mean[k] / lambda} : Path{0, 0};
  }
};

// w_ik <- -(1 / theta_i) times the weight of the path, which is 1 for k = i; 1 in C rows.
template <class Ex, class Formula> PetscErrorCode weigh(Ex &ex, const PointRows &points, const Formula &through, Csr<double, Ex> &w)
{
  const Rows A = rows_of(points);
  const Formula path = through;
  const int *number = numbers_of(points);
  const int *ptr = w.ptr.data(), *col = w.col.data();
  double *val = w.val.data();
  return for_rows(ex, w.rows, w.view().average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int begin = ptr[i], end = ptr[i + 1], point = A.first + static_cast<int>(i), self = A.ghosts_before + point;
    if (number[i] >= 0) {
      for (int k : team.share(begin, end)) val[k] = 1;
      return;
    }
    const double rest = lumped_sum(team, A, i);
    const double theta = rest + team.ordered_sum(begin, end, [&](int k) {
      const Path p = col[k] == self ? Path{1, 0} : path(point, col[k], val[k]);
      val[k] = p.weight;
      return p.to_theta;
    });
    const double scale = theta != 0 ? -1 / theta : 0;
    team.sync();
    for (int k : team.share(begin, end)) val[k] *= scale;
  });
}

// Where weigh_direct() adds the entries of an F row
enum DirectSum { of_diagonal, of_negative, of_positive, of_negative_coarse, of_positive_coarse, direct_sums };
struct DirectSums {
  double of[direct_sums];
};
AMGKIT_FN inline Term direct_term(const Entry &e)
{
  if ((e.kind & (to_fine | lumped)) == (to_fine | lumped)) return {of_diagonal, e.value};
  if (e.kind == 0 || e.value == 0) return {-1, 0};
  if (e.kind == to_coarse) return {e.value < 0 ? of_negative_coarse : of_positive_coarse, e.value};
  return {e.value < 0 ? of_negative : of_positive, e.value};
}
} // namespace interpolation

template <class Ex>
PetscErrorCode classify_entries(Ex &ex, const SplitRows &rows, const Strength<Ex> &S, const Splitting &splitting, EntryKinds<Ex> &kinds)
{
  const CsrView<double> diag = rows.diag, offd = rows.offd;
  const Splitting points = splitting;
  const unsigned char *strong = S.diag.data(), *ghost_strong = S.offd.data();

  PetscFunctionBegin;
  PetscCall(kinds.diag.allocate(ex, diag.nnz));
  PetscCall(kinds.offd.allocate(ex, offd.nnz));
  unsigned char *kind = kinds.diag.data(), *ghost_kind = kinds.offd.data();
  PetscCall(for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const bool fine = points.number[i] < 0;
    const int unknown = points.unknown ? points.unknown[i] : 0;
    const int path = to_fine | (!fine || !points.wanted || points.wanted[i] >= 0 ? on_path : 0);
    for (int k : team.share(own.begin, own.end)) {
      const int j = diag.col[k];
      int here = 0;
      if (j == i)
        here = path | (fine ? lumped : to_coarse);
      else if (fine && strong[k])
        here = points.number[j] >= 0 ? to_coarse : path;
      else if (fine && (!points.unknown || points.unknown[j] == unknown))
        here = lumped;
      kind[k] = static_cast<unsigned char>(here);
    }
    for (int k : team.share(other.begin, other.end)) {
      const int j = offd.col[k];
      int here = 0;
      if (fine && ghost_strong[k])
        here = points.ghosts[j] != no_key ? to_coarse : path;
      else if (fine && (!points.unknown || points.ghost_unknown[j] == unknown))
        here = lumped;
      ghost_kind[k] = static_cast<unsigned char>(here);
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode unit_rows(Ex &ex, int n, const int *number, const int *ptr, double *val)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (number[i] >= 0) val[ptr[i]] = 1;
  });
}

template <class Ex> PetscErrorCode row_sums(Ex &ex, CsrView<double> A, double *sum)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(A, i);
    const double s = team.ordered_sum(row.begin, row.end, [&](int k) { return A.val[k]; });
    team.once([&] { sum[i] = s; });
  });
}

template <class Ex> PetscErrorCode means_of_fine(Ex &ex, const PointRows &points, double *mean)
{
  const interpolation::Rows A = interpolation::rows_of(points);
  return for_rows(ex, A.diag.rows, A.diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const interpolation::Row row(A, i);
    const double sum = row.sum(team, A, [](const interpolation::Entry &e) { return interpolation::is_path(e) ? e.value : 0.0; });
    const double count = row.sum(team, A, [](const interpolation::Entry &e) { return interpolation::is_path(e) ? 1.0 : 0.0; });
    team.once([&] { mean[i] = count > 0 ? sum / count : 0; });
  });
}

template <class Ex> PetscErrorCode weigh_ext(Ex &ex, const PointRows &points, const double *beta, Csr<double, Ex> &w)
{
  return interpolation::weigh(ex, points, interpolation::Ext{beta}, w);
}

template <class Ex>
PetscErrorCode weigh_ext_i(Ex &ex, const PointRows &points, const MarkedRows &all, const double *beta, const GhostCouplings &ghosts,
                           Csr<double, Ex> &w)
{
  return interpolation::weigh(ex, points, interpolation::ExtI{beta, interpolation::rows_of(all, points.ghosts_before), ghosts}, w);
}

template <class Ex> PetscErrorCode weigh_ext_e(Ex &ex, const PointRows &points, const double *beta, const double *mean, Csr<double, Ex> &w)
{
  return interpolation::weigh(ex, points, interpolation::ExtE{beta, mean}, w);
}

template <class Ex> PetscErrorCode weigh_direct(Ex &ex, const PointRows &points, Csr<double, Ex> &P)
{
  const interpolation::Rows A = interpolation::rows_of(points);
  const int *number = interpolation::numbers_of(points);
  const int *ptr = P.ptr.data();
  double *val = P.val.data();
  const auto weigh_row = [=] AMGKIT_FN(auto team, std::int64_t i, auto &sums) {
    if (number[i] >= 0 || ptr[i] == ptr[i + 1]) return;
    const interpolation::Row row(A, i);
    team.sum_in_order(
        1,
        [&](int) {
          return Segment{0, row.length()};
        },
        [&](int, int t) { return interpolation::direct_term(row.at(A, t)); }, interpolation::direct_sums, sums.of);
    team.sync();
    const double *sum = sums.of, kept_negative = sum[interpolation::of_negative_coarse],
                 kept_positive = sum[interpolation::of_positive_coarse], negative = sum[interpolation::of_negative] + kept_negative,
                 positive = sum[interpolation::of_positive] + kept_positive;
    double d = sum[interpolation::of_diagonal];
    if (kept_negative == 0) d += negative;
    if (kept_positive == 0) d += positive;
    for (int k : team.share(ptr[i], ptr[i + 1])) {
      const double a = val[k], ratio = a < 0 ? negative / kept_negative : a > 0 ? positive / kept_positive : 0;
      val[k] = d != 0 ? -ratio * a / d : 0;
    }
  };
  if (A.diag.average() <= 32) return for_rows_with<4, interpolation::DirectSums>(ex, A.diag.rows, weigh_row);
  return for_rows_with<16, interpolation::DirectSums>(ex, A.diag.rows, weigh_row);
}

AMGKIT_INSTANTIATE(classify_entries)
AMGKIT_INSTANTIATE(unit_rows)
AMGKIT_INSTANTIATE(row_sums)
AMGKIT_INSTANTIATE(means_of_fine)
AMGKIT_INSTANTIATE(weigh_ext)
AMGKIT_INSTANTIATE(weigh_ext_i)
AMGKIT_INSTANTIATE(weigh_ext_e)
AMGKIT_INSTANTIATE(weigh_direct)
} // namespace amgkit
