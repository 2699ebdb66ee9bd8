#include "base/parallel.hpp"
#include "graph/aggregate.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// The smaller vertex of a pair, or a single one; not one that joins, whose mate is negative
AMGKIT_FN inline bool leads(const int *mate, std::int64_t i) { return mate[i] == -1 || i < mate[i]; }

template <class Team> AMGKIT_FN bool couples(const Team &team, const CsrView<double> &A, std::int64_t i, std::int64_t diagonal)
{
  bool found = false;
  for (int k : team.share(A.ptr[i], A.ptr[i + 1])) found = found || (A.col[k] != diagonal && A.val[k] != 0);
  return team.any(found);
}
} // namespace

template <class Ex> PetscErrorCode leave_out_uncoupled(Ex &ex, CsrView<double> diag, CsrView<double> offd, int bs, int *mate)
{
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    bool coupled = couples(team, diag, i, i);
    for (std::int64_t row = i * bs; row < (i + 1) * bs && !coupled; row++) coupled = couples(team, offd, row, -1);
    team.once([&] {
      if (!coupled) mate[i] = left_out;
    });
  });
}

template <class Ex> PetscErrorCode aggregate_pairs(Ex &ex, int n, const int *mate, Aggregation<Ex> &out, bool all)
{
  Array<int, Ex> leaders;       // number of the leaders before a vertex: the aggregate of a leader
  Array<unsigned, Ex> joinings; // who joins a pair: 1 the smaller vertex, 2 the larger one
  std::int64_t count = 0, members = n;

  PetscFunctionBegin;
  PetscCall(leaders.allocate(ex, n + 1));
  int *leader = leaders.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { leader[i] = leads(mate, i); }));
  PetscCall(exclusive_scan(ex, n, leader, &count));
  out.fine = n;
  out.coarse = static_cast<int>(count);
  PetscCall(out.id.allocate(ex, n));
  PetscCall(out.ptr.allocate(ex, count + 1));
  PetscCall(joinings.allocate(ex, count));
  PetscCall(memory_zero(ex, joinings.data(), joinings.bytes()));
  int *id = out.id.data(), *ptr = out.ptr.data();
  unsigned *joining = joinings.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (mate[i] == left_out) {
      id[i] = -1;
      return;
    }
    const bool joins = mate[i] < left_out;
    const int j = joins ? joined(mate[i]) : static_cast<int>(i); // in whose pair i is
    id[i] = leader[leads(mate, j) ? j : mate[j]];
    if (joins) atomic_or(joining + id[i], leads(mate, j) ? 1U : 2U);
  }));
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (leads(mate, i)) ptr[id[i]] = mate[i] < 0 ? 1 : 2 + static_cast<int>((joining[id[i]] & 1U) + (joining[id[i]] >> 1));
  }));
  PetscCall(exclusive_scan(ex, count, ptr, all ? nullptr : &members));
  PetscCall(out.member.allocate(ex, members));
  int *member = out.member.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (id[i] < 0) return;
    int place = leads(mate, i) ? 0 : 1;
    if (mate[i] < left_out) place = leads(mate, joined(mate[i])) ? 2 : 2 + static_cast<int>(joining[id[i]] & 1U);
    member[ptr[id[i]] + place] = static_cast<int>(i);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode pair_weights(Ex &ex, const Aggregation<Ex> &step, const double *w, double *p, double *w_coarse)
{
  const int *ptr = step.ptr.data(), *member = step.member.data(), *id = step.id.data();

  PetscFunctionBegin;
  if (step.member.size() < step.fine) {
    PetscCall(for_each(ex, step.fine, [=] AMGKIT_FN(std::int64_t i) {
      if (id[i] < 0) p[i] = 0;
    }));
  }
  PetscCall(for_each(ex, step.coarse, [=] AMGKIT_FN(std::int64_t c) {
    const int begin = ptr[c], end = ptr[c + 1], v = member[begin];
    if (end - begin == 1) {
      p[v] = w[v] > 0 ? 1 : w[v] < 0 ? -1 : 0;
      w_coarse[c] = p[v] * w[v];
      return;
    }
    double squares = 0, sum = 0;
    for (int k = begin; k < end; k++) squares += w[member[k]] * w[member[k]];
    const double norm = sqrt(squares);
    for (int k = begin; k < end; k++) {
      const int u = member[k];
      p[u] = norm > 0 ? w[u] / norm : 0;
      sum += p[u] * w[u];
    }
    w_coarse[c] = sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode sum_over_aggregates(Ex &ex, const Aggregation<Ex> &step, const double *x, const double *weights, double *coarse)
{
  const OrOnes<double> w = {weights};
  const int *ptr = step.ptr.data(), *member = step.member.data();
  return for_each(ex, step.coarse, [=] AMGKIT_FN(std::int64_t c) {
    double sum = 0;
    for (int k = ptr[c]; k < ptr[c + 1]; k++) sum += w[member[k]] * x[member[k]] * w[member[k]];
    coarse[c] = sum;
  });
}

template <class Ex> PetscErrorCode compose(Ex &ex, const Aggregation<Ex> &step, const double *step_p, Aggregation<Ex> &total, double *p)
{
  Array<int, Ex> ptr_out, member_out;

  PetscFunctionBegin;
  PetscCall(ptr_out.allocate(ex, step.coarse + 1));
  PetscCall(member_out.allocate(ex, total.member.size()));
  const int *step_id = step.id.data(), *step_ptr = step.ptr.data(), *step_member = step.member.data();
  const int *ptr = total.ptr.data(), *member = total.member.data();
  int *id = total.id.data(), *new_ptr = ptr_out.data(), *new_member = member_out.data();
  PetscCall(for_each(ex, step.coarse, [=] AMGKIT_FN(std::int64_t c) {
    int size = 0;
    for (int k = step_ptr[c]; k < step_ptr[c + 1]; k++) size += ptr[step_member[k] + 1] - ptr[step_member[k]];
    new_ptr[c] = size;
  }));
  PetscCall(exclusive_scan(ex, step.coarse, new_ptr, nullptr)); // as many as before
  PetscCall(for_each(ex, step.coarse, [=] AMGKIT_FN(std::int64_t c) {
    int at = new_ptr[c];
    for (int k = step_ptr[c]; k < step_ptr[c + 1]; k++) {
      for (int m = ptr[step_member[k]]; m < ptr[step_member[k] + 1]; m++) new_member[at++] = member[m];
    }
  }));
  PetscCall(for_each(ex, total.fine, [=] AMGKIT_FN(std::int64_t i) {
    if (id[i] < 0) return;
    if (p) p[i] *= step_p[id[i]];
    id[i] = step_id[id[i]];
  }));
  total.coarse = step.coarse;
  std::swap(total.ptr, ptr_out);
  std::swap(total.member, member_out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(leave_out_uncoupled)
AMGKIT_INSTANTIATE(aggregate_pairs)
AMGKIT_INSTANTIATE(pair_weights)
AMGKIT_INSTANTIATE(sum_over_aggregates)
AMGKIT_INSTANTIATE(compose)
} // namespace amgkit
