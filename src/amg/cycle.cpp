#include "amg/cycle.hpp"

#include "base/log.hpp"
#include "dist/global_sum.hpp"

namespace amgkit
{
namespace
{
template <class Ex> class Cycle {
public:
  Cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleKind kind)
      : ex_(ex), hierarchy_(hierarchy), parameters_(parameters), kind_(kind)
  {}

  // What the finest level asks of the levels below.
  PetscErrorCode solve_below_finest()
  {
    Level<Ex> &coarse = *hierarchy_.levels[1];
    return solve(1, kind_, coarse.b.data(), coarse.x.data());
  }

  // x = one cycle of this kind for A x = b on level l
  PetscErrorCode visit(std::size_t l, CycleKind kind, const double *b, double *x)
  {
    PetscFunctionBegin;
    if (coarsest(l)) {
      PetscCall(log_begin(Phase::coarse));
      PetscCall(hierarchy_.coarse_solver.solve(ex_, *hierarchy_.levels[l], b, x));
      PetscCall(log_end(Phase::coarse));
    } else {
      PetscCall(smooth_and_correct(l, kind, b, x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  bool coarsest(std::size_t l) const { return l + 1 == hierarchy_.levels.size(); }

  PetscErrorCode smooth(Level<Ex> &level, PetscInt sweeps, bool zero_guess, const double *b, Iterate &x)
  {
    PetscFunctionBegin;
    PetscCall(log_begin(Phase::smooth));
    PetscCall(level.smoother.apply(ex_, level.A, sweeps, zero_guess, b, x));
    PetscCall(log_end(Phase::smooth));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode smooth_and_correct(std::size_t l, CycleKind kind, const double *b, double *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l], &coarse = *hierarchy_.levels[l + 1];
    const PetscInt before = parameters_.sweeps_before(), after = parameters_.sweeps_after();
    Iterate iterate{level.A.work.data(), x};
    if ((level.smoother.flips(before, true) + level.smoother.flips(after, false)) % 2 == 0) std::swap(iterate.here, iterate.there);

    PetscFunctionBegin;
    PetscCall(smooth(level, before, true, b, iterate));
    PetscCall(log_begin(Phase::transfer));
    if (before > 0) PetscCall(level.A.residual(ex_, b, iterate.here, iterate.there));
    PetscCall(level.transfer->restrict_residual(ex_, before > 0 ? iterate.there : b, coarse.b.data()));
    PetscCall(log_end(Phase::transfer));
    PetscCall(l == 0 ? hierarchy_.coarse_recording.play(ex_, [&] { return solve_below_finest(); })
                     : solve(l + 1, kind, coarse.b.data(), coarse.x.data()));
    PetscCall(log_begin(Phase::transfer));
    PetscCall(level.transfer->add_correction(ex_, coarse.x.data(), iterate.here));
    PetscCall(log_end(Phase::transfer));
    PetscCall(smooth(level, after, false, b, iterate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // x ~ A⁻¹ b on a coarse level, as the kind of cycle has it. b is overwritten.
  PetscErrorCode solve(std::size_t l, CycleKind kind, double *b, double *x)
  {
    if (coarsest(l)) return visit(l, kind, b, x);
    if (static_cast<PetscInt>(l) > parameters_.kcycle_levels) return visit(l, CycleKind::v, b, x);
    switch (kind) {
    case CycleKind::w:
      return twice(l, CycleKind::w, b, x);
    case CycleKind::f:
      return twice(l, CycleKind::v, b, x);
    case CycleKind::k:
      return krylov(l, b, x);
    case CycleKind::v:
    case CycleKind::automatic:
      break;
    }
    return visit(l, CycleKind::v, b, x);
  }

  PetscErrorCode twice(std::size_t l, CycleKind second, double *b, double *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    PetscFunctionBegin;
    PetscCall(visit(l, second == CycleKind::w ? CycleKind::w : CycleKind::f, b, x));
    PetscCall(level.A.residual(ex_, b, x, b));
    PetscCall(visit(l, second, b, level.kcycle.c.data()));
    PetscCall(add(ex_, level.A.rows, level.kcycle.c.data(), x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode krylov(std::size_t l, double *r, double *x)
  {
    Level<Ex> &level = *hierarchy_.levels[l];
    DistMatrix<Ex> &A = level.A;
    KCycle<Ex> &k = level.kcycle;
    const bool gcr = hierarchy_.kcycle_gcr;
    double *c1 = x, *v1 = k.v.data(), *c2 = k.c.data(), *v2 = A.work.data(), *work = k.work.data(), *sums = k.sums.data();

    PetscFunctionBegin;
    PetscCall(visit(l, CycleKind::k, r, c1));
    PetscCall(log_begin(Phase::krylov));
    PetscCall(A.multiply(ex_, c1, v1));
    PetscCall(kcycle_first(ex_, A.rows, gcr ? v1 : c1, v1, r, work, sums));
    PetscCall(sum_over_ranks(ex_, A.comm, kcycle_first_sums, sums));
    PetscCall(kcycle_residual(ex_, A.rows, v1, sums, r));
    PetscCall(log_end(Phase::krylov));
    PetscCall(visit(l, CycleKind::k, r, c2));
    PetscCall(log_begin(Phase::krylov));
    PetscCall(A.multiply(ex_, c2, v2));
    PetscCall(kcycle_second(ex_, A.rows, gcr ? v2 : c2, v1, v2, r, work, sums));
    PetscCall(sum_over_ranks(ex_, A.comm, kcycle_sums - kcycle_first_sums, sums + kcycle_first_sums));
    PetscCall(kcycle_combine(ex_, A.rows, sums, c2, c1));
    PetscCall(log_flops(ex_, 21.0 * A.rows));
    PetscCall(log_end(Phase::krylov));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Ex &ex_;
  Hierarchy<Ex> &hierarchy_;
  const AmgParameters &parameters_;
  CycleKind kind_;
};
} // namespace

template <class Ex>
PetscErrorCode apply_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleKind kind, const double *b, double *x)
{
  return Cycle<Ex>(ex, hierarchy, parameters, kind).visit(0, kind, b, x);
}

template <class Ex> PetscErrorCode record_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, const AmgParameters &parameters, CycleKind kind)
{
  Cycle<Ex> cycle(ex, hierarchy, parameters, kind);
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(hierarchy.levels.front()->A.comm, &size));
  if (size == 1 && hierarchy.levels.size() > 1 && parameters.cuda_graph)
    PetscCall(hierarchy.coarse_recording.record(ex, [&] { return cycle.solve_below_finest(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode apply_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind, const double *, double *);                  \
  template PetscErrorCode record_cycle(Ex &, Hierarchy<Ex> &, const AmgParameters &, CycleKind);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
