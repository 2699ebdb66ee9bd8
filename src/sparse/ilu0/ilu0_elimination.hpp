// The rows of an incomplete factorisation, eliminated in scratch memory; included by kernel files only.
//
// Row i's values are in its team's scratch memory, with a hash table of the places of its columns. U's values are cells, set when they are
// final: who finds those of row k has all of it, without a flag or a fence. Of several rows k at a time, those that come next, the entries
// that row i has a place for are found before they are waited for, and asked for together.
//
// What binds is the chain of the rows: with 81 entries a row in natural order, some 13 rows k of it are left to eliminate when the one that
// takes longest is there. Each then costs a read and a write of scratch memory, instead of searches in the second-level cache.
#pragma once
#include "base/ordered_rows.hpp"
#include "sparse/ilu0/ilu0_backends.hpp"

#include <bit>
#include <cmath>

namespace amgkit
{
// What a pivot is compared with: size is the largest |a_ij| of its row of A, sum the absolute sum of its row of the factors without it.
struct PivotRule {
  IluShift shift;
  double zero, amount;
  bool shifted; // the whole diagonal

  AMGKIT_FN bool too_small(double pivot, double size, double sum) const
  {
    return (shift == IluShift::positive_definite ? pivot : fabs(pivot)) <= zero * (shifted ? sum : size);
  }
};
AMGKIT_FN inline bool is_finite(double x) { return x - x == 0; }

template <int Capacity> struct ScratchRow {
  static constexpr int places = 2 * Capacity, bits = std::countr_zero(static_cast<unsigned>(places)), none = -1;
  static_assert(places == 1 << bits);
  double value[Capacity];
  int col[Capacity];
  int place[places]; // where a column's hash is, or after that, its position; none: no column

  static AMGKIT_FN unsigned hash(int j) { return static_cast<unsigned>(j) * 2654435769U >> (32 - bits); }
  AMGKIT_FN void insert(int t)
  {
    unsigned h = hash(col[t]);
    while (atomic_compare_swap(place + h, none, t) != none) h = (h + 1) % places;
  }
  AMGKIT_FN int find(int j) const
  {
    for (unsigned h = hash(j);; h = (h + 1) % places) {
      const int t = place[h];
      if (t == none || col[t] == j) return t;
    }
  }
};

// Scratch: a ScratchRow. Together: rows k that are asked for at once; Chunks: entries of each for a lane. Longer rows k are not looked up
// before.
template <class Scratch, int Together, int Chunks> struct Elimination {
  CsrView<double> A;
  const int *row, *diagonal; // the order of the rows; positions of a_ii
  PivotRule rule;            // of which only inblocks is seen to
  double shift;              // on the whole diagonal
  double *lu, *inverse;      // cells: those of U, and 1 / u_ii
  int *status;
  static constexpr int none = Scratch::none, later = -2;

  struct Known {
    int i, begin, length, lower; // the row, its first entry, how many there are, and how many below the diagonal
    int k, done;                 // the first entry of those together, and how many of these are eliminated
    int first[Together];         // of row k's entries above the diagonal the lane's first
    int at[Together][Chunks];    // where they stand in row i; at[.][0] = later: not looked up
    double u[Together][Chunks], pivot[Together];
  };

  template <class Team> AMGKIT_FN Known begin(const Team &team, std::int64_t p, Scratch &s) const
  {
    Known known{};
    known.i = row[p];
    known.begin = A.ptr[known.i];
    known.length = A.ptr[known.i + 1] - known.begin;
    known.lower = diagonal[known.i] - known.begin;
    for (int h : team.share(0, Scratch::places)) s.place[h] = none;
    team.sync();
    for (int t : team.share(0, known.length)) {
      const double a = A.val[known.begin + t];
      s.col[t] = A.col[known.begin + t];
      s.value[t] = t == known.lower ? a + shift : a;
      s.insert(t);
    }
    team.sync();
    look_up(team, known, s);
    return known;
  }

  template <class Team> AMGKIT_FN bool advance(const Team &team, Known &known, Scratch &s) const
  {
    while (known.k < known.lower) {
      ask(team, known, s);
      if (!eliminate(team, known, s)) return false;
      known.k += Together;
      known.done = 0;
      if (known.k < known.lower) look_up(team, known, s);
    }
    finish(team, known, s);
    return true;
  }

  // Of the rows k together: which of their entries are wanted, and where.
  template <class Team> AMGKIT_FN void look_up(const Team &team, Known &known, const Scratch &s) const
  {
    int end[Together], col[Together][Chunks];
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      const bool here = known.k + t < known.lower;
      const int k = here ? s.col[known.k + t] : 0;
      known.first[t] = here ? diagonal[k] + 1 + lane_of(team) : 0;
      end[t] = here ? A.ptr[k + 1] : 0;
      known.pivot[t] = pending_cell();
    }
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      AMGKIT_UNROLL
      for (int c = 0; c < Chunks; c++) {
        const int e = known.first[t] + c * lanes_of<Team>;
        col[t][c] = e < end[t] ? A.col[e] : -1;
      }
    }
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      AMGKIT_UNROLL
      for (int c = 0; c < Chunks; c++) {
        known.at[t][c] = col[t][c] >= 0 ? s.find(col[t][c]) : none;
        known.u[t][c] = pending_cell();
      }
      if (known.first[t] - lane_of(team) + Chunks * lanes_of<Team> < end[t]) known.at[t][0] = later;
    }
  }

  // The cells that were not there before
  template <class Team> AMGKIT_FN void ask(const Team &, Known &known, const Scratch &s) const
  {
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      if (t < known.done || known.k + t >= known.lower) continue;
      if (is_pending(known.pivot[t])) known.pivot[t] = peek_cell(inverse + s.col[known.k + t]);
      AMGKIT_UNROLL
      for (int c = 0; c < Chunks; c++) {
        if (known.at[t][c] >= 0 && is_pending(known.u[t][c])) known.u[t][c] = peek_cell(lu + known.first[t] + c * lanes_of<Team>);
      }
    }
  }

  // Whether all that are together are done
  template <class Team> AMGKIT_FN bool eliminate(const Team &team, Known &known, Scratch &s) const
  {
    bool ready[Together];
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      bool missing = is_pending(known.pivot[t]);
      AMGKIT_UNROLL
      for (int c = 0; c < Chunks; c++) missing = missing || (known.at[t][c] >= 0 && is_pending(known.u[t][c]));
      ready[t] = !team.any(missing);
    }
    AMGKIT_UNROLL
    for (int t = 0; t < Together; t++) {
      if (t < known.done) continue;
      if (known.k + t >= known.lower) return true;
      const bool all = known.at[t][0] == later;
      if (!ready[t] || (all && !has_all(team, known.k + t, s))) return false;
      const double a = s.value[known.k + t], l = a * known.pivot[t];
      known.done = t + 1;
      if (a == 0) continue;
      if (all) {
        subtract_all(team, known.k + t, l, s);
      } else {
        AMGKIT_UNROLL
        for (int c = 0; c < Chunks; c++) {
          if (known.at[t][c] >= 0) s.value[known.at[t][c]] -= l * known.u[t][c];
        }
      }
      team.sync();
      team.once([&] { s.value[known.k + t] = l; });
    }
    return true;
  }

  // Entry t's row, as it is: whether U's part of it is there, and what it takes from the row.
  AMGKIT_FN Segment upper_part(int t, const Scratch &s) const { return {diagonal[s.col[t]] + 1, A.ptr[s.col[t] + 1]}; }
  template <class Team> AMGKIT_FN bool has_all(const Team &team, int t, const Scratch &s) const
  {
    const Segment upper = upper_part(t, s);
    bool missing = false;
    for (int e : team.share(upper.begin, upper.end)) missing = missing || is_pending(peek_cell(lu + e));
    return !team.any(missing);
  }
  template <class Team> AMGKIT_FN void subtract_all(const Team &team, int t, double l, Scratch &s) const
  {
    const Segment upper = upper_part(t, s);
    for (int e : team.share(upper.begin, upper.end)) {
      const int at = s.find(A.col[e]);
      if (at != none) s.value[at] -= l * peek_cell(lu + e);
    }
  }

  template <class Team> AMGKIT_FN double size_of_row(const Team &team, const Known &known) const
  {
    double size = 0;
    for (int t : team.share(known.begin, known.begin + known.length)) size = Max{}(size, fabs(A.val[t]));
    return team.max(size);
  }
  template <class Team> AMGKIT_FN void finish(const Team &team, const Known &known, const Scratch &s) const
  {
    const int d = known.lower;
    double *out = lu + known.begin;
    team.sync();
    for (int t : team.share(d + 1, known.length)) set_cell(out + t, s.value[t]);
    const bool shifts = rule.shift == IluShift::inblocks;
    const double size = shifts ? size_of_row(team, known) : 0;
    team.once([&] {
      const bool small = shifts && rule.too_small(s.value[d], size, 0);
      const double u_ii = small ? s.value[d] + rule.amount : s.value[d];
      set_cell(inverse + known.i, 1 / u_ii);
      out[d] = u_ii;
      if (small) atomic_increment(status + status_shifted);
    });
    for (int t : team.share(0, d)) out[t] = s.value[t];
  }
};
} // namespace amgkit
