#include "amg/cycle.hpp"

#include "amg/single.hpp"
#include "base/log.hpp"
#include "dist/agree.hpp"
#include "dist/global_sum.hpp"

namespace amgkit
{
namespace
{
template <class Ex> DistMatrix<Ex> &operator_of(Level<Ex> &level, DistMatrix<Ex> *) { return level.A; }
template <class Ex> TransposedMatrix<Ex> &operator_of(Level<Ex> &level, TransposedMatrix<Ex> *) { return *level.transposed; }

// Operator: DistMatrix, or TransposedMatrix for the transposed cycle. V: float or double, the type of the vectors.
template <class Ex, class Operator, class V> class Cycle {
public:
  static constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;

  Cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters)
      : ex_(ex), hierarchy_(hierarchy), parameters_(parameters),
        before_(transposed ? parameters.sweeps_after() : parameters.sweeps_before()),
        after_(transposed ? parameters.sweeps_before() : parameters.sweeps_after())
  {}

  // x = one cycle of this kind for A x = b on level l
  PetscErrorCode visit(std::size_t l, CycleKind kind, const V *b, V *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    return level.transfer ? smooth_and_correct(l, kind, b, x) : solve_coarsest(level, b, x);
  }

  // What level l asks of the levels below.
  PetscErrorCode solve_below(std::size_t l, CycleKind kind)
  {
    Level<Ex> &coarse = *hierarchy_.levels[l + 1];
    return solve(l + 1, kind, coarse.b.template as<V>(), coarse.x.template as<V>());
  }

private:
  Operator &matrix(std::size_t l) { return operator_of<Ex>(*hierarchy_.levels[l], static_cast<Operator *>(nullptr)); }

  PetscErrorCode solve_coarsest(Level<Ex> &level, const V *b, V *x)
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::coarse);
    PetscCall(hierarchy_.coarse_solver.solve(ex_, level, transposed, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode smooth(std::size_t l, PetscInt sweeps, bool zero_guess, const V *b, Iterate<V> &x)
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::smooth);
    PetscCall(hierarchy_.levels[l]->smoother.apply(ex_, matrix(l), sweeps, zero_guess, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode smooth_and_correct(std::size_t l, CycleKind kind, const V *b, V *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    const V *r = b;
    Iterate<V> iterate{x, level.work.template as<V>()};
    if ((level.smoother.flips(before_, true) + level.smoother.flips(after_, false)) % 2 != 0) std::swap(iterate.here, iterate.there);

    PetscFunctionBegin;
    PetscCall(smooth(l, before_, true, b, iterate));
    if (before_ > 0) {
      const LogPhase logged(Phase::transfer);
      PetscCall(matrix(l).residual(ex_, b, iterate.here, iterate.there));
      r = iterate.there;
    }
    PetscCall(correct(l, kind, r, iterate.here));
    PetscCall(smooth(l, after_, false, b, iterate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool recorded(CycleKind kind) const { return hierarchy_.recorded == CycleChoice{kind, std::is_same_v<V, float>}; }

  // x += P (coarse solution for Pᵀ r); on ranks that have no share of the coarser level the rest of its group solves it.
  PetscErrorCode correct(std::size_t l, CycleKind kind, const V *r, V *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    Level<Ex> *coarse = l + 1 < hierarchy_.levels.size() ? hierarchy_.levels[l + 1].get() : nullptr;
    Redistribution<Ex> *move = level.to_fewer.get();
    V *b = coarse ? coarse->b.template as<V>() : nullptr, *e = coarse ? coarse->x.template as<V>() : nullptr;

    PetscFunctionBegin;
    {
      const LogPhase logged(Phase::transfer);
      PetscCall(level.transfer->restrict_residual(ex_, r, move ? move->template part<V>() : b));
      if (move) PetscCall(move->collect(ex_, b));
    }
    if (coarse && !transposed && hierarchy_.recorded_below == l && recorded(kind))
      PetscCall(hierarchy_.recording.play(ex_, [&] { return solve_below(l, kind); }));
    else if (coarse)
      PetscCall(solve_below(l, kind));
    const LogPhase logged(Phase::transfer);
    if (move) PetscCall(move->template spread<V>(ex_, e));
    PetscCall(level.transfer->add_correction(ex_, move ? move->template part<V>() : e, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // x ~ A⁻¹ b on a coarse level, as the kind of cycle has it. b is overwritten.
  PetscErrorCode solve(std::size_t l, CycleKind kind, V *b, V *x)
  {
    if (!hierarchy_.levels[l]->transfer) return visit(l, kind, b, x);
    if (static_cast<PetscInt>(l) > parameters_.kcycle_levels) return visit(l, CycleKind::v, b, x);
    switch (kind) {
    case CycleKind::w:
      return twice(l, CycleKind::w, CycleKind::w, b, x);
    case CycleKind::f:
      return transposed ? twice(l, CycleKind::v, CycleKind::f, b, x) : twice(l, CycleKind::f, CycleKind::v, b, x);
    case CycleKind::k:
      if constexpr (!transposed) return krylov(l, b, x);
      break;
    case CycleKind::v:
    case CycleKind::automatic:
      break;
    }
    return visit(l, CycleKind::v, b, x);
  }

  // With the two visits' operators F and S: x = (F + S (I - A F)) b, whose transpose is S' + F' (I - A' S').
  PetscErrorCode twice(std::size_t l, CycleKind first, CycleKind second, V *b, V *x)
  {
    V *c = hierarchy_.levels[l]->kcycle.c.template as<V>();

    PetscFunctionBegin;
    PetscCall(visit(l, first, b, x));
    PetscCall(matrix(l).residual(ex_, b, x, b));
    PetscCall(visit(l, second, b, c));
    PetscCall(add(ex_, matrix(l).rows, c, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode krylov(std::size_t l, V *r, V *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    DistMatrix<Ex> &A = level.A;
    KCycle<Ex> &k = level.kcycle;
    const bool gcr = hierarchy_.kcycle_gcr;
    V *c1 = x, *v1 = k.v.template as<V>(), *c2 = k.c.template as<V>(), *v2 = level.work.template as<V>();
    double *work = k.work.data(), *sums = k.sums.data();

    PetscFunctionBegin;
    PetscCall(visit(l, CycleKind::k, r, c1));
    {
      const LogPhase logged(Phase::krylov);
      PetscCall(A.multiply(ex_, c1, v1));
      PetscCall(kcycle_first(ex_, A.rows, gcr ? v1 : c1, v1, r, work, sums));
      PetscCall(sum_over_ranks(ex_, A.comm, kcycle_first_sums, sums));
      PetscCall(kcycle_residual(ex_, A.rows, v1, sums, r));
    }
    PetscCall(visit(l, CycleKind::k, r, c2));
    const LogPhase logged(Phase::krylov);
    PetscCall(A.multiply(ex_, c2, v2));
    PetscCall(kcycle_second(ex_, A.rows, gcr ? v2 : c2, v1, v2, r, work, sums));
    PetscCall(sum_over_ranks(ex_, A.comm, kcycle_sums - kcycle_first_sums, sums + kcycle_first_sums));
    PetscCall(kcycle_combine(ex_, A.rows, sums, c2, c1));
    PetscCall(log_flops(ex_, 21.0 * A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Ex &ex_;
  Hierarchy<Ex> &hierarchy_;
  const AmgParameters &parameters_;
  PetscInt before_, after_;
};

// Collective
template <class Ex> PetscErrorCode make_transposes(Ex &ex, Hierarchy<Ex> &hierarchy)
{
  return attempt(hierarchy.levels.front()->A.comm, [&] {
    PetscFunctionBegin;
    for (auto &level : hierarchy.levels) {
      if (level->transposed) continue;
      auto made = std::make_unique<TransposedMatrix<Ex>>();
      PetscCall(made->create(ex, level->A));
      PetscCall(level->smoother.prepare_transposed(ex, level->A));
      level->transposed = std::move(made);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

// What is recorded.
template <class Ex> PetscErrorCode solve_below(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, std::size_t l)
{
  const CycleKind kind = hierarchy.recorded.kind;
  return hierarchy.recorded.single ? Cycle<Ex, DistMatrix<Ex>, float>(ex, hierarchy, parameters).solve_below(l, kind)
                                   : Cycle<Ex, DistMatrix<Ex>, double>(ex, hierarchy, parameters).solve_below(l, kind);
}
} // namespace

template <class Ex>
PetscErrorCode apply_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleChoice choice, const double *b,
                           double *x)
{
  Level<Ex> &finest = *hierarchy.levels.front();
  const DistMatrix<Ex> &A = finest.A;
  double *norm1 = hierarchy.norm1.data();
  float *b_single = finest.work.template as<float>() + A.rows, *x_single = finest.x.template as<float>();

  PetscFunctionBegin;
  if (choice.single) {
    PetscCall(norm1_of(ex, A.rows, b, hierarchy.norm1_work.data(), norm1));
    PetscCall(sum_over_ranks(ex, A.comm, 1, norm1));
    PetscCall(to_single(ex, A.rows, norm1, A.global_rows(), b, b_single));
    PetscCall(Cycle<Ex, DistMatrix<Ex>, float>(ex, hierarchy, parameters).visit(0, choice.kind, b_single, x_single));
    PetscCall(from_single(ex, A.rows, norm1, A.global_rows(), x_single, x));
  } else {
    PetscCall(Cycle<Ex, DistMatrix<Ex>, double>(ex, hierarchy, parameters).visit(0, choice.kind, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode apply_transposed_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleKind kind, const double *b,
                                      double *x)
{
  PetscFunctionBegin;
  PetscCall(make_transposes(ex, hierarchy));
  PetscCall(Cycle<Ex, TransposedMatrix<Ex>, double>(ex, hierarchy, parameters).visit(0, kind, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode record_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleChoice choice)
{
  PetscFunctionBegin;
  hierarchy.recorded_below = hierarchy.levels.size();
  if (!parameters.cuda_graph) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t l = 0; l + 1 < hierarchy.levels.size(); l++) {
    int size;
    PetscCallMPI(MPI_Comm_size(hierarchy.levels[l + 1]->A.comm, &size));
    if (size > 1) continue;
    // levels beyond kcycle_levels are visited by v-cycles alone
    hierarchy.recorded = {static_cast<PetscInt>(l) > parameters.kcycle_levels ? CycleKind::v : choice.kind, choice.single};
    PetscCall(hierarchy.recording.record(ex, [&] { return solve_below(ex, hierarchy, parameters, l); }));
    hierarchy.recorded_below = l;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode apply_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleChoice, const double *, double *);                \
  template PetscErrorCode apply_transposed_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind, const double *, double *);       \
  template PetscErrorCode record_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleChoice);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
