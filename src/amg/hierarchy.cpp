#include "amg/hierarchy.hpp"

#include "amg/fewer_ranks.hpp"
#include "amg/spectral_radius.hpp"
#include "base/log.hpp"
#include "dist/agree.hpp"
#include "dist/near_null.hpp"
#include "sparse/modes.hpp"

#include <array>

namespace amgkit
{
namespace
{
// What no matrix may have that is to be coarsened.
constexpr int unfit = row_faults | row_negative_diagonal;
// Coarsening has stalled when it keeps more than this share of the rows.
constexpr double stall = 0.8;

// Local: a level's matrix as the cycle reads it, and D⁻¹, once all levels have theirs: it has then not stood beside what only the setup
// needs.
template <class Ex> PetscErrorCode store_matrix(Ex &ex, const AmgParameters &parameters, Level<Ex> &level)
{
  PetscFunctionBegin;
  if (!level.A.folded()) PetscCall(level.A.store(ex, parameters.storage, level.block_size, false));
  // A method may have needed D⁻¹'s memory for other things. Where it is there, or nothing, a spectrum that is known stays so, on all ranks.
  if (level.A.rows == 0 || level.smoother.scaled()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level.analyse(ex, parameters));
  level.diagonal.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: the cycle's vectors, last of all: what estimates spectra has gone.
template <class Ex> PetscErrorCode allocate_vectors(Ex &ex, const AmgParameters &parameters, Level<Ex> &level)
{
  const auto cycle = parameters.cycle_type;

  PetscFunctionBegin;
  PetscCall(level.work.allocate(ex, level.A.rows));
  if (level.number == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level.x.allocate(ex, level.A.rows));
  PetscCall(level.b.allocate(ex, level.A.rows));
  if (cycle != CycleKind::v && level.number <= parameters.kcycle_levels) PetscCall(level.kcycle.allocate(ex, level.A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode Hierarchy<Ex>::build_finest(Ex &ex, Mat A, const AmgParameters &parameters, const Prolongation<Ex> &prolongation)
{
  levels.push_back(std::make_unique<Level<Ex>>());
  Level<Ex> &level = *levels.front();
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  level.block_size = static_cast<int>(bs);
  level.in_single = Ex::sliced_rows && parameters.storage == Storage::in_single;
  PetscCall(finest.create(A, level.A));
  PetscCall(attempt(level.A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(finest.access(ex, level.A));
    PetscCall(level.A.allocate(ex));
    PetscCall(level.diagonal.allocate(ex, level.A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_entries(ex, level.A, unfit, level.diagonal.data()));
  PetscCall(attempt(level.A.comm, [&] { return level.analyse(ex, parameters); }));
  PetscCall(prolongation.begin(ex, A, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::add_level(Ex &ex, const AmgParameters &parameters, std::unique_ptr<Level<Ex>> level)
{
  Level<Ex> &added = *level;

  PetscFunctionBegin;
  PetscCall(attempt(added.A.comm, [&] { return added.analyse(ex, parameters); }));
  levels.push_back(std::move(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over fine's ranks. moved <- coarse on fewer ranks, nullptr on those that get no share of it.
template <class Ex>
PetscErrorCode Hierarchy<Ex>::move_to_fewer(Ex &ex, Level<Ex> &fine, std::unique_ptr<Level<Ex>> coarse, int ranks,
                                            std::unique_ptr<Level<Ex>> &moved)
{
  fine.to_fewer = std::make_unique<Redistribution<Ex>>();
  fine.unmoved = std::move(coarse);
  Redistribution<Ex> &move = *fine.to_fewer;
  Level<Ex> &from = *fine.unmoved;
  Array<double, Ex> column; // of the near-null space

  PetscFunctionBegin;
  PetscCall(move.create(ex, from.A, ranks));
  if (move.receives()) moved = std::make_unique<Level<Ex>>();
  PetscCall(move.move_matrix(ex, from.A, moved ? &moved->A : nullptr));
  PetscCall(attempt(fine.A.comm, [&] {
    PetscFunctionBegin;
    if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(moved->smooth_vector.allocate(ex, moved->A.rows));
    if (from.unknowns > 1) PetscCall(moved->unknown.allocate(ex, moved->A.rows));
    PetscCall(moved->near_null.B.allocate(ex, std::int64_t{moved->A.rows} * from.near_null.m));
    PetscCall(column.allocate(ex, from.near_null.m > 0 ? moved->A.rows : 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(memory_copy(ex, move.template part<double>(), from.smooth_vector.data(), from.smooth_vector.bytes()));
  PetscCall(move.template collect<double>(ex, moved ? moved->smooth_vector.data() : nullptr));
  if (from.unknowns > 1) {
    PetscCall(memory_copy(ex, move.template part<int>(), from.unknown.data(), from.unknown.bytes()));
    PetscCall(move.template collect<int>(ex, moved ? moved->unknown.data() : nullptr));
  }
  for (int k = 0; k < from.near_null.m; k++) {
    PetscCall(get_vector(ex, from.A.rows, from.near_null.m, k, from.near_null.B.data(), move.template part<double>()));
    PetscCall(move.template collect<double>(ex, column.data()));
    if (moved) PetscCall(set_vector(ex, moved->A.rows, column.data(), from.near_null.m, k, moved->near_null.B.data()));
  }
  if (moved) {
    moved->near_null.m = from.near_null.m;
    moved->number = from.number;
    moved->block_size = from.block_size;
    moved->in_single = from.in_single;
    moved->unknowns = from.unknowns;
    moved->uneven = from.uneven;
  }
  from.forget_setup();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: a coarse matrix that is large beside the finest one goes into the cycle's format alone, as soon as the next coarser one is made of
// it: as compressed rows it would take twice as much memory again.
template <class Ex> PetscErrorCode Hierarchy<Ex>::fold_if_large(Ex &ex, const AmgParameters &parameters, Level<Ex> &level)
{
  constexpr std::int64_t share = 30;

  PetscFunctionBegin;
  if (level.number == 0 || share * level.A.diag.nnz < levels.front()->A.diag.nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level.A.store(ex, parameters.storage, level.block_size, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Hierarchy<Ex>::build_coarser(Ex &ex, const AmgParameters &parameters, const Prolongation<Ex> &prolongation)
{
  PetscFunctionBegin;
  while (static_cast<PetscInt>(levels.size()) < parameters.max_levels && levels.back()->A.global_rows() > parameters.coarse_eq_limit) {
    Level<Ex> &fine = *levels.back();
    auto coarse = std::make_unique<Level<Ex>>();
    coarse->number = fine.number + 1;
    coarse->in_single = fine.in_single;
    PetscCall(prolongation.build(ex, fine, *coarse));
    fine.forget_setup();
    // no rows at all: nothing here is coupled, and the smoother solves it
    if (!coarse->sound || coarse->A.global_rows() == 0 ||
        static_cast<double>(coarse->A.global_rows()) > stall * static_cast<double>(fine.A.global_rows())) {
      fine.transfer.reset();
      break;
    }
    PetscCall(attempt(fine.A.comm, [&] { return fold_if_large(ex, parameters, fine); }));
    int ranks;
    PetscCall(count_fewer_ranks(parameters, coarse->A, &ranks));
    if (ranks > 0) {
      std::unique_ptr<Level<Ex>> moved;
      PetscCall(move_to_fewer(ex, fine, std::move(coarse), ranks, moved));
      PetscCall(attempt(fine.A.comm, [&] {
        PetscFunctionBegin;
        if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
        PetscCall(add_level(ex, parameters, std::move(moved)));
        PetscCall(build_coarser(ex, parameters, prolongation));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
      break;
    }
    PetscCall(add_level(ex, parameters, std::move(coarse)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the user says of the matrix counts, else a test decides, for which the smoother's estimate may serve.
template <class Ex> PetscErrorCode Hierarchy<Ex>::choose_kcycle(Ex &ex, Mat A, const AmgParameters &parameters)
{
  const auto form = parameters.kcycle_form;
  const auto cycle = parameters.cycle_type;
  PetscBool known, symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  kcycle_gcr = form == KCycleForm::gcr;
  if ((cycle != CycleKind::k && cycle != CycleKind::automatic) || form != KCycleForm::automatic || statistics.size() < 3)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if (const auto &spectrum = levels.front()->smoother.spectrum(); !known && spectrum) {
    symmetric = spectrum->symmetric ? PETSC_TRUE : PETSC_FALSE;
  } else if (!known) {
    bool found = false;
    PetscCall(test_symmetry(ex, levels.front()->A, &found));
    symmetric = found ? PETSC_TRUE : PETSC_FALSE;
  }
  kcycle_gcr = !symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of all levels but the coarsest, which smooths only where it is not solved.
template <class Ex> PetscErrorCode Hierarchy<Ex>::prepare_smoothers(Ex &ex, const AmgParameters &parameters)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::spectrum);
  for (auto &level : levels) {
    if (level->transfer) PetscCall(level->smoother.prepare(ex, level->A, parameters));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the ranks that hold the coarsest level.
template <class Ex> PetscErrorCode Hierarchy<Ex>::prepare_coarsest(Ex &ex, const AmgParameters &parameters)
{
  Level<Ex> &coarsest = *levels.back();

  PetscFunctionBegin;
  if (coarsest.transfer) PetscFunctionReturn(PETSC_SUCCESS);
  const LogPhase logged(Phase::coarse);
  PetscCall(coarse_solver.create(ex, coarsest, parameters));
  if (coarse_solver.smooths()) PetscCall(coarsest.smoother.prepare(ex, coarsest.A, parameters));
  coarsest.diagonal.release(); // the smooth vector stays, for new values
  coarsest.unknown.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rank 0 has a share of every level.
template <class Ex> PetscErrorCode Hierarchy<Ex>::count()
{
  MPI_Comm comm = levels.front()->A.comm;
  std::vector<double> sums;
  std::size_t n;

  PetscFunctionBegin;
  for (const auto &level : levels) {
    std::array<double, 4> of = {static_cast<double>(level->A.rows), static_cast<double>(level->A.diag.nnz + level->A.offd.nnz),
                                level->A.rows > 0 ? 1.0 : 0.0, level->transfer && !level->transfer->in_blocks() ? 1.0 : 0.0};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, of.data(), 4, MPI_DOUBLE, MPI_SUM, level->A.comm));
    sums.insert(sums.end(), of.begin(), of.end());
  }
  n = sums.size();
  PetscCallMPI(MPI_Bcast(&n, sizeof n, MPI_BYTE, 0, comm));
  sums.resize(n);
  PetscCallMPI(MPI_Bcast(sums.data(), static_cast<int>(n), MPI_DOUBLE, 0, comm));
  statistics.clear();
  for (std::size_t k = 0; k < n; k += 4)
    statistics.push_back({static_cast<PetscInt>(sums[k]), sums[k + 1], static_cast<int>(sums[k + 2]), static_cast<int>(sums[k + 3])});
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> Hierarchy<Ex>::~Hierarchy()
{
  while (!levels.empty()) levels.pop_back(); // coarsest first: finer levels own its communicator
}

template <class Ex>
PetscErrorCode Hierarchy<Ex>::build(Ex &ex, Mat A, const AmgParameters &parameters, const Prolongation<Ex> &prolongation)
{
  const ReleaseAtEnd<Ex> at_end(finest);

  PetscFunctionBegin;
  PetscCheck(parameters.sweeps_before() + parameters.sweeps_after() > 0, PetscObjectComm(reinterpret_cast<PetscObject>(A)),
             PETSC_ERR_ARG_OUTOFRANGE,
             "No sweep of the smoother, neither before nor after the coarse correction: raise pre_sweeps or post_sweeps");
  PetscCall(check_type_and_size(A));
  const std::future<bool> loading = CoarseSolver<Ex>::load(ex, PetscObjectComm(reinterpret_cast<PetscObject>(A)), parameters);
  PetscCall(build_finest(ex, A, parameters, prolongation));
  PetscCall(build_coarser(ex, parameters, prolongation));
  PetscCall(count());
  PetscCall(attempt_on_levels([&](Level<Ex> &level) { return store_matrix(ex, parameters, level); }));
  PetscCall(complete(ex, A, parameters));
  PetscCall(attempt_on_levels([&](Level<Ex> &level) { return allocate_vectors(ex, parameters, level); }));
  PetscCall(trim(ex)); // not after refresh(): who sets up once more needs the memory again
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The cycle may be in single precision when all its matrices are, the couplings to other ranks too, neither D⁻¹ nor P forbids it, and it
// pays; not where one level is all there is, which may be solved exactly. Collective, once smoothers and prolongators are there.
template <class Ex> PetscErrorCode Hierarchy<Ex>::choose_precision(Ex &ex, const AmgParameters &parameters)
{
  Level<Ex> &first = *levels.front();
  const auto ranks = static_cast<PetscInt>(first.A.range.size()) - 1;
  const bool pays = !Ex::on_device || first.A.global_rows() / ranks >= parameters.rows_worth_single;
  int all = Ex::sliced_rows && statistics.size() > 1 && pays;

  PetscFunctionBegin;
  single = false;
  for (const auto &look : {&Hierarchy::representable, &Hierarchy::prepare_single}) {
    if (!all) PetscFunctionReturn(PETSC_SUCCESS); // on all ranks
    bool fits = true;
    PetscCall(attempt(first.A.comm, [&] { return (this->*look)(ex, &fits); }));
    all = fits;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, first.A.comm));
  }
  single = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: whether all matrices of this rank can be read in single precision.
template <class Ex> PetscErrorCode Hierarchy<Ex>::representable(Ex &ex, bool *fits)
{
  PetscFunctionBegin;
  for (const auto &level : levels) {
    *fits = *fits && level->A.stored.single();
    if (*fits && level->A.offd.nnz > 0) PetscCall(representable_in_single(ex, level->A.offd, fits));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what a cycle in single precision needs besides.
template <class Ex> PetscErrorCode Hierarchy<Ex>::prepare_single(Ex &ex, bool *fits)
{
  Level<Ex> &first = *levels.front();

  PetscFunctionBegin;
  for (std::size_t l = 0; *fits && l < levels.size(); l++) {
    PetscCall(levels[l]->smoother.prepare_single(ex, fits));
    if (*fits && levels[l]->transfer) PetscCall(levels[l]->transfer->prepare_single(ex, fits));
  }
  if (!*fits || norm1.size() > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(first.x.allocate(ex, (first.A.rows + 1) / 2));
  PetscCall(norm1_work.allocate(ex, sum_parts_of(first.A.rows)));
  PetscCall(norm1.allocate(ex, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: work, which is local, on the levels of this rank.
template <class Ex> PetscErrorCode Hierarchy<Ex>::attempt_on_levels(const std::function<PetscErrorCode(Level<Ex> &)> &work)
{
  PetscFunctionBegin;
  PetscCall(attempt(levels.front()->A.comm, [&] {
    PetscFunctionBegin;
    for (const auto &level : levels) PetscCall(work(*level));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What follows when all levels have their matrices, and the cycle can read them.
template <class Ex> PetscErrorCode Hierarchy<Ex>::complete(Ex &ex, Mat A, const AmgParameters &parameters)
{
  using Step = PetscErrorCode (Hierarchy::*)(Ex &, const AmgParameters &);
  MPI_Comm comm = levels.front()->A.comm;

  PetscFunctionBegin;
  for (const Step step : {&Hierarchy::prepare_smoothers, &Hierarchy::prepare_coarsest}) {
    PetscCall(attempt(comm, [&] { return (this->*step)(ex, parameters); }));
  }
  PetscCall(choose_kcycle(ex, A, parameters));
  PetscCall(choose_precision(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Levels from this one on, whose matrix has its new values. Collective over its ranks.
template <class Ex> PetscErrorCode Hierarchy<Ex>::refresh_from(Ex &ex, const AmgParameters &parameters, std::size_t l)
{
  MPI_Comm comm = levels[l]->A.comm;
  Level<Ex> *moving = nullptr; // the level whose coarser one goes to fewer ranks

  PetscFunctionBegin;
  for (; l < levels.size() && !moving; l++) {
    Level<Ex> &level = *levels[l];
    level.transposed.reset();
    PetscCall(attempt(comm, [&] {
      PetscFunctionBegin;
      PetscCall(level.analyse(ex, parameters));
      PetscCall(level.A.store_values(ex, parameters.storage));
      if (level.transfer && !level.to_fewer) PetscCall(levels[l + 1]->A.unfold(ex));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (!level.transfer) PetscFunctionReturn(PETSC_SUCCESS);
    bool sound = true;
    PetscCall(level.transfer->refresh(ex, level, level.to_fewer ? level.unmoved->A : levels[l + 1]->A, &sound));
    outdated_ = !sound;
    if (outdated_) PetscFunctionReturn(PETSC_SUCCESS);
    level.diagonal.release();
    level.A.fold();
    if (level.to_fewer) moving = &level;
  }
  Level<Ex> *moved = l < levels.size() ? levels[l].get() : nullptr;
  PetscCall(moving->to_fewer->move_matrix(ex, moving->unmoved->A, moved ? &moved->A : nullptr));
  PetscCall(attempt(comm, [&] { return moved ? refresh_from(ex, parameters, l) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::refresh(Ex &ex, Mat A, const AmgParameters &parameters, bool *fits)
{
  const ReleaseAtEnd<Ex> at_end(finest);
  Level<Ex> &first = *levels.front();
  int outdated;

  PetscFunctionBegin;
  PetscCall(attempt(first.A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(finest.access(ex, first.A));
    PetscCall(first.diagonal.allocate(ex, first.A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_entries(ex, first.A, unfit, first.diagonal.data()));
  outdated_ = false;
  PetscCall(refresh_from(ex, parameters, 0));
  outdated = outdated_; // those know who hold the level in question
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outdated, 1, MPI_INT, MPI_MAX, first.A.comm));
  *fits = !outdated;
  if (*fits) PetscCall(complete(ex, A, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Hierarchy<Ex>::bytes() const
{
  std::size_t total = finest.bytes() + coarse_solver.bytes() + norm1_work.bytes() + norm1.bytes();
  for (const auto &level : levels) total += level->bytes();
  return total;
}

#define INSTANTIATE(Ex) template struct Hierarchy<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
