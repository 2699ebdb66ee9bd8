#include "graph/smoothed_prolongator.hpp"
#include "sparse/search.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode lumping_of(Ex &ex, const SplitRows &A, CsrView<double> nodes, CsrView<double> ghost_nodes, const Strength<Ex> &S, int bs,
                          const int *unknown, Lumping<Ex> &lumping)
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
    for (int k : team.share(own.begin, own.end)) {
      const int J = diag.col[k] / bs;
      const bool stays = J == I || strong[bs == 1 ? k : lower_bound(nodes.col, own_nodes.begin, own_nodes.end, J)];
      own_kind[k] = stays ? entry_stays : static_cast<unsigned char>(diag.col[k] % bs);
    }
    for (int k : team.share(other.begin, other.end)) {
      const int j = unknown[offd.col[k]];
      const bool stays = ghost_strong[bs == 1 ? k : lower_bound(ghost_nodes.col, other_nodes.begin, other_nodes.end, j / bs)];
      ghost_kind[k] = stays ? entry_stays : static_cast<unsigned char>(j % bs);
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode complete_diagonal(Ex &ex, int first, Csr<double, Ex> &S, std::int64_t *missing)
{
  const CsrView<double> from = S.view();
  Csr<double, Ex> with;
  std::int64_t entries = 0;

  PetscFunctionBegin;
  PetscCall(with.ptr.allocate(ex, std::int64_t{from.rows} + 1));
  int *ptr = with.ptr.data();
  PetscCall(for_each(ex, from.rows, [=] AMGKIT_FN(std::int64_t i) {
    const int begin = from.ptr[i], end = from.ptr[i + 1], self = first + static_cast<int>(i);
    const int at = lower_bound(from.col, begin, end, self);
    ptr[i] = at < end && from.col[at] == self ? end - begin : -1;
  }));
  PetscCall(reduce<std::int64_t>(
      ex, from.rows, [=] AMGKIT_FN(std::int64_t i) { return static_cast<std::int64_t>(ptr[i] < 0); }, 0, Sum{}, missing));
  if (*missing == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each(ex, from.rows, [=] AMGKIT_FN(std::int64_t i) { ptr[i] = ptr[i] < 0 ? 1 : ptr[i]; }));
  PetscCall(exclusive_scan(ex, from.rows, ptr, &entries));
  with.rows = from.rows;
  with.cols = from.cols;
  PetscCall(with.col.allocate(ex, entries));
  PetscCall(with.val.allocate(ex, entries));
  int *col = with.col.data();
  PetscCall(for_rows(ex, from.rows, from.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int begin = from.ptr[i], end = from.ptr[i + 1], self = first + static_cast<int>(i), length = ptr[i + 1] - ptr[i];
    if (length == 1)
      team.once([&] { col[ptr[i]] = self; });
    else
      for (int k : team.share(begin, end)) col[ptr[i] + k - begin] = from.col[k];
  }));
  S = std::move(with);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// In a row whose weak entries are lumped, the columns of its own node are left to the sums.
template <class Ex>
PetscErrorCode smoothing_values(Ex &ex, const SplitRows &rows, const Lumping<Ex> &lumping, int bs, double factor, CsrView<double> S,
                                double *val)
{
  const CsrView<double> diag = rows.diag, offd = rows.offd;
  const int before = rows.ghosts_before, own_rows = diag.rows;
  const unsigned char *kind = lumping.diag.data(), *ghost_kind = lumping.offd.data();
  const int *ptr = S.ptr, *col = S.col;
  const bool lumped = lumping.bytes() > 0;
  return for_rows(ex, S.rows, S.average(), [=] AMGKIT_FN(auto team, std::int64_t r) {
    const int i = static_cast<int>(r), node = i / bs * bs, begin = ptr[i], end = ptr[i + 1];
    const SplitRow row(diag, offd, before, i);
    const int at = lower_bound(diag.col, row.own.begin, row.own.end, i);
    if (at == row.own.end || diag.col[at] != i) {
      team.once([&] { val[begin] = 1; });
      return;
    }
    const double a_ii = diag.val[at];
    const auto value = [&](bool self, double a_ij) { return (self ? 1 : 0) - (a_ii != 0 ? factor * (a_ij / a_ii) : 0); };
    for (int t : team.share(0, row.length())) {
      const SplitRow::Place e = row.at(t);
      const int j = e.ghost ? offd.col[e.k] : diag.col[e.k], column = e.ghost ? (j < before ? j : j + own_rows) : before + j;
      if (lumped && ((!e.ghost && j >= node && j < node + bs) || (e.ghost ? ghost_kind[e.k] : kind[e.k]) != entry_stays)) continue;
      val[lumped ? lower_bound(col, begin, end, column) : begin + t] = value(!e.ghost && j == i, e.ghost ? offd.val[e.k] : diag.val[e.k]);
    }
    if (!lumped) return;
    for (int k = lower_bound(col, begin, end, before + node); k < end && col[k] < before + node + bs; k++) {
      const int j = col[k] - before;
      const double a_ij = team.ordered_sum(0, row.length(), [&](int t) {
        const SplitRow::Place e = row.at(t);
        if (e.ghost) return ghost_kind[e.k] == j - node ? offd.val[e.k] : 0.0;
        return kind[e.k] == j - node || diag.col[e.k] == j ? diag.val[e.k] : 0.0;
      });
      team.once([&] { val[k] = value(j == i, a_ij); });
    }
  });
}

using Space = AMGKIT_SPACE;
using View = CsrView<double>;
template PetscErrorCode lumping_of(Space &, const SplitRows &, View, View, const Strength<Space> &, int, const int *, Lumping<Space> &);
template PetscErrorCode complete_diagonal(Space &, int, Csr<double, Space> &, std::int64_t *);
template PetscErrorCode smoothing_values(Space &, const SplitRows &, const Lumping<Space> &, int, double, View, double *);
} // namespace amgkit
