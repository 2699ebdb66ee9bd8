// The walk of a cycle over the levels; included by the files of Cycle only.
#pragma once
#include "amg/cycle.hpp"
#include "base/log.hpp"
#include "dist/global_sum.hpp"

namespace amgkit
{
// Operator: DistMatrix, or TransposedMatrix for the cycle for Aᵀ. V: float or double, the type of the vectors.
template <class Ex, class Operator, class V> class Visits {
public:
  static constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;

  Visits(Ex &ex, Cycle<Ex> &cycle)
      : ex_(ex), cycle_(cycle), levels_(cycle.hierarchy_.levels), vectors_(cycle.vectors_), parameters_(cycle.parameters_),
        before_(transposed ? parameters_.sweeps_after() : parameters_.sweeps_before()),
        after_(transposed ? parameters_.sweeps_before() : parameters_.sweeps_after())
  {}

  // x = one cycle of this kind for A x = b on level l. guess: zero, or that first_step() has been taken
  PetscErrorCode visit(std::size_t l, CycleKind kind, Guess guess, const V *b, V *x)
  {
    return levels_[l]->transfer ? smooth_and_correct(l, kind, guess, b, x) : solve_coarsest(l, b, x);
  }

  // What visit(l, kind, Guess::first_step, b, x) wants to find done by whoever made b.
  FirstStep<V> first_step(std::size_t l, V *x)
  {
    if (transposed || !levels_[l]->transfer) return {};
    return levels_[l]->smoother.first_step(levels_[l]->A.rows, before_, iterate_to(l, x).here);
  }

  // What level l asks of the levels below.
  PetscErrorCode solve_below(std::size_t l, CycleKind kind)
  {
    V *b = vectors_[l + 1].b.template as<V>(), *x = vectors_[l + 1].x.template as<V>();
    return solve(l + 1, kind, guess_of(step_below(l)), b, x);
  }

private:
  Operator &matrix(std::size_t l)
  {
    if constexpr (transposed)
      return *vectors_[l].transposed;
    else
      return levels_[l]->A;
  }
  V *work(std::size_t l) { return vectors_[l].work.template as<V>(); }

  // Where the iterate of level l begins, so that it ends in x.
  Iterate<V> iterate_to(std::size_t l, V *x)
  {
    const Smoother<Ex> &smoother = levels_[l]->smoother;
    const bool odd = (smoother.flips(before_, Guess::zero) + smoother.flips(after_, Guess::given)) % 2 != 0;
    return odd ? Iterate<V>{work(l), x} : Iterate<V>{x, work(l)};
  }
  // The same of level l + 1, whose right-hand side level l restricts to, unless it goes to other ranks.
  FirstStep<V> step_below(std::size_t l)
  {
    if (levels_[l]->move || l + 1 == levels_.size()) return {};
    return first_step(l + 1, vectors_[l + 1].x.template as<V>());
  }
  static Guess guess_of(const FirstStep<V> &step) { return step.x ? Guess::first_step : Guess::zero; }

  PetscErrorCode solve_coarsest(std::size_t l, const V *b, V *x)
  {
    const LogLevelPhase logged(l, Phase::coarse);
    return cycle_.hierarchy_.coarse_solver.solve(ex_, matrix(l), levels_[l]->smoother, b, x, work(l));
  }

  PetscErrorCode smooth(std::size_t l, SweepOrder order, PetscInt sweeps, Guess guess, const V *b, Iterate<V> &x)
  {
    const LogLevelPhase logged(l, Phase::smooth);
    return levels_[l]->smoother.apply(ex_, matrix(l), order, sweeps, guess, b, x);
  }

  PetscErrorCode smooth_and_correct(std::size_t l, CycleKind kind, Guess guess, const V *b, V *x)
  {
    const V *r = b;
    Iterate<V> iterate = iterate_to(l, x);

    PetscFunctionBegin;
    PetscCall(smooth(l, SweepOrder::forward, before_, guess, b, iterate));
    if (before_ > 0) {
      const LogLevelPhase logged(l, Phase::transfer);
      PetscCall(levels_[l]->smoother.residual(ex_, matrix(l), before_, guess, b, iterate));
      r = iterate.there;
    }
    PetscCall(correct(l, kind, r, iterate.here));
    PetscCall(smooth(l, SweepOrder::backward, after_, Guess::given, b, iterate));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // x += P (coarse solution for R r), for Aᵀ: x += Rᵀ (... for Pᵀ r); on ranks that have no share of the coarser level the rest of its
  // group solves it.
  PetscErrorCode correct(std::size_t l, CycleKind kind, const V *r, V *x)
  {
    const bool shares = l + 1 < levels_.size();
    Redistribution<Ex> *way = levels_[l]->move ? &levels_[l]->move->way : nullptr;
    V *b = shares ? vectors_[l + 1].b.template as<V>() : nullptr, *e = shares ? vectors_[l + 1].x.template as<V>() : nullptr;

    PetscFunctionBegin;
    {
      const LogLevelPhase logged(l, Phase::transfer);
      PetscCall(restrict_residual(*levels_[l]->transfer, r, way ? way->template part<V>() : b, step_below(l)));
      if (way) PetscCall(way->collect(ex_, b));
    }
    if (shares && !transposed && cycle_.recorded_below_ == l && cycle_.choice_below_ == CycleChoice{kind, std::is_same_v<V, float>})
      PetscCall(cycle_.recording_.play(ex_, [&] { return solve_below(l, kind); }));
    else if (shares)
      PetscCall(solve_below(l, kind));
    const LogLevelPhase logged(l, Phase::transfer);
    if (way) PetscCall(way->template spread<V>(ex_, e));
    PetscCall(add_correction(*levels_[l]->transfer, way ? way->template part<V>() : e, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode restrict_residual(Transfer<Ex> &transfer, const V *r, V *b, const FirstStep<V> &step)
  {
    if constexpr (transposed)
      return transfer.restrict_transposed(ex_, r, b);
    else
      return transfer.restrict_residual(ex_, r, b, step);
  }
  PetscErrorCode add_correction(Transfer<Ex> &transfer, const V *e, V *x)
  {
    if constexpr (transposed)
      return transfer.add_transposed(ex_, e, x);
    else
      return transfer.add_correction(ex_, e, x);
  }

  // x ~ A⁻¹ b on a coarse level, as the kind of cycle has it; guess as in visit(). b is overwritten.
  PetscErrorCode solve(std::size_t l, CycleKind kind, Guess guess, V *b, V *x)
  {
    if (!levels_[l]->transfer) return visit(l, kind, guess, b, x);
    if (static_cast<PetscInt>(l) > cycle_.kcycle_levels_) return visit(l, CycleKind::v, guess, b, x);
    switch (kind) {
    case CycleKind::w:
      return twice(l, CycleKind::w, CycleKind::w, guess, b, x);
    case CycleKind::f:
      return transposed ? twice(l, CycleKind::v, CycleKind::f, guess, b, x) : twice(l, CycleKind::f, CycleKind::v, guess, b, x);
    case CycleKind::k:
      if constexpr (!transposed) return krylov(l, guess, b, x);
      break;
    case CycleKind::v:
    case CycleKind::automatic:
      break;
    }
    return visit(l, CycleKind::v, guess, b, x);
  }

  // With the two visits' operators F and S: x = (F + S (I - A F)) b, whose transpose is S' + F' (I - A' S').
  PetscErrorCode twice(std::size_t l, CycleKind first, CycleKind second, Guess guess, V *b, V *x)
  {
    V *c = vectors_[l].kcycle.c.template as<V>();

    PetscFunctionBegin;
    PetscCall(visit(l, first, guess, b, x));
    {
      const LogLevel logged(l);
      PetscCall(matrix(l).residual(ex_, b, x, b));
    }
    PetscCall(visit(l, second, Guess::zero, b, c));
    PetscCall(add(ex_, matrix(l).rows, c, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode krylov(std::size_t l, Guess guess, V *r, V *x)
  {
    DistMatrix<Ex> &A = levels_[l]->A;
    constexpr int more = kcycle_sums - kcycle_first_sums;
    KCycle<Ex> &k = vectors_[l].kcycle;
    const bool gcr = cycle_.gcr_;
    V *c1 = x, *v1 = k.v.template as<V>(), *c2 = k.c.template as<V>(), *v2 = work(l);
    double *parts = k.work.data(), *sums = k.sums.data();
    const FirstStep<V> second = first_step(l, c2);

    PetscFunctionBegin;
    PetscCall(visit(l, CycleKind::k, guess, r, c1));
    {
      const LogLevelPhase logged(l, Phase::krylov);
      PetscCall(A.multiply(ex_, c1, v1, ProductSums<kcycle_first_sums, V>{gcr, r, nullptr, parts, sums}));
      PetscCall(sum_over_ranks(ex_, A.comm, kcycle_first_sums, sums));
      PetscCall(kcycle_residual(ex_, A.rows, v1, sums, r, second));
    }
    PetscCall(visit(l, CycleKind::k, guess_of(second), r, c2));
    const LogLevelPhase logged(l, Phase::krylov);
    PetscCall(A.multiply(ex_, c2, v2, ProductSums<more, V>{gcr, r, v1, parts, sums + kcycle_first_sums}));
    PetscCall(sum_over_ranks(ex_, A.comm, more, sums + kcycle_first_sums));
    PetscCall(kcycle_combine(ex_, A.rows, sums, c2, c1));
    PetscCall(log_flops(ex_, 21.0 * A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Ex &ex_;
  Cycle<Ex> &cycle_;
  std::vector<std::unique_ptr<Level<Ex>>> &levels_;
  std::vector<typename Cycle<Ex>::Vectors> &vectors_;
  const AmgParameters &parameters_;
  PetscInt before_, after_;
};
} // namespace amgkit
