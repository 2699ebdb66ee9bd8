#include "amg/cycle.hpp"

#include "amg/lanczos.hpp"
#include "amg/single_precision.hpp"
#include "amg/visit_cost.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"

#include <array>
#include <cmath>

namespace amgkit
{
// The walk over the levels. Operator: DistMatrix, or TransposedMatrix for the cycle for Aᵀ. V: float or double, the type of the vectors.
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

  // Takes steps of the k-cycle's method with the v-cycle on level l from a residual of random numbers. left: the factor by which a late
  // step reduces it, the geometric mean of the last two that are known, as large and small ones alternate; 0 where nothing is left.
  PetscErrorCode test_v_cycle(std::size_t l, double *left)
  {
    constexpr int last = kcycle_test_steps - 1, r_r = 2; // r·r, before the step, among the sums
    DistMatrix<Ex> &A = levels_[l]->A;
    KCycle<Ex> &k = vectors_[l].kcycle;
    V *r = vectors_[l].b.template as<V>(), *c = vectors_[l].x.template as<V>(), *v = k.v.template as<V>();
    std::array<double, kcycle_test_steps * kcycle_first_sums> sums{};

    PetscFunctionBegin;
    PetscCall(hash_vector(ex_, A.rows, A.range.first(), 3, vectors_[l].x.data()));
    if constexpr (std::is_same_v<V, float>)
      PetscCall(convert(ex_, A.rows, static_cast<const double *>(vectors_[l].x.data()), r));
    else
      PetscCall(memory_copy(ex_, r, c, static_cast<std::size_t>(A.rows) * sizeof(V)));
    for (int step = 0; step <= last; step++) {
      double *here = k.sums.data() + step * kcycle_first_sums;
      PetscCall(visit(l, CycleKind::v, Guess::zero, r, c));
      PetscCall(A.multiply(ex_, c, v, ProductSums<kcycle_first_sums, V>{cycle_.gcr_, r, nullptr, k.work.data(), here}));
      PetscCall(sum_over_ranks(ex_, A.comm, kcycle_first_sums, here));
      PetscCall(kcycle_residual(ex_, A.rows, v, here, r, FirstStep<V>{}));
    }
    PetscCall(memory_to_host(ex_, sums.data(), k.sums.data(), sizeof sums));
    const double late = sums[last * kcycle_first_sums + r_r], before = sums[(last - 2) * kcycle_first_sums + r_r];
    *left = late == 0 ? 0 : std::pow(late / before, 0.25);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // *share: what a step along the v-cycle's correction for r would remove, divided by what a step along x removes; x is the k-cycle's
  // correction for r. See VisitsOnTrial.
  PetscErrorCode compare_with_v_cycle(const V *r, const V *x, KCycle<Ex> &k, double *share)
  {
    DistMatrix<Ex> &A = levels_[0]->A;
    V *c = k.c.template as<V>(), *v = k.v.template as<V>();
    std::array<double, 2 * kcycle_first_sums> sums{};

    PetscFunctionBegin;
    PetscCall(visit(0, CycleKind::v, Guess::zero, r, c));
    for (const V *of : {x, static_cast<const V *>(c)}) {
      double *here = k.sums.data() + (of == x ? 0 : kcycle_first_sums);
      PetscCall(A.multiply(ex_, of, v, ProductSums<kcycle_first_sums, V>{cycle_.gcr_, r, nullptr, k.work.data(), here}));
    }
    PetscCall(sum_over_ranks(ex_, A.comm, 2 * kcycle_first_sums, k.sums.data()));
    PetscCall(memory_to_host(ex_, sums.data(), k.sums.data(), sizeof sums));
    const auto taken = [&](std::size_t at) { return sums[at + 1] / sums[at] * sums[at + 1]; };
    *share = taken(kcycle_first_sums) / taken(0);
    PetscFunctionReturn(PETSC_SUCCESS);
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

template <class Ex> PetscErrorCode Cycle<Ex>::prepare(Ex &ex)
{
  const ReleaseAtEnd<Ex> at_end(hierarchy_.finest);
  const bool first_time = vectors_.empty();
  vectors_.resize(hierarchy_.levels.size());
  if (first_time) kcycle_levels_ = parameters_.kcycle_levels > 0 ? parameters_.kcycle_levels : most_kcycle_levels;

  PetscFunctionBegin;
  PetscCall(attempt(hierarchy_.comm(), [&] { return hierarchy_.finest.access(ex, hierarchy_.levels.front()->A); }));
  recorded_for_ = {};
  transposes_made_ = false;
  for (Vectors &vectors : vectors_) vectors.transposed.reset();
  PetscCall(choose_form(ex));
  PetscCall(choose_precision(ex));
  if (!first_time) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(hierarchy_.comm(), [&] {
    PetscFunctionBegin;
    for (const auto &level : hierarchy_.levels) PetscCall(allocate(ex, *level));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(meet_peers(ex));
  PetscCall(choose_kcycle_levels(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over the ranks that hold level l, which is not the coarsest.
template <class Ex> PetscErrorCode Cycle<Ex>::test_v_cycle(Ex &ex, std::size_t l)
{
  double *left = &kcycle_tests_[l];
  return single_ ? Visits<Ex, DistMatrix<Ex>, float>(ex, *this).test_v_cycle(l, left)
                 : Visits<Ex, DistMatrix<Ex>, double>(ex, *this).test_v_cycle(l, left);
}

// Collective over all ranks. Levels 2 and 3 are tested, which are small; what is true of level 1 follows, unless it is the last but one.
// Rank 0, which has a share of all levels, knows what they cost, and decides.
template <class Ex> PetscErrorCode Cycle<Ex>::choose_kcycle_levels(Ex &ex)
{
  const std::size_t held = hierarchy_.levels.size(), coarsest = hierarchy_.statistics.size() - 1;
  std::array<double, 2> chosen = {0, 1}; // levels, and what an iteration costs in terms of one with a v-cycle

  PetscFunctionBegin;
  if (parameters_.kcycle_levels > 0 || parameters_.cycle_type == CycleKind::v) PetscFunctionReturn(PETSC_SUCCESS);
  kcycle_tests_.assign(std::min(coarsest, std::size_t{most_kcycle_levels}) + 1, 0);
  PetscCall(attempt(hierarchy_.comm(), [&] {
    PetscFunctionBegin;
    for (std::size_t l = coarsest > 2 ? 2 : 1; l < std::min({coarsest, kcycle_tests_.size(), held}); l++) PetscCall(test_v_cycle(ex, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (coarsest > 2) kcycle_tests_[1] = factor_above(kcycle_tests_[2], kcycle_tests_[3]);
  if (held > coarsest) {
    std::vector<VisitCost> cost;
    for (const auto &level : hierarchy_.levels) {
      cost.emplace_back();
      PetscCall(visit_cost<Ex>(*level, parameters_, {single_, hierarchy_.coarse_solver.sweeps()}, &cost.back()));
    }
    const int levels = worthwhile_kcycle_levels(cost, kcycle_tests_);
    chosen = {static_cast<double>(levels), iteration_cost(cost, levels) / iteration_cost(cost, 0)};
  }
  PetscCallMPI(MPI_Bcast(chosen.data(), 2, MPI_DOUBLE, 0, hierarchy_.comm()));
  kcycle_levels_ = static_cast<PetscInt>(chosen[0]);
  if (parameters_.cycle_type != CycleKind::automatic) kcycle_levels_ = std::max(kcycle_levels_, PetscInt{1});
  trial_ = VisitsOnTrial(chosen[1]);
  for (std::size_t l = static_cast<std::size_t>(kcycle_levels_) + 1; l < held; l++) vectors_[l].kcycle = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local. By the level's number, not its place: on ranks with a share these are the same.
template <class Ex> PetscErrorCode Cycle<Ex>::allocate(Ex &ex, const Level<Ex> &level)
{
  Vectors &vectors = vectors_[static_cast<std::size_t>(level.number)];

  PetscFunctionBegin;
  PetscCall(vectors.work.allocate(ex, level.A.rows));
  if (level.number == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, level.A.rows, vectors.x, vectors.b));
  if (parameters_.cycle_type != CycleKind::v && level.number <= kcycle_levels_) PetscCall(vectors.kcycle.allocate(ex, level.A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the user says of the matrix counts, else a test decides, for which the smoother's estimate may serve.
template <class Ex> PetscErrorCode Cycle<Ex>::choose_form(Ex &ex)
{
  const auto form = parameters_.kcycle_form;
  const auto cycle = parameters_.cycle_type;
  Level<Ex> &finest = *hierarchy_.levels.front();
  PetscBool known, symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  gcr_ = form == KCycleForm::gcr;
  // with fewer than three levels none is between the finest and the coarsest, where a k-cycle acts
  if ((cycle != CycleKind::k && cycle != CycleKind::automatic) || form != KCycleForm::automatic || hierarchy_.statistics.size() < 3)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(hierarchy_.finest.matrix(), &known, &symmetric));
  if (!known) {
    const std::optional<bool> seen = finest.smoother.symmetry();
    bool found = seen.value_or(false);
    if (!seen) PetscCall(test_symmetry(ex, finest.A, &found));
    symmetric = found ? PETSC_TRUE : PETSC_FALSE;
  }
  gcr_ = !symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The cycle may be in single precision when all its matrices are, the couplings to other ranks too, neither D⁻¹ nor R and P forbid it, and
// it pays; not where one level is all there is, which may be solved exactly.
template <class Ex> PetscErrorCode Cycle<Ex>::choose_precision(Ex &ex)
{
  const DistMatrix<Ex> &A = hierarchy_.levels.front()->A;
  const auto ranks = static_cast<PetscInt>(A.range.size()) - 1;
  const PetscInt rows = Ex::on_device ? A.global_rows() / ranks : PETSC_MAX_INT;
  int all = A.stored.single(); // a rank with an entry beyond floats has not

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, A.comm));
  finest_in_single_ = all != 0;
  single_ = false;
  floats_pay_ = rows >= parameters_.rows_worth_single;
  all = finest_in_single_ && Ex::sliced_rows && hierarchy_.statistics.size() > 1 && floats_pay_;
  rounding_pays_ = rows >= parameters_.rows_worth_rounding;
  for (const auto &look : {&Cycle::representable, &Cycle::prepare_single}) {
    if (!all) PetscFunctionReturn(PETSC_SUCCESS); // on all ranks
    bool fits = true;
    PetscCall(attempt(A.comm, [&] { return (this->*look)(ex, &fits); }));
    all = fits;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, A.comm));
  }
  single_ = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: whether all matrices of this rank can be read in single precision.
template <class Ex> PetscErrorCode Cycle<Ex>::representable(Ex &ex, bool *fits)
{
  PetscFunctionBegin;
  for (const auto &level : hierarchy_.levels) {
    *fits = *fits && level->A.stored.single();
    if (*fits && level->A.offd.nnz > 0) PetscCall(representable_in_single(ex, level->A.offd, fits));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what a cycle in single precision needs besides.
template <class Ex> PetscErrorCode Cycle<Ex>::prepare_single(Ex &ex, bool *fits)
{
  const int rows = hierarchy_.levels.front()->A.rows;
  Array<int, Ex> flag; // one for all levels, to wait once
  int unfit = 0;

  PetscFunctionBegin;
  PetscCall(flag.allocate(ex, 1));
  PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  for (const auto &level : hierarchy_.levels) {
    PetscCall(level->smoother.round_scaling(ex, flag.data()));
    if (*fits && level->transfer) PetscCall(level->transfer->prepare_single(ex, fits));
  }
  PetscCall(memory_to_host(ex, &unfit, flag.data(), sizeof unfit));
  *fits = *fits && unfit == 0;
  for (const auto &level : hierarchy_.levels) level->smoother.keep_rounded(*fits);
  if (!*fits || norm1_.size() > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(vectors_.front().x.allocate(ex, (rows + 1) / 2));
  PetscCall(norm1_work_.allocate(ex, sum_parts_of(rows)));
  PetscCall(norm1_.allocate(ex, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> CycleChoice Cycle<Ex>::choose(bool flexible, bool of_floats) const
{
  const auto kind = parameters_.cycle_type;
  const CycleKind twice = flexible ? CycleKind::k : CycleKind::w, automatic = kcycle_levels() > 0 ? twice : CycleKind::v;
  return {kind == CycleKind::automatic ? automatic : kind, flexible && single_ && (of_floats || rounding_pays_)};
}

// Collective. x = B b by a cycle of this kind. If a comparison is due, compares it with a v-cycle. Without memory for that, goes on.
template <class Ex> template <class V> PetscErrorCode Cycle<Ex>::compare_if_on_trial(Ex &ex, CycleKind kind, const V *b, const V *x)
{
  const DistMatrix<Ex> &A = hierarchy_.levels.front()->A;
  KCycle<Ex> memory;
  bool lacking = false;
  double share = 0;

  PetscFunctionBegin;
  if (!on_trial() || !trial_.comparing() || kind != CycleKind::k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(out_of_memory([&] { return attempt(A.comm, [&] { return memory.allocate(ex, A.rows); }); }, &lacking));
  if (!lacking) PetscCall(Visits<Ex, DistMatrix<Ex>, V>(ex, *this).compare_with_v_cycle(b, x, memory, &share));
  PetscCallMPI(MPI_Bcast(&share, 1, MPI_DOUBLE, 0, A.comm));
  trial_.compare(share);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Cycle<Ex>::apply(Ex &ex, CycleChoice choice, const double *b, double *x)
{
  const DistMatrix<Ex> &A = hierarchy_.levels.front()->A;
  Vectors &finest = vectors_.front();
  double *norm1 = norm1_.data();
  float *b_single = finest.work.template as<float>() + A.rows, *x_single = finest.x.template as<float>();

  PetscFunctionBegin;
  if (choice.single) {
    PetscCall(norm1_of(ex, A.rows, b, norm1_work_.data(), norm1));
    PetscCall(sum_over_ranks(ex, A.comm, 1, norm1));
    PetscCall(to_single(ex, A.rows, norm1, A.global_rows(), b, b_single));
    PetscCall(apply(ex, choice, Guess::zero, b_single, x_single));
    PetscCall(from_single(ex, A.rows, norm1, A.global_rows(), x_single, x));
  } else {
    if (choice != recorded_for_) PetscCall(choose_recording(choice));
    PetscCall(Visits<Ex, DistMatrix<Ex>, double>(ex, *this).visit(0, choice.kind, Guess::zero, b, x));
    PetscCall(compare_if_on_trial(ex, choice.kind, b, static_cast<const double *>(x)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> FirstStep<float> Cycle<Ex>::first_step(Ex &ex, float *x)
{
  return Visits<Ex, DistMatrix<Ex>, float>(ex, *this).first_step(0, x);
}

template <class Ex> PetscErrorCode Cycle<Ex>::apply(Ex &ex, CycleChoice choice, Guess guess, const float *b, float *x)
{
  PetscFunctionBegin;
  if (choice != recorded_for_) PetscCall(choose_recording(choice));
  PetscCall(Visits<Ex, DistMatrix<Ex>, float>(ex, *this).visit(0, choice.kind, guess, b, x));
  PetscCall(compare_if_on_trial(ex, choice.kind, b, static_cast<const float *>(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Cycle<Ex>::apply_transposed(Ex &ex, CycleKind kind, const double *b, double *x)
{
  PetscFunctionBegin;
  if (!transposes_made_) PetscCall(attempt(hierarchy_.comm(), [&] { return make_transposes(ex); }));
  transposes_made_ = true;
  PetscCall(Visits<Ex, TransposedMatrix<Ex>, double>(ex, *this).visit(0, kind, Guess::zero, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local
template <class Ex> PetscErrorCode Cycle<Ex>::make_transposes(Ex &ex)
{
  PetscFunctionBegin;
  for (std::size_t l = 0; l < vectors_.size(); l++) {
    Level<Ex> &level = *hierarchy_.levels[l];
    if (vectors_[l].transposed) continue;
    auto made = std::make_unique<TransposedMatrix<Ex>>();
    PetscCall(made->create(ex, level.A));
    PetscCall(level.smoother.prepare_transposed(ex, level.A, *made));
    vectors_[l].transposed = std::move(made);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Cycle<Ex>::bytes() const
{
  std::size_t total = norm1_work_.bytes() + norm1_.bytes();
  for (const Vectors &vectors : vectors_) total += vectors.bytes();
  return total;
}

AMGKIT_INSTANTIATE_TYPE(class, Cycle)
} // namespace amgkit
