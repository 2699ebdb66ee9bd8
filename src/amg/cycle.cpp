#include "amg/cycle.hpp"

#include "amg/single_precision.hpp"
#include "amg/visits.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"

namespace amgkit
{
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
// it pays; not where one level is all there is, which may be solved exactly. On how they read the finest matrix, ranks agree in one call.
template <class Ex> PetscErrorCode Cycle<Ex>::choose_precision(Ex &ex)
{
  const DistMatrix<Ex> &A = hierarchy_.levels.front()->A;
  const auto ranks = static_cast<PetscInt>(A.range.size()) - 1;
  const PetscInt rows = Ex::on_device ? A.global_rows() / ranks : PETSC_MAX_INT;
  std::array<int, 2> stored = {A.stored.single(), // a rank with an entry beyond floats has not
                               A.diag.nnz == 0 || A.stored.block_columns()};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, stored.data(), 2, MPI_INT, MPI_MIN, A.comm));
  finest_in_single_ = stored[0] != 0;
  finest_by_blocks_ = stored[1] != 0;
  single_ = false;
  floats_pay_ = rows >= parameters_.rows_worth_single;
  int all = finest_in_single_ && Ex::sliced_rows && hierarchy_.statistics.size() > 1 && floats_pay_;
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
  const bool steady = on_trial() && trial_.steady();
  const CycleKind twice = flexible && !steady ? CycleKind::k : CycleKind::w, automatic = kcycle_levels() > 0 ? twice : CycleKind::v;
  return {kind == CycleKind::automatic ? automatic : kind, flexible && single_ && (of_floats || rounding_pays_)};
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
