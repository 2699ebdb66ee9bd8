#include "base/written_rows.hpp"
#include "graph/smoothed_prolongator.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// The place of node J among these entries of a row of nodes, tried first where it is if all blocks before it are complete.
AMGKIT_FN inline int place_of_node(const CsrView<double> &nodes, const Segment &row, int blocks_before, int J)
{
  const int likely = row.begin + blocks_before;
  return likely < row.end && nodes.col[likely] == J ? likely : lower_bound(nodes.col, row.begin, row.end, J);
}
} // namespace

template <class Ex>
PetscErrorCode lumping_of(Ex &ex, const SplitRows &A, CsrView<double> nodes, CsrView<double> ghost_nodes, const Strength<Ex> &S, int bs,
                          const int *unknown, const int *diagonal, Lumping<Ex> &lumping, int *length)
{
  const CsrView<double> diag = A.diag, offd = A.offd;
  const unsigned char *strong = S.diag.data(), *ghost_strong = S.offd.data();

  PetscFunctionBegin;
  PetscCall(lumping.diag.allocate(ex, diag.nnz));
  PetscCall(lumping.offd.allocate(ex, offd.nnz));
  unsigned char *own_kind = lumping.diag.data(), *ghost_kind = lumping.offd.data();
  PetscCall(for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int I = static_cast<int>(i) / bs;
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    const Segment own_nodes = entries_of(nodes, I), other_nodes = entries_of(ghost_nodes, I);
    int staying = 0, J = -1;
    bool stays = false;
    for (int k : team.share(own.begin, own.end)) {
      const int j = diag.col[k];
      if (bs == 1) { // without branches, which on meshes would be mispredicted
        stays = (j == I) | ((strong[k] & smoothing_couplings) != 0);
        own_kind[k] = static_cast<unsigned char>(stays * entry_stays);
        staying += stays;
        continue;
      }
      if (!Ex::one_by_one || J < 0 || j - J * bs >= bs) { // else as the entry before
        J = j / bs;
        stays = J == I || (strong[place_of_node(nodes, own_nodes, (k - own.begin) / bs, J)] & smoothing_couplings) != 0;
      }
      own_kind[k] = stays ? entry_stays : static_cast<unsigned char>(j - J * bs);
      staying += stays;
    }
    for (int k : team.share(other.begin, other.end)) {
      const int j = unknown[offd.col[k]];
      J = j / bs;
      stays = (ghost_strong[bs == 1 ? k : place_of_node(ghost_nodes, other_nodes, (k - other.begin) / bs, J)] & smoothing_couplings) != 0;
      ghost_kind[k] = stays ? entry_stays : static_cast<unsigned char>(j - J * bs);
      staying += stays;
    }
    staying = team.sum(staying);
    team.once([&] { length[i] = diagonal[i] < 0 ? 1 : staying; });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode lengths_as_in_A(Ex &ex, const SplitRows &A, const int *diagonal, int *length)
{
  const CsrView<double> diag = A.diag, offd = A.offd;
  return for_each(ex, diag.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    length[i] = diagonal[i] < 0 ? 1 : own.end - own.begin + other.end - other.begin;
  });
}

template <class Ex> PetscErrorCode count_missing(Ex &ex, std::int64_t n, const int *diagonal, std::int64_t *missing)
{
  return reduce<std::int64_t>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return std::int64_t{diagonal[i] < 0}; }, 0, Sum{}, missing);
}

namespace
{
// What becomes of row i of A in S.
struct SmoothedRow {
  SplitRows A;
  const unsigned char *kind, *ghost_kind;
  NearNullValues B;
  int i, node, bs, own_entry; // own_entry: of a_ii, -1 without one
  SplitRow row;
  double factor, a_ii;

  AMGKIT_FN SmoothedRow(const SplitRows &rows, const int *diagonal, const unsigned char *kinds, const unsigned char *ghost_kinds,
                        const NearNullValues &near_null, int block, double scale, int number)
      : A(rows), kind(kinds), ghost_kind(ghost_kinds), B(near_null), i(number), node(number / block * block), bs(block),
        own_entry(diagonal[number]), row(rows.diag, rows.offd, rows.ghosts_before, number), factor(scale),
        a_ii(own_entry < 0 ? 0 : rows.diag.val[own_entry])
  {}
  AMGKIT_FN double entry(const SplitRow::Place &e) const { return e.ghost ? A.offd.val[e.k] : A.diag.val[e.k]; }
  AMGKIT_FN double entry(int t) const { return entry(row.at(t)); }
  // b_jk, for the place of a_ij
  AMGKIT_FN double near_null(const SplitRow::Place &e, int k) const
  {
    return e.ghost ? B.ghost[std::int64_t{A.offd.col[e.k]} * bs + k] : B.own[std::int64_t{A.diag.col[e.k]} * bs + k];
  }
  // a_ij b_jk, for the t-th entry, a_ij
  AMGKIT_FN double times_near_null(int t, int k) const { return entry(t) * near_null(row.at(t), k); }
  // w <- w B_I^-1, B_I upper triangular; 0 where its diagonal is
  AMGKIT_FN void solve_near_null(double *w) const
  {
    const double *block = B.own + std::int64_t{node} * bs;
    for (int k = 0; k < bs; k++) {
      for (int l = 0; l < k; l++) w[k] -= w[l] * block[l * bs + k];
      w[k] = block[k * bs + k] != 0 ? w[k] / block[k * bs + k] : 0;
    }
  }
  AMGKIT_FN int kind_of(const SplitRow::Place &e) const { return e.ghost ? ghost_kind[e.k] : kind[e.k]; }
  AMGKIT_FN int kind_of(int t) const { return kind_of(row.at(t)); }
  AMGKIT_FN bool stays(int t) const { return kind_of(t) == entry_stays; }
  AMGKIT_FN bool is_diagonal(const SplitRow::Place &e) const { return !e.ghost && e.k == own_entry; }
  // The component of its node whose entry this is; -1: another node's
  AMGKIT_FN int own_component(const SplitRow::Place &e) const
  {
    const int c = e.ghost ? -1 : A.diag.col[e.k] - node;
    return c >= 0 && c < bs ? c : -1;
  }
  // The entry's column in S
  AMGKIT_FN int column(const SplitRow::Place &e) const
  {
    if (!e.ghost) return A.ghosts_before + A.diag.col[e.k];
    const int ghost = A.offd.col[e.k];
    return ghost < A.ghosts_before ? ghost : ghost + A.diag.cols;
  }
  // Writes the only entry, at k, of a row that does not store a_ii.
  AMGKIT_FN void write_identity(int k, int *col, double *val) const
  {
    if (col) col[k] = A.ghosts_before + i;
    val[k] = 1;
  }
  // The component of its node whose entry the t-th one is, or is added to; -1: none
  AMGKIT_FN int component(int t) const
  {
    const int to = kind_of(t);
    return to != entry_stays ? to : own_component(row.at(t));
  }
  AMGKIT_FN double value(bool self, double a_ij) const { return (self ? 1 : 0) - (a_ii != 0 ? factor * (a_ij / a_ii) : 0); }
};

// Short rows without components, and on a plain host any: one lane a row, in one pass. Most: at least bs.
template <int Most, class Ex>
PetscErrorCode entries_by_one_lane(Ex &ex, const SplitRows &A, const int *diagonal, const Lumping<Ex> &lumping,
                                   const NearNullValues &near_null, int components, double factor, const CsrView<double> &S, int *col,
                                   double *val)
{
  const NearNullValues B = near_null;
  const unsigned char *kind = lumping.diag.data(), *ghost_kind = lumping.offd.data();
  const bool lumped = lumping.bytes() > 0;
  const int *ptr = S.ptr, bs = Most == 1 ? 1 : components;
  return for_each(ex, S.rows, [=] AMGKIT_FN(std::int64_t i) {
    const SmoothedRow in(A, diagonal, kind, ghost_kind, B, bs, factor, static_cast<int>(i));
    int k = ptr[i], own[Most]; // places of the node's own entries
    double sum[Most];
    if (in.own_entry < 0) {
      in.write_identity(k, col, val);
      return;
    }
    for (int c = 0; c < bs; c++) {
      sum[c] = 0;
      own[c] = -1;
    }
    in.row.for_each([&](const SplitRow::Place &e) {
      const double a = in.entry(e);
      const int to = lumped ? in.kind_of(e) : entry_stays;
      if (to == entry_stays) {
        const int c = in.own_component(e);
        if (c >= 0) own[c] = k;
        if (c >= 0 && !B.own) sum[c] += a;
        val[k] = in.value(in.is_diagonal(e), a);
        if (col) col[k] = in.column(e);
        k++;
      } else if (B.own) {
        for (int c = 0; c < bs; c++) sum[c] += a * in.near_null(e, c);
      } else {
        sum[to] += a;
      }
    });
    if (k - ptr[i] == in.row.length()) return; // nothing was lumped
    if (B.own) in.solve_near_null(sum);
    for (int c = 0; c < bs; c++) {
      if (own[c] >= 0) val[own[c]] = B.own ? val[own[c]] + in.value(false, sum[c]) : in.value(in.node + c == in.i, sum[c]);
    }
  });
}

struct KindAndValue {
  int kind;
  double value;
};
template <int Most> struct ComponentSums {
  double of[Most];
};

// S's entries are those of A that stay, in their order, and those of the row's own node are sums; Most: at least bs.
template <int Lanes, int Most, class Ex>
PetscErrorCode lumped_entries(Ex &ex, const SplitRows &A, const int *diagonal, const Lumping<Ex> &lumping, const NearNullValues &near_null,
                              int bs, double factor, const CsrView<double> &S, int *write_col, double *val)
{
  const NearNullValues B = near_null;
  const unsigned char *kind = lumping.diag.data(), *ghost_kind = lumping.offd.data();
  const int *ptr = S.ptr, *col = write_col ? write_col : S.col, before = A.ghosts_before;
  return for_rows_with<Lanes, ComponentSums<Most>>(ex, S.rows, [=] AMGKIT_FN(auto team, std::int64_t r, auto &sums) {
    const SmoothedRow in(A, diagonal, kind, ghost_kind, B, bs, factor, static_cast<int>(r));
    const int begin = ptr[r], end = ptr[r + 1], length = in.row.length();
    if (in.own_entry < 0) {
      team.once([&] { in.write_identity(begin, write_col, val); });
      return;
    }
    const int staying = team.for_chosen(
        0, length,
        [&](int t) {
          return KindAndValue{in.kind_of(t), in.entry(t)};
        },
        [](const KindAndValue &entry) { return entry.kind == entry_stays; },
        [&](int t, int n, const KindAndValue &entry) {
          const SplitRow::Place e = in.row.at(t);
          val[begin + n] = in.value(in.is_diagonal(e), entry.value);
          if (write_col) write_col[begin + n] = in.column(e);
        });
    if (staying == length) return;
    const bool given = B.own != nullptr;
    team.sum_in_order(
        given ? bs : 1,
        [&](int) {
          return Segment{0, length};
        },
        [&](int k, int t) {
          return given ? Term{in.stays(t) ? -1 : k, in.times_near_null(t, k)} : Term{in.component(t), in.entry(t)};
        },
        bs, sums.of);
    team.sync();
    if (given) {
      team.once([&] { in.solve_near_null(sums.of); });
      team.sync();
    }
    const int first = lower_bound(col, begin, end, before + in.node), last = lower_bound(col, first, end, before + in.node + bs);
    for (int k : team.share(first, last)) { // a sum of one entry is this
      const int c = col[k] - before - in.node;
      val[k] = given ? val[k] + in.value(false, sums.of[c]) : in.value(in.node + c == in.i, sums.of[c]);
    }
  });
}

// Where nothing is lumped.
template <class Ex>
PetscErrorCode entries_as_in_A(Ex &ex, const SplitRows &A, const int *diagonal, int bs, double factor, const CsrView<double> &S, int *col,
                               double *val)
{
  const int *ptr = S.ptr;
  return for_written_rows(ex, S.rows, S.average(), [=] AMGKIT_FN(auto team, std::int64_t r) {
    const SmoothedRow in(A, diagonal, nullptr, nullptr, {}, bs, factor, static_cast<int>(r));
    const int begin = ptr[r];
    if (in.own_entry < 0) {
      team.once([&] { in.write_identity(begin, col, val); });
      return;
    }
    for (int t : team.share(0, in.row.length())) {
      const SplitRow::Place e = in.row.at(t);
      val[begin + t] = in.value(in.is_diagonal(e), in.entry(e));
      if (col) col[begin + t] = in.column(e);
    }
  });
}
} // namespace

template <class Ex>
PetscErrorCode smoothing_entries(Ex &ex, const SplitRows &A, const int *diagonal, const Lumping<Ex> &lumping, const NearNullValues &B,
                                 int bs, double factor, CsrView<double> S, int *col, double *val)
{
  const double average = A.diag.average() + A.offd.average(); // entries of A a row, those that do not stay too
  const bool one_lane = Ex::one_by_one || average <= 12;
  if (bs == 1 && one_lane) return entries_by_one_lane<1>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
  if constexpr (Ex::one_by_one) {
    if (bs <= 8) return entries_by_one_lane<8>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
    return entries_by_one_lane<128>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
  } else if (lumping.bytes() > 0) {
    if (bs > 8) return lumped_entries<32, 128>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
    if (average <= 32) return lumped_entries<4, 8>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
    return lumped_entries<16, 8>(ex, A, diagonal, lumping, B, bs, factor, S, col, val);
  } else {
    return entries_as_in_A(ex, A, diagonal, bs, factor, S, col, val);
  }
}

template <class Ex> PetscErrorCode damp_each_row(Ex &ex, CsrView<double> S, int ghosts_before, double omega, double rho, double *val)
{
  return for_rows(ex, S.rows, S.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const Segment row = entries_of(S, i);
    const auto identity = [&](int k) { return S.col[k] == ghosts_before + i ? 1.0 : 0.0; };
    const double step = omega / least_row_bound;
    const double s_i = team.ordered_sum(row.begin, row.end, [&](int k) { return fabs(identity(k) - val[k]); }) / step;
    const double g_i = s_i < rho ? s_i : rho;
    if (!(g_i > least_row_bound)) return;
    for (int k : team.share(row.begin, row.end)) val[k] = identity(k) - least_row_bound / g_i * (identity(k) - val[k]);
  });
}

AMGKIT_INSTANTIATE(lumping_of)
AMGKIT_INSTANTIATE(lengths_as_in_A)
AMGKIT_INSTANTIATE(count_missing)
AMGKIT_INSTANTIATE(smoothing_entries)
AMGKIT_INSTANTIATE(damp_each_row)
} // namespace amgkit
