#include "amg/hierarchy.hpp"

#include "amg/fewer_ranks.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/locality.hpp"

#include <array>
#include <optional>

namespace amgkit
{
namespace
{
// What no matrix may have that is to be coarsened.
constexpr int unfit = row_faults | row_negative_diagonal;
// Coarsening has stalled when it keeps more than this share of the rows.
constexpr double stall = 0.8;

// Local: a level's matrix as the cycle reads it, unless it is stored, and D⁻¹, once all levels have theirs: it has then not stood beside
// what only the setup needs.
template <class Ex> PetscErrorCode store_matrix(Ex &ex, const AmgParameters &parameters, Level<Ex> &level)
{
  Array<double, Ex> diagonal;

  PetscFunctionBegin;
  PetscCall(level.A.store(ex, parameters.storage, level.blocks(parameters.storage), false));
  // amgclassical may give the finest level's D⁻¹ away while it coarsens. Elsewhere set_scaling() would forget a spectrum, which ranks
  // without rows still know.
  if (level.A.rows > 0 && !level.smoother.scaled()) PetscCall(level.analyse(ex, parameters, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// What ends with the setup.
template <class Ex> struct Hierarchy<Ex>::Setup {
  Ex &ex;
  const AmgParameters &parameters;
  Prolongation<Ex> &prolongation;
  LevelSetup<Ex> coarsest = {}; // of the level that is the coarsest one so far
};

template <class Ex> PetscErrorCode Hierarchy<Ex>::build(Ex &ex, Mat A, const AmgParameters &parameters, Prolongation<Ex> &prolongation)
{
  const ReleaseAtEnd<Ex> at_end(finest);
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  Setup setup = {ex, parameters, prolongation};

  PetscFunctionBegin;
  PetscCheck(parameters.sweeps_before() + parameters.sweeps_after() > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "No sweep of the smoother, neither before nor after the coarse correction: raise pre_sweeps or post_sweeps");
  PetscCheck(parameters.smoother != SmootherKind::gauss_seidel || GaussSeidel<Ex>::available, comm, PETSC_ERR_SUP,
             "The smoother gauss_seidel takes one row after the other, and is for matrices on CPUs: choose chebyshev on a GPU");
  PetscCall(check_type_and_size(A));
  PetscCall(build_finest(setup, A));
  PetscCall(build_coarser(setup));
  coarse_solver.set_smooth_vectors(prolongation.take_smooth_vectors());
  setup.coarsest = {};
  PetscCall(count());
  PetscCall(attempt(this->comm(), [&] {
    PetscFunctionBegin;
    for (auto &level : levels) {
      const LogLevel logged(level->number);
      PetscCall(store_matrix(ex, parameters, *level));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(prepare_smoothers(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the finest level is the user's matrix.
template <class Ex> PetscErrorCode Hierarchy<Ex>::build_finest(Setup &setup, Mat A)
{
  const bool in_single = Ex::sliced_rows && setup.parameters.storage == Storage::in_single;
  const LogLevel logged(0);
  auto level = std::make_unique<Level<Ex>>();
  LevelSetup<Ex> of_level;
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  level->block_size = static_cast<int>(bs);
  PetscCall(finest.create(A, level->A));
  levels.push_back(std::move(level));
  PetscCall(access_finest(setup.ex, of_level.diagonal));
  PetscCall(renumber_finest(setup, of_level.diagonal));
  PetscCall(attempt(comm(), [&] {
    Level<Ex> &first = *levels.front();
    PetscFunctionBegin;
    PetscCall(first.A.allocate(setup.ex));
    PetscCall(first.A.store_ahead(setup.ex, setup.parameters.storage, first.blocks(setup.parameters.storage)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(take_coarsest(setup, std::move(of_level)));
  PetscCall(levels.front()->find_ties(setup.ex, setup.parameters));
  PetscCall(setup.prolongation.begin(setup.ex, A, *levels.front(), setup.coarsest, in_single));
  if (finest.reordered())
    PetscCall(attempt(comm(), [&] { return finest.order() ? setup.prolongation.take_order(setup.ex, finest.order()) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: this rank's rows by clusters, where the user's numbering scatters what a row reads, and these scatter less; ordered: the diagonal
// then. Without the memory the user's order stays. numbering: this rank's.
template <class Ex>
PetscErrorCode Hierarchy<Ex>::renumber_own_rows(Setup &setup, const Array<double, Ex> &diagonal, Array<double, Ex> &ordered)
{
  constexpr double bad = 0.75, better = 0.8;
  const bool always = setup.parameters.renumber == Renumber::yes;
  Ex &ex = setup.ex;
  DistMatrix<Ex> &A = levels.front()->A;
  const int bs = levels.front()->block_size;
  auto if_there_is_memory = [](auto work) { return without_memory_go_on([&] { return attempt(PETSC_COMM_SELF, work); }); };
  auto measure = [&] {
    PetscFunctionBegin;
    PetscCall(scattered_share(ex, A.diag, bs, &numbering.given));
    numbering.measured = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  auto renumber = [&] {
    Array<int, Ex> order;
    PetscFunctionBegin;
    PetscCall(cluster_order(ex, A.diag, bs, order));
    PetscCall(ordered.allocate(ex, A.rows));
    PetscCall(gather(ex, A.rows, order.data(), diagonal.data(), ordered.data()));
    PetscCall(finest.renumber(ex, std::move(order), A));
    PetscCall(scattered_share(ex, A.diag, bs, &numbering.own));
    numbering.taken = always || numbering.own < better * numbering.given ? 1 : 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const std::size_t bytes = static_cast<std::size_t>(A.diag.nnz + A.offd.nnz) * (sizeof(double) + 2 * sizeof(int));
  bool spare = true;

  PetscFunctionBegin;
  const bool pays = bs == 1 && A.rows >= setup.parameters.rows_worth_renumbering; // blocks hide it: see share/amgkit/bench/NOTES.md
  if (A.rows == 0 || (!always && !pays)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(if_there_is_memory(measure));
  if (!numbering.measured || (!always && numbering.given < bad)) spare = false;
  if (spare && !always) PetscCall(memory_to_spare(ex, bytes, &spare));
  if (spare) PetscCall(if_there_is_memory(renumber));
  if (numbering.taken) PetscFunctionReturn(PETSC_SUCCESS);
  numbering.own = numbering.given;
  if (finest.order()) PetscCall(finest.forget_order(ex, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: numbering, of this rank so far, of all of them.
template <class Ex> PetscErrorCode Hierarchy<Ex>::sum_numbering()
{
  const double entries = numbering.measured ? static_cast<double>(levels.front()->A.diag.nnz) : 0;
  std::array<double, 5> sums = {static_cast<double>(numbering.measured), static_cast<double>(numbering.taken), entries,
                                entries * numbering.given, entries * numbering.own};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm()));
  numbering.measured = static_cast<int>(sums[0]);
  numbering.taken = static_cast<int>(sums[1]);
  numbering.given = sums[2] > 0 ? sums[3] / sums[2] : 0;
  numbering.own = sums[2] > 0 ? sums[4] / sums[2] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: each rank's rows may get an order of its own, which its neighbours' ghosts follow. Where some rank has no memory for that,
// the user's order stays on all.
template <class Ex> PetscErrorCode Hierarchy<Ex>::renumber_finest(Setup &setup, Array<double, Ex> &diagonal)
{
  DistMatrix<Ex> &A = levels.front()->A;
  Array<double, Ex> ordered;

  PetscFunctionBegin;
  if (!Ex::sliced_rows || setup.parameters.renumber == Renumber::no) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(comm(), [&] { return renumber_own_rows(setup, diagonal, ordered); }));
  PetscCall(sum_numbering());
  if (numbering.taken == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(without_memory_go_on([&] { return finest.renumber_ghosts(setup.ex, A); }));
  if (finest.reordered()) {
    if (finest.order()) diagonal = std::move(ordered);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  numbering.taken = 0;
  numbering.own = numbering.given;
  PetscCall(attempt(comm(), [&] { return finest.forget_order(setup.ex, A); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over the ranks of the coarsest level so far: all that are coarser.
template <class Ex> PetscErrorCode Hierarchy<Ex>::build_coarser(Setup &setup)
{
  const AmgParameters &parameters = setup.parameters;

  PetscFunctionBegin;
  const PetscInt limit = parameters.coarsening_limit<Ex>(levels.front()->A.global_rows());
  const auto goes_on = [&] { return levels.back()->A.global_rows() > (levels.back()->number == 0 ? parameters.finest_limit() : limit); };
  while (static_cast<PetscInt>(levels.size()) < parameters.max_levels && goes_on()) {
    Level<Ex> &fine = *levels.back();
    auto coarse = std::make_unique<Level<Ex>>();
    std::optional<LogLevel> logged(fine.number);
    LevelSetup<Ex> of_coarse;
    SmoothVectors<Ex> smooth; // of fine, where a dense solver may take it
    int ranks;
    coarse->number = fine.number + 1;
    if (CoarseSolver<Ex>::is_dense(parameters, fine.A))
      PetscCall(attempt(fine.A.comm, [&] { return setup.prolongation.copy_smooth_vectors(setup.ex, smooth); }));
    PetscCall(setup.prolongation.build(setup.ex, fine, setup.coarsest, *coarse, of_coarse));
    setup.coarsest = {};
    const auto rows = static_cast<double>(coarse->A.global_rows());
    // no rows at all: nothing here is coupled, and the smoother solves it
    const bool stalls = rows > stall * static_cast<double>(fine.A.global_rows());
    if (!of_coarse.sound || rows == 0 || stalls) {
      coarse_solver.set_reason(rows == 0 ? "no row is strongly coupled to others"
                               : stalls  ? "the next level would keep more than 80 % of them"
                                         : "the next level would have a diagonal with both signs, or entries that are not finite");
      fine.transfer.reset();
      setup.prolongation.give_back_smooth_vectors(std::move(smooth)); // in place of those of the level that there is not
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(attempt(fine.A.comm, [&] { return fold_if_large(setup.ex, parameters, fine); }));
    PetscCall(count_fewer_ranks(parameters, coarse->A, limit, &ranks));
    if (ranks > 0) {
      logged.reset();
      PetscCall(move_to_fewer(setup, fine, std::move(coarse), ranks));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    levels.push_back(std::move(coarse));
    logged.reset();
    PetscCall(take_coarsest(setup, std::move(of_coarse)));
  }
  coarse_solver.set_reason("max_levels allows no more levels"); // else a dense solver takes it
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over its ranks: the last level, the coarsest one so far, of which this is known.
template <class Ex> PetscErrorCode Hierarchy<Ex>::take_coarsest(Setup &setup, LevelSetup<Ex> of_level)
{
  Level<Ex> &level = *levels.back();
  const LogLevel logged(level.number);

  PetscFunctionBegin;
  setup.coarsest = std::move(of_level);
  PetscCall(attempt(level.A.comm, [&] { return level.analyse(setup.ex, setup.parameters, setup.coarsest.diagonal); }));
  PetscCall(level.A.halo.meet_peers(setup.ex)); // its vectors are exchanged many times from here on
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over fine's ranks: coarse goes to fewer ranks, which build what is coarser.
template <class Ex> PetscErrorCode Hierarchy<Ex>::move_to_fewer(Setup &setup, Level<Ex> &fine, std::unique_ptr<Level<Ex>> coarse, int ranks)
{
  auto moved = std::make_unique<Level<Ex>>();
  fine.move = std::make_unique<Move<Ex>>();
  Move<Ex> &move = *fine.move;
  moved->number = coarse->number;
  moved->block_size = coarse->block_size;
  move.from = std::move(coarse);

  PetscFunctionBegin;
  {
    const LogLevel logged(fine.number);
    PetscCall(move.way.create(setup.ex, move.from->A, ranks));
    PetscCall(move.way.move_matrix(setup.ex, move.from->A, &moved->A));
    PetscCall(setup.prolongation.move(setup.ex, move.way));
  }
  PetscCall(attempt(fine.A.comm, [&] {
    PetscFunctionBegin;
    if (!move.way.receives()) PetscFunctionReturn(PETSC_SUCCESS);
    levels.push_back(std::move(moved));
    PetscCall(take_coarsest(setup, {})); // its diagonal is read anew
    PetscCall(build_coarser(setup));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: a coarse matrix that is large beside the finest one goes into the cycle's format alone, as soon as the next coarser one is made of
// it: as compressed rows it would take twice as much memory again.
template <class Ex> PetscErrorCode Hierarchy<Ex>::fold_if_large(Ex &ex, const AmgParameters &parameters, Level<Ex> &level) const
{
  constexpr std::int64_t share = 30;

  PetscFunctionBegin;
  if (level.number == 0 || share * level.A.diag.nnz < levels.front()->A.diag.nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level.A.store(ex, parameters.storage, level.blocks(parameters.storage), true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::refresh(Ex &ex, const AmgParameters &parameters, bool *fits)
{
  const ReleaseAtEnd<Ex> at_end(finest);
  LevelSetup<Ex> of_level;
  int all;

  PetscFunctionBegin;
  *fits = true;
  PetscCall(access_finest(ex, of_level.diagonal));
  PetscCall(refresh_from(ex, parameters, 0, std::move(of_level), fits));
  all = *fits; // those know who hold the level in question
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm()));
  *fits = all != 0;
  if (*fits) PetscCall(prepare_smoothers(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over its ranks: levels from l on, whose matrix has its new values.
template <class Ex>
PetscErrorCode Hierarchy<Ex>::refresh_from(Ex &ex, const AmgParameters &parameters, std::size_t l, LevelSetup<Ex> of_level, bool *fits)
{
  Level<Ex> &level = *levels[l];
  Level<Ex> *coarse = l + 1 < levels.size() ? levels[l + 1].get() : nullptr;
  std::optional<LogLevel> logged(level.number);
  LevelSetup<Ex> of_coarse;

  PetscFunctionBegin;
  PetscCall(attempt(level.A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(level.analyse(ex, parameters, of_level.diagonal));
    PetscCall(level.A.store_values(ex, parameters.storage));
    if (level.transfer && !level.move) PetscCall(coarse->A.unfold(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (l == 0) PetscCall(level.find_ties(ex, parameters));
  if (!level.transfer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(level.transfer->refresh(ex, level, of_level, level.move ? level.move->from->A : coarse->A, of_coarse));
  *fits = of_coarse.sound;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  of_level = {};
  level.A.fold();
  if (!level.move) {
    logged.reset();
    PetscCall(refresh_from(ex, parameters, l + 1, std::move(of_coarse), fits));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(level.move->way.move_matrix(ex, level.move->from->A, coarse ? &coarse->A : nullptr));
  logged.reset();
  PetscCall(attempt(level.A.comm, [&] { return coarse ? refresh_from(ex, parameters, l + 1, {}, fits) : PETSC_SUCCESS; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective, until the caller releases it: the user's matrix, checked, and its diagonal.
template <class Ex> PetscErrorCode Hierarchy<Ex>::access_finest(Ex &ex, Array<double, Ex> &diagonal)
{
  DistMatrix<Ex> &A = levels.front()->A;
  const LogLevel logged(0);
  RowBounds bounds;

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(finest.take_values(ex));
    PetscCall(finest.access(ex, A));
    PetscCall(diagonal.allocate(ex, A.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_entries(ex, A, unfit, diagonal.data(), finest.order(), &bounds));
  levels.front()->bound = bounds.sum;
  levels.front()->coupling = bounds.coupling;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: what solves the coarsest level, and the smoothers of all others. Where a level's matrix is symmetric those of coarser levels
// are, as R is Pᵀ.
template <class Ex> PetscErrorCode Hierarchy<Ex>::prepare_smoothers(Ex &ex, const AmgParameters &parameters)
{
  PetscBool known, said = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(finest.matrix(), &known, &said));
  bool symmetric = known && said;
  PetscCall(attempt(comm(), [&] {
    const LogPhase logged(Phase::spectrum);
    PetscFunctionBegin;
    for (auto &level : levels) {
      if (!level->transfer) {
        level->smoother.untie();
        continue;
      }
      const LogLevel at(level->number);
      PetscCall(level->smoother.prepare(ex, level->A, parameters, level->bound, symmetric));
      symmetric = symmetric || (level->transfer->restricts_by_transpose() && level->smoother.symmetry().value_or(false));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(attempt(comm(), [&] {
    Level<Ex> &coarsest = *levels.back();
    const LogLevel at(coarsest.number);
    const LogPhase logged(Phase::coarse);
    PetscFunctionBegin;
    if (coarsest.transfer) PetscFunctionReturn(PETSC_SUCCESS); // other ranks hold it
    PetscCall(coarse_solver.create(ex, coarsest.A, coarsest.smoother, parameters, symmetric));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rank 0 has a share of every level.
template <class Ex> PetscErrorCode Hierarchy<Ex>::count()
{
  std::vector<double> sums;
  std::size_t n;

  PetscFunctionBegin;
  for (const auto &level : levels) {
    const Concession made = level->transfer ? level->transfer->concession() : Concession::none;
    std::array<double, 6> of = {static_cast<double>(level->A.rows),
                                static_cast<double>(level->A.diag.nnz + level->A.offd.nnz),
                                level->A.rows > 0 ? 1.0 : 0.0,
                                level->transfer && !level->transfer->in_blocks() ? 1.0 : 0.0,
                                made == Concession::single_rows ? 1.0 : 0.0,
                                made == Concession::any_coupling ? 1.0 : 0.0};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, of.data(), of.size(), MPI_DOUBLE, MPI_SUM, level->A.comm));
    sums.insert(sums.end(), of.begin(), of.end());
    sums.push_back(level->block_size);
  }
  n = sums.size();
  PetscCallMPI(MPI_Bcast(&n, sizeof n, MPI_BYTE, 0, comm()));
  sums.resize(n);
  PetscCallMPI(MPI_Bcast(sums.data(), static_cast<int>(n), MPI_DOUBLE, 0, comm()));
  statistics.clear();
  for (std::size_t k = 0; k < n; k += 7)
    statistics.push_back({static_cast<PetscInt>(sums[k]), sums[k + 1], static_cast<int>(sums[k + 2]), static_cast<int>(sums[k + 3]),
                          static_cast<int>(sums[k + 6]), static_cast<int>(sums[k + 4]), static_cast<int>(sums[k + 5])});
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> Hierarchy<Ex>::~Hierarchy()
{
  while (!levels.empty()) levels.pop_back(); // coarsest first: finer levels own its communicator
}

template <class Ex> std::string Hierarchy<Ex>::ended_early() const
{
  return !levels.back()->transfer && coarse_solver.too_large() ? coarse_solver.description() : "";
}

template <class Ex> std::size_t Hierarchy<Ex>::bytes() const
{
  std::size_t total = finest.bytes() + coarse_solver.bytes();
  for (const auto &level : levels) total += level->bytes();
  return total;
}

AMGKIT_INSTANTIATE_TYPE(struct, Hierarchy)
} // namespace amgkit
