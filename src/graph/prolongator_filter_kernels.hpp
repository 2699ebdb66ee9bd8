#include "graph/prolongator_filter.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace filter
{
constexpr double most_change = 10, least_pivot = 1e-10;

// Where P's entries and their columns' rows of B_c are.
struct Rows {
  CsrView<double> diag, offd;
  int ghosts_before, m;
  const double *B, *ghost_B;
  const unsigned char *keep, *ghost_keep;

  Rows(const FilterRows &P, int columns, const Strength<AMGKIT_SPACE> &kept)
      : diag(P.diag), offd(P.offd), ghosts_before(P.ghosts_before), m(columns), B(P.B), ghost_B(P.ghost_B), keep(kept.diag.data()),
        ghost_keep(kept.offd.data())
  {}
  AMGKIT_FN double value(const SplitRow::Place &e) const { return e.ghost ? offd.val[e.k] : diag.val[e.k]; }
  AMGKIT_FN bool stays(const SplitRow::Place &e) const { return (e.ghost ? ghost_keep[e.k] : keep[e.k]) != 0; }
  AMGKIT_FN const double *b(const SplitRow::Place &e) const
  {
    return e.ghost ? ghost_B + std::int64_t{m} * offd.col[e.k] : B + std::int64_t{m} * diag.col[e.k];
  }
};

AMGKIT_FN inline double sum_of_squares(const double *val, int m)
{
  double sum = 0;
  for (int k = 0; k < m; k++) sum += val[k] * val[k];
  return sum;
}

// |P_IJ|_F² of the block whose columns begin with that of entry k, which is one of the node's
AMGKIT_FN inline double square_of_block(const CsrView<double> &block, int first_row, int bs, int k, int m)
{
  if (bs == 1) return sum_of_squares(block.val + k, m);
  const int column = block.col[k];
  double sum = 0;
  for (int i = first_row; i < first_row + bs; i++) {
    const Segment row = entries_of(block, i);
    const int at = lower_bound(block.col, row.begin, row.end, column);
    if (at < row.end && block.col[at] == column) sum += sum_of_squares(block.val + at, m);
  }
  return sum;
}

// f(where one begins, its square) for the node's blocks, as often as they have rows
template <class Team, class F> AMGKIT_FN void for_blocks(const Team &team, const CsrView<double> &block, int first_row, int bs, int m, F f)
{
  for (int i = first_row; i < first_row + bs; i++) {
    const Segment row = entries_of(block, i);
    for (int run : team.share(0, (row.end - row.begin) / m)) {
      const int k = row.begin + run * m;
      f(k, square_of_block(block, first_row, bs, k, m));
    }
  }
}

template <int M> struct Scratch {
  double G[M * (M + 1) / 2]; // lower triangle, row by row; then its Cholesky factor
  double x[M];
  double square; // of the change

  AMGKIT_FN static int columns(int m) { return M == 1 ? 1 : m; }
};

// Whether no pivot is too small.
template <class Team, int M> AMGKIT_FN bool factor(const Team &team, int m, Scratch<M> &s)
{
  const auto G = [&](int i, int j) -> double & { return s.G[i * (i + 1) / 2 + j]; };
  for (int k = 0; k < m; k++) {
    const double diagonal = G(k, k);
    team.sync();
    for (int i : team.share(k, m)) {
      double rest = G(i, k);
      for (int l = 0; l < k; l++) rest -= G(i, l) * G(k, l);
      G(i, k) = rest;
    }
    team.sync();
    const double pivot = G(k, k);
    if (!(pivot > least_pivot * diagonal)) return false;
    team.sync();
    for (int i : team.share(k, m)) G(i, k) /= sqrt(pivot);
    team.sync();
  }
  return true;
}

// x <- x G^-1 by the factor L, and x G^-1 x^T = |x L^-T|², the square of the change
template <int M> AMGKIT_FN void solve(int m, Scratch<M> &s)
{
  const auto L = [&](int i, int j) { return s.G[i * (i + 1) / 2 + j]; };
  s.square = 0;
  for (int k = 0; k < m; k++) {
    for (int l = 0; l < k; l++) s.x[k] -= L(k, l) * s.x[l];
    s.x[k] /= L(k, k);
    s.square += s.x[k] * s.x[k];
  }
  for (int k = m - 1; k >= 0; k--) {
    for (int l = k + 1; l < m; l++) s.x[k] -= L(l, k) * s.x[l];
    s.x[k] /= L(k, k);
  }
}

// x <- what the row has lost of p_i B_c, G <- sum of b_j^T b_j; every sum by one lane
template <class Team, int M> AMGKIT_FN void sum_up(const Team &team, const Rows &P, const SplitRow &row, Scratch<M> &s)
{
  const int m = s.columns(P.m), length = row.length();
  for (int c : team.share(0, m)) {
    double lost = 0;
    for (int t = 0; t < length; t++) {
      const SplitRow::Place e = row.at(t);
      if (!P.stays(e)) lost += P.value(e) * P.b(e)[c];
    }
    s.x[c] = lost;
  }
  for (int g : team.share(0, m * (m + 1) / 2)) {
    int c = 0;
    while ((c + 1) * (c + 2) / 2 <= g) c++;
    const int d = g - c * (c + 1) / 2;
    double sum = 0;
    for (int t = 0; t < length; t++) {
      const SplitRow::Place e = row.at(t);
      if (P.stays(e)) sum += P.b(e)[c] * P.b(e)[d];
    }
    s.G[g] = sum;
  }
  team.sync();
}

// f = old p_i B_c / cut p_i B_c for m = 1, 0 where it is too small or too large
template <class Team> AMGKIT_FN double scale_of(const Team &team, const Rows &P, const SplitRow &row)
{
  const auto term = [&](int t) { return P.value(row.at(t)) * P.b(row.at(t))[0]; };
  const double old = team.ordered_sum(0, row.length(), term);
  const double cut = team.ordered_sum(0, row.length(), [&](int t) { return P.stays(row.at(t)) ? term(t) : 0.0; });
  const double f = cut != 0 ? old / cut : 0;
  return f >= 1 / most_change && f <= most_change ? f : 0;
}

// x, for all lanes; whether there is one, else x = 0
template <class Team, int M> AMGKIT_FN bool smallest_change(const Team &team, const Rows &P, const SplitRow &row, Scratch<M> &s)
{
  const int m = s.columns(P.m);
  sum_up(team, P, row, s);
  const bool regular = factor(team, m, s);
  team.sync();
  team.once([&] {
    for (int c = 0; c < m && !regular; c++) s.x[c] = 0;
    if (regular) solve(m, s);
  });
  team.sync();
  return regular;
}

template <class Team> AMGKIT_FN bool loses_any(const Team &team, const Rows &P, const SplitRow &row)
{
  bool lost = false;
  for (int t : team.share(0, row.length())) lost = lost || !P.stays(row.at(t));
  return team.any(lost);
}

// Teams for small and for large G
template <int M, class Ex> PetscErrorCode keep_rows(Ex &ex, const Rows &rows, Strength<Ex> &marks)
{
  const Rows P = rows;
  unsigned char *keep = marks.diag.data(), *ghost_keep = marks.offd.data();
  return for_rows_with < M == 1 ? 2
         : M <= 6               ? 8
                                : 32,
         Scratch < M >> (ex, P.diag.rows, [=] AMGKIT_FN(auto team, std::int64_t i, auto &s) {
           const SplitRow row(P.diag, P.offd, P.ghosts_before, i);
           if (!loses_any(team, P, row)) return;
           if (P.m == 1) {
             if (scale_of(team, P, row) != 0) return;
           } else if (smallest_change(team, P, row, s)) {
             const double stays = team.ordered_sum(0, row.length(), [&](int t) {
               const double p = P.value(row.at(t));
               return P.stays(row.at(t)) ? p * p : 0.0;
             });
             if (s.square <= most_change * most_change * stays) return;
           }
           team.sync();
           for (int k : team.share(row.own.begin, row.own.end)) keep[k] = 1;
           for (int k : team.share(row.other.begin, row.other.end)) ghost_keep[k] = 1;
         });
}

template <int M, class Ex> PetscErrorCode correct_rows(Ex &ex, const Rows &rows, const BlockSelection<Ex> &chosen, CoarseBlocks<Ex> &F)
{
  const Rows P = rows;
  const int *ptr = chosen.diag.ptr.data(), *at = chosen.diag.at.data();
  const int *ghost_ptr = chosen.offd.ptr.data(), *ghost_at = chosen.offd.at.data();
  double *val = F.diag.val.data(), *ghost_val = F.offd.val.data();
  return for_rows_with < M == 1 ? 2
         : M <= 6               ? 8
                                : 32,
         Scratch < M >> (ex, P.diag.rows, [=] AMGKIT_FN(auto team, std::int64_t i, auto &s) {
           const SplitRow row(P.diag, P.offd, P.ghosts_before, i);
           double scale = 1;
           const int m = s.columns(P.m);
           for (int c : team.share(0, m)) s.x[c] = 0;
           team.sync();
           if (loses_any(team, P, row)) {
             const double f = P.m == 1 ? scale_of(team, P, row) : 0;
             if (f != 0)
               scale = f;
             else
               smallest_change(team, P, row, s);
           }
           const auto corrected = [&](const SplitRow::Place &e) {
             double p = scale * P.value(e);
             for (int c = 0; c < m; c++) p += s.x[c] * P.b(e)[c];
             return p;
           };
           for (int k : team.share(ptr[i], ptr[i + 1])) val[k] = corrected({false, at[k]});
           for (int k : team.share(ghost_ptr[i], ghost_ptr[i + 1])) ghost_val[k] = corrected({true, ghost_at[k]});
         });
}
} // namespace filter

template <class Ex> PetscErrorCode mark_large_blocks(Ex &ex, const FilterRows &P, const FilterRule &rule, Strength<Ex> &marks)
{
  const CsrView<double> diag = P.diag, offd = P.offd;
  const double factor = rule.threshold * rule.threshold;
  const int bs = rule.bs, m = rule.m;

  PetscFunctionBegin;
  PetscCall(marks.diag.allocate(ex, diag.nnz));
  PetscCall(marks.offd.allocate(ex, offd.nnz));
  unsigned char *keep = marks.diag.data(), *ghost_keep = marks.offd.data();
  PetscCall(for_rows(ex, diag.rows / bs, diag.average() * bs / m, [=] AMGKIT_FN(auto team, std::int64_t node) {
    const int first = static_cast<int>(node) * bs;
    double largest = 0;
    const auto enlarge = [&](int, double square) { largest = square > largest ? square : largest; };
    filter::for_blocks(team, diag, first, bs, m, enlarge);
    filter::for_blocks(team, offd, first, bs, m, enlarge);
    largest = team.max(largest);
    const auto mark = [&](unsigned char *out) {
      return [=](int at, double square) {
        for (int k = at; k < at + m; k++) out[k] = square < factor * largest ? 0 : 1;
      };
    };
    filter::for_blocks(team, diag, first, bs, m, mark(keep));
    filter::for_blocks(team, offd, first, bs, m, mark(ghost_keep));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode keep_uncorrectable(Ex &ex, const FilterRows &P, int m, Strength<Ex> &keep)
{
  const filter::Rows rows(P, m, keep);
  if (m == 1) return filter::keep_rows<1>(ex, rows, keep);
  if (m <= 6) return filter::keep_rows<6>(ex, rows, keep);
  return filter::keep_rows<ProlongatorFilter<Ex>::most_m>(ex, rows, keep);
}

template <class Ex>
PetscErrorCode corrected_values(Ex &ex, const FilterRows &P, int m, const Strength<Ex> &keep, const BlockSelection<Ex> &chosen,
                                CoarseBlocks<Ex> &F)
{
  const filter::Rows rows(P, m, keep);
  if (m == 1) return filter::correct_rows<1>(ex, rows, chosen, F);
  if (m <= 6) return filter::correct_rows<6>(ex, rows, chosen, F);
  return filter::correct_rows<ProlongatorFilter<Ex>::most_m>(ex, rows, chosen, F);
}

AMGKIT_INSTANTIATE(mark_large_blocks)
AMGKIT_INSTANTIATE(keep_uncorrectable)
AMGKIT_INSTANTIATE(corrected_values)
} // namespace amgkit
