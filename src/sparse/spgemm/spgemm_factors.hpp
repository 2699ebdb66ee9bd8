// The terms of a row of A B or of R A P, for the kernels of both.
//
// Each entry of the left factor leads to parts: entries k of A that are multiplied with the rows B_col(k). The right factor may be given by
// runs of M columns: its columns are then runs, and the values of its entry k are M k to M k + M - 1.
#pragma once
#include "sparse/rows/search.hpp"

namespace amgkit::spgemm
{
// What the right factor's entry brings to M sums.
template <int M> struct Product {
  int where; // its column, or its place
  double value[M];
};

struct TwoFactors {
  CsrView<double> A, B;

  AMGKIT_FN Segment row(std::int64_t i) const { return {A.ptr[i], A.ptr[i + 1]}; }
  // f(entries of A, e): these times what entry e of the left factor weighs them with
  template <class F> AMGKIT_FN void for_parts(const Segment &left, F f) const { f(left, 0); }
  AMGKIT_FN double weighted(int, double a) const { return a; }
};

struct ThreeFactors {
  CsrView<double> R, A, B;

  AMGKIT_FN Segment row(std::int64_t i) const { return {R.ptr[i], R.ptr[i + 1]}; }
  template <class F> AMGKIT_FN void for_parts(const Segment &left, F f) const
  {
    for (int e = left.begin; e < left.end; e++) {
      const int i = R.col[e];
      f(Segment{A.ptr[i], A.ptr[i + 1]}, e);
    }
  }
  AMGKIT_FN double weighted(int e, double a) const { return R.val[e] * a; }
};

inline const CsrView<double> &left_factor(const TwoFactors &in) { return in.A; }
inline const CsrView<double> &left_factor(const ThreeFactors &in) { return in.R; }

// The entries of row j of B; those from column first to column last.
struct WholeRows {
  AMGKIT_FN Segment of(const CsrView<double> &B, int j) const { return {B.ptr[j], B.ptr[j + 1]}; }
};
struct Window {
  int first, last;
  AMGKIT_FN Segment of(const CsrView<double> &B, int j) const
  {
    const int end = B.ptr[j + 1], begin = lower_bound(B.col, B.ptr[j], end, first);
    return {begin, lower_bound(B.col, begin, end, last + 1)};
  }
};

// All lanes of a team read one row of B.
struct WholeTeam {
  template <class Team, class Range, class Load, class Use>
  AMGKIT_FN void for_entries(const Team &team, int rows, Range range, Load load, Use use) const
  {
    team.for_entries(rows, range, load, use);
  }
};
// So many lanes read one, and the others the next ones.
struct PartOfTeam {
  int lanes;
  template <class Team, class Range, class Load, class Use>
  AMGKIT_FN void for_entries(const Team &team, int rows, Range range, Load load, Use use) const
  {
    team.for_entries_by(lanes, rows, range, load, use);
  }
};

// use(column) for all products of these entries of the left factor, in any order
template <class Team, class Readers, class In, class Use>
AMGKIT_FN void for_columns(const Team &team, const Readers &readers, const In &in, const Segment &left, Use use)
{
  in.for_parts(left, [&](const Segment &part, int) {
    readers.for_entries(
        team, part.end - part.begin, [&](int r) { return WholeRows{}.of(in.B, in.A.col[part.begin + r]); },
        [&](int, int k) { return in.B.col[k]; }, [&](int, int column) { use(column); });
  });
}

// use(product) for all products of these entries of the left factor: those of one column in the order of the entries, by lanes that see
// what the lanes before them did. Their numbers are those within a part.
template <int M, class Team, class In, class Columns, class Places, class Use>
AMGKIT_FN void for_products(const Team &team, const In &in, const Segment &left, const Columns &columns, const Places &places, Use use)
{
  in.for_parts(left, [&](const Segment &part, int e) {
    team.for_numbered_entries_in_order(
        part.end - part.begin, [&](int r) { return columns.of(in.B, in.A.col[part.begin + r]); },
        [&](int r, int k, int n) {
          const double a = in.weighted(e, in.A.val[part.begin + r]);
          Product<M> product{places.load(in.B, k, n), {}};
          for (int c = 0; c < M; c++) product.value[c] = a * in.B.val[M * k + c];
          return product;
        },
        [&](int, const Product<M> &product) { use(product); });
  });
}
} // namespace amgkit::spgemm
