#include "base/parallel.hpp"
#include "base/unroll.hpp"
#include "sparse/rows/search.hpp"
#include "sparse/rows/tied_rows.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline double magnitude(double x) { return x < 0 ? -x : x; }

// a_ij; 0 where it is not stored
AMGKIT_FN inline double entry_of(const CsrView<double> &A, int i, int j)
{
  const int k = lower_bound(A.col, A.ptr[i], A.ptr[i + 1], j);
  return k < A.ptr[i + 1] && A.col[k] == j ? A.val[k] : 0;
}

struct Ties {
  CsrView<double> A;
  const double *d;

  // Whether entry k of row i is a tie. Each factor is a ratio to a diagonal entry: squares might overflow.
  AMGKIT_FN bool operator()(int i, int k) const
  {
    const int j = A.col[k];
    if (j == i) return false;
    const double a = magnitude(A.val[k]);
    if (!((a * magnitude(d[i])) * (a * magnitude(d[j])) > tie)) return false;
    const double b = magnitude(entry_of(A, j, i));
    return (b * magnitude(d[i])) * (b * magnitude(d[j])) > tie;
  }
  // The rows of i's group, ascending, and how many there are; 0 unless i is the smallest of them.
  AMGKIT_FN int group_of(int i, int *row) const
  {
    int n = 0;
    row[n++] = i;
    for (int done = 0; done < n; done++) {
      const int m = row[done];
      for (int k = A.ptr[m]; k < A.ptr[m + 1]; k++) {
        if (!(*this)(m, k)) continue;
        const int j = A.col[k];
        bool known = false;
        for (int t = 0; t < n; t++) known = known || row[t] == j;
        if (known) continue;
        if (j < i || n == most_tied) return 0;
        row[n++] = j;
      }
    }
    for (int t = 1; t < n; t++) {
      const int moved = row[t];
      int u = t;
      for (; u > 0 && row[u - 1] > moved; u--) row[u] = row[u - 1];
      row[u] = moved;
    }
    return n > 1 ? n : 0;
  }
};

// M <- M⁻¹, n by n, by elimination without pivoting, which a definite matrix does not need. A pivot below 1e-5 of M's diagonal entry counts
// as that: rounding of vectors of floats would else be all that is left. false: M is indefinite.
AMGKIT_FN inline bool invert_block(int n, double (&M)[most_tied][most_tied])
{
  double diagonal[most_tied];
  for (int p = 0; p < n; p++) diagonal[p] = M[p][p];
  for (int p = 0; p < n; p++) {
    constexpr double least = 1e-5;
    const double ratio = M[p][p] / diagonal[p];
    if (!(ratio > -least)) return false;
    const double inverse = 1 / (ratio < least ? least * diagonal[p] : M[p][p]);
    M[p][p] = 1;
    for (int s = 0; s < n; s++) M[p][s] *= inverse;
    for (int t = 0; t < n; t++) {
      if (t == p) continue;
      const double m = M[t][p];
      M[t][p] = 0;
      for (int s = 0; s < n; s++) M[t][s] -= m * M[p][s];
    }
  }
  return true;
}
} // namespace

template <class Ex> PetscErrorCode find_tied_rows(Ex &ex, CsrView<double> A, CsrView<double> offd, const double *d, TiedRows<Ex> &tied)
{
  Array<unsigned char, Ex> marks;
  Array<int, Ex> candidates, sizes, members, firsts;
  std::int64_t found = 0, groups = 0;
  unsigned rows = 0;

  PetscFunctionBegin;
  tied = {};
  if (A.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(marks.allocate(ex, A.rows));
  PetscCall(candidates.allocate(ex, A.rows));
  unsigned char *mark = marks.data();
  PetscCall(for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    bool any = false;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) any = any || Ties{A, d}(static_cast<int>(i), k);
    any = team.any(any);
    team.once([&] { mark[i] = any; });
  }));
  int *candidate = candidates.data();
  PetscCall(compact(
      ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { return mark[i] != 0; }, candidate, &found));
  if (found == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, found, sizes, firsts));
  PetscCall(members.allocate(ex, found * most_tied));
  int *size = sizes.data(), *member = members.data(), *first = firsts.data();
  PetscCall(for_each(ex, found, [=] AMGKIT_FN(std::int64_t c) { size[c] = Ties{A, d}.group_of(candidate[c], member + most_tied * c); }));
  PetscCall(compact(
      ex, found, [=] AMGKIT_FN(std::int64_t c) { return size[c] > 0; }, first, &groups));
  if (groups == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, groups + 1, tied.begin, tied.entry));
  int *begin = tied.begin.data(), *entry = tied.entry.data();
  PetscCall(for_each(ex, groups, [=] AMGKIT_FN(std::int64_t g) {
    const int *row = member + std::int64_t{most_tied} * first[g];
    int entries = 0;
    for (int t = 0; t < size[first[g]]; t++) {
      const Segment own = entries_of(A, row[t]), others = entries_of(offd, row[t]);
      entries += own.end - own.begin + others.end - others.begin;
    }
    begin[g] = size[first[g]];
    entry[g] = entries;
  }));
  PetscCall(exclusive_scan(ex, groups, begin, nullptr));
  PetscCall(exclusive_scan(ex, groups, entry, &tied.entries, reinterpret_cast<const unsigned *>(begin + groups), &rows));
  PetscCall(tied.row.allocate(ex, rows));
  int *row = tied.row.data();
  PetscCall(for_each(ex, groups, [=] AMGKIT_FN(std::int64_t g) {
    for (int t = begin[g]; t < begin[g + 1]; t++) row[t] = member[std::int64_t{most_tied} * first[g] + t - begin[g]];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode invert_tied_blocks(Ex &ex, CsrView<double> A, CsrView<double> offd, int ranks, const double *d, TiedStep step,
                                  TiedRows<Ex> &tied)
{
  const int *begin = tied.begin.data(), *row = tied.row.data();
  const bool of_sweep = step == TiedStep::of_sweep;

  PetscFunctionBegin;
  PetscCall(tied.blocks.allocate(ex, tied.row.size() * most_tied));
  double *blocks = tied.blocks.data();
  PetscCall(for_each(ex, tied.groups(), [=] AMGKIT_FN(std::int64_t g) {
    const int first = begin[g], n = begin[g + 1] - first;
    double M[most_tied][most_tied];
    int met = 0; // columns of other ranks; one that two rows have counts twice
    for (int t = 0; t < n; t++) {
      const Segment others = entries_of(offd, row[first + t]);
      met += others.end - others.begin;
      for (int s = 0; s < n; s++) M[t][s] = entry_of(A, row[first + t], row[first + s]);
    }
    const bool good = invert_block(n, M);
    const double part = of_sweep && met > 0 ? 1.5 / (1 + Min{}(met, ranks - 1)) : 1;
    for (int t = 0; t < n; t++) {
      const double of_diagonal = d[row[first + t]];
      for (int s = 0; s < n; s++) {
        const double less = of_sweep || s != t ? 0 : of_diagonal;
        blocks[std::int64_t{most_tied} * (first + t) + s] = good ? part * M[t][s] - less : 0;
      }
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode copy_tied_rows(Ex &ex, CsrView<double> A, CsrView<double> offd, TiedRows<Ex> &tied)
{
  const int *begin = tied.begin.data(), *row = tied.row.data(), *entry = tied.entry.data(), columns = A.cols;

  PetscFunctionBegin;
  tied.own_columns = columns;
  PetscCall(allocate_each(ex, tied.entries, tied.col, tied.val, tied.member));
  int *col = tied.col.data();
  double *val = tied.val.data();
  unsigned char *member = tied.member.data();
  PetscCall(for_rows(ex, tied.groups(), A.average(), [=] AMGKIT_FN(auto team, std::int64_t g) {
    int to = entry[g];
    for (int t = begin[g]; t < begin[g + 1]; t++) {
      const auto copy = [&](const CsrView<double> &from, int first_column) {
        const Segment of_row = entries_of(from, row[t]);
        for (int k : team.share(of_row.begin, of_row.end)) {
          const int at = to + k - of_row.begin;
          col[at] = first_column + from.col[k];
          val[at] = from.val[k];
          member[at] = static_cast<unsigned char>(t - begin[g]);
        }
        to += of_row.end - of_row.begin;
      };
      copy(A, 0);
      copy(offd, columns);
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A group's entries, of all its rows, are shared out among the lanes: what they read is on its way at once.
template <class Ex, class V>
PetscErrorCode relax_tied_rows(Ex &ex, const TiedRows<Ex> &tied, double factor, const V *b, const V *x, const V *ghost, V *y)
{
  const int *begin = tied.begin.data(), *row = tied.row.data(), *entry = tied.entry.data(), *col = tied.col.data();
  const int columns = tied.own_columns;
  const double *blocks = tied.blocks.data(), *val = tied.val.data();
  const unsigned char *member = tied.member.data();
  return for_rows<16>(ex, tied.groups(), [=] AMGKIT_FN(auto team, std::int64_t g) {
    const int first = begin[g], n = begin[g + 1] - first;
    double r[most_tied] = {};
    for (int k : team.share(entry[g], entry[g + 1])) {
      const int j = col[k], of = member[k];
      const double product = val[k] * (j < columns ? x[j] : ghost[j - columns]);
      AMGKIT_UNROLL
      for (int t = 0; t < most_tied; t++) r[t] -= t == of ? product : 0;
    }
    AMGKIT_UNROLL
    for (int t = 0; t < most_tied; t++) {
      if (t < n) r[t] = b[row[first + t]] + team.sum(r[t]);
    }
    for (int t : team.share(0, n)) {
      const double *block = blocks + std::int64_t{most_tied} * (first + t);
      double correction = 0;
      AMGKIT_UNROLL
      for (int s = 0; s < most_tied; s++) correction += s < n ? block[s] * r[s] : 0;
      y[row[first + t]] += static_cast<V>(factor * correction);
    }
  });
}

template <class Ex, class V>
PetscErrorCode add_tied_blocks(Ex &ex, const TiedRows<Ex> &tied, double factor, bool transposed, const V *r, V *y)
{
  const int *begin = tied.begin.data(), *row = tied.row.data();
  const double *blocks = tied.blocks.data();
  return for_rows<2>(ex, tied.groups(), [=] AMGKIT_FN(auto team, std::int64_t g) {
    const int first = begin[g], n = begin[g + 1] - first;
    for (int t : team.share(0, n)) {
      double correction = 0;
      for (int s = 0; s < n; s++) {
        const std::int64_t at = first + (transposed ? s : t);
        correction += blocks[most_tied * at + (transposed ? t : s)] * r[row[first + s]];
      }
      y[row[first + t]] += static_cast<V>(factor * correction);
    }
  });
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(find_tied_rows)
AMGKIT_INSTANTIATE(invert_tied_blocks)
AMGKIT_INSTANTIATE(copy_tied_rows)
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode relax_tied_rows(Space &, const TiedRows<Space> &, double, const V *, const V *, const V *, V *);                 \
  template PetscErrorCode add_tied_blocks(Space &, const TiedRows<Space> &, double, bool, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
