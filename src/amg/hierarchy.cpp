#include "amg/hierarchy.hpp"

#include "amg/spectral_radius.hpp"
#include "base/log.hpp"
#include "dist/agree.hpp"
#include "dist/near_null.hpp"

#include <array>

namespace amgkit
{
namespace
{
// Coarsening has stalled when it keeps more than this share of the rows.
constexpr double stall = 0.8;

// Local: what coarse level l needs once its matrix is complete.
template <class Ex> PetscErrorCode finish_level(Ex &ex, const AmgParameters &parameters, std::size_t l, Level<Ex> &level)
{
  const auto cycle = static_cast<CycleKind>(parameters.cycle_type);

  PetscFunctionBegin;
  PetscCall(level.x.allocate(ex, level.A.rows));
  PetscCall(level.b.allocate(ex, level.A.rows));
  if (cycle != CycleKind::v && static_cast<PetscInt>(l) <= parameters.kcycle_levels) PetscCall(level.kcycle.allocate(ex, level.A.rows));
  PetscCall(level.analyse(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode Hierarchy<Ex>::build_finest(Ex &ex, Mat A, const AmgParameters &parameters, bool *out_of_memory)
{
  levels.push_back(std::make_unique<Level<Ex>>());
  Level<Ex> &level = *levels.front();
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(A, &bs));
  level.block_size = static_cast<int>(bs);
  PetscCall(finest.create(A, level.A));
  PetscCall(attempt(
      level.A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(finest.access(ex, level.A));
        PetscCall(level.A.allocate(ex));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(check_entries(ex, level.A, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(
      level.A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(level.smooth_vector.allocate(ex, level.A.rows));
        PetscCall(smooth_vector_of(ex, A, level.smooth_vector));
        PetscCall(level.analyse(ex, parameters));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Hierarchy<Ex>::build_coarser(Ex &ex, const AmgParameters &parameters, const Prolongation<Ex> &prolongation,
                                            bool *out_of_memory)
{
  PetscFunctionBegin;
  while (static_cast<PetscInt>(levels.size()) < parameters.max_levels && levels.back()->A.global_rows() > parameters.coarse_eq_limit) {
    Level<Ex> &fine = *levels.back();
    auto coarse = std::make_unique<Level<Ex>>();
    PetscCall(prolongation.build(ex, fine, *coarse, out_of_memory));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
    fine.forget_setup();
    // no rows at all: nothing here is coupled, and the smoother solves it
    if (coarse->A.global_rows() == 0 || static_cast<double>(coarse->A.global_rows()) > stall * static_cast<double>(fine.A.global_rows())) {
      fine.transfer.reset();
      break;
    }
    PetscCall(attempt(
        fine.A.comm, [&] { return finish_level(ex, parameters, levels.size(), *coarse); }, out_of_memory));
    levels.push_back(std::move(coarse));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the user says of the matrix counts, else a test decides.
template <class Ex> PetscErrorCode Hierarchy<Ex>::choose_kcycle(Ex &ex, Mat A, const AmgParameters &parameters, bool *out_of_memory)
{
  const auto form = static_cast<KCycleForm>(parameters.kcycle_form);
  const auto cycle = static_cast<CycleKind>(parameters.cycle_type);
  PetscBool known, symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  *out_of_memory = false;
  kcycle_gcr = form == KCycleForm::gcr;
  if ((cycle != CycleKind::k && cycle != CycleKind::automatic) || form != KCycleForm::automatic || levels.size() < 3)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if (!known) {
    bool found = false;
    PetscCall(test_symmetry(ex, levels.front()->A, &found, out_of_memory));
    symmetric = found ? PETSC_TRUE : PETSC_FALSE;
  }
  kcycle_gcr = !symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of all levels but the coarsest, which smooths only where it is not solved.
template <class Ex> PetscErrorCode Hierarchy<Ex>::prepare_smoothers(Ex &ex, const AmgParameters &parameters, bool *out_of_memory)
{
  PetscFunctionBegin;
  PetscCall(log_begin(Phase::spectrum));
  for (std::size_t l = 0; l + 1 < levels.size() && !*out_of_memory; l++) {
    PetscCall(levels[l]->smoother.prepare(ex, levels[l]->A, parameters, out_of_memory));
  }
  PetscCall(log_end(Phase::spectrum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::finish(Ex &ex, const AmgParameters &parameters, bool *out_of_memory)
{
  Level<Ex> &coarsest = *levels.back();

  PetscFunctionBegin;
  PetscCall(log_begin(Phase::coarse));
  PetscCall(coarse_solver.create(ex, coarsest, parameters, out_of_memory));
  if (!*out_of_memory && coarse_solver.smooths()) PetscCall(coarsest.smoother.prepare(ex, coarsest.A, parameters, out_of_memory));
  PetscCall(log_end(Phase::coarse));
  coarsest.diagonal.release(); // the smooth vector stays, for new values
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::count()
{
  PetscFunctionBegin;
  statistics.clear();
  for (const auto &level : levels) {
    std::array<double, 2> sums = {static_cast<double>(level->A.diag.nnz + level->A.offd.nnz), level->A.rows > 0 ? 1.0 : 0.0};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, level->A.comm));
    statistics.push_back({level->A.global_rows(), sums[0], static_cast<int>(sums[1])});
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Hierarchy<Ex>::build(Ex &ex, Mat A, const AmgParameters &parameters, const Prolongation<Ex> &prolongation,
                                    SetupStatus *status)
{
  bool out_of_memory = false;

  PetscFunctionBegin;
  *status = SetupStatus::ready;
  PetscCheck(parameters.sweeps_before() + parameters.sweeps_after() > 0, PetscObjectComm(reinterpret_cast<PetscObject>(A)),
             PETSC_ERR_ARG_OUTOFRANGE,
             "No sweep of the smoother, neither before nor after the coarse correction: raise pre_sweeps or post_sweeps");
  PetscCall(check_type_and_size(A));
  PetscCall(build_finest(ex, A, parameters, &out_of_memory));
  if (!out_of_memory) PetscCall(build_coarser(ex, parameters, prolongation, &out_of_memory));
  if (!out_of_memory) PetscCall(complete(ex, A, parameters, &out_of_memory));
  if (out_of_memory)
    *status = SetupStatus::out_of_memory;
  else
    PetscCall(count());
  PetscCall(trim(ex)); // not after refresh(): who sets up once more needs the memory again
  PetscCall(finest.release());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What follows when all levels have their matrices.
template <class Ex> PetscErrorCode Hierarchy<Ex>::complete(Ex &ex, Mat A, const AmgParameters &parameters, bool *out_of_memory)
{
  PetscFunctionBegin;
  PetscCall(prepare_smoothers(ex, parameters, out_of_memory));
  if (!*out_of_memory) PetscCall(choose_kcycle(ex, A, parameters, out_of_memory));
  if (!*out_of_memory) PetscCall(finish(ex, parameters, out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Hierarchy<Ex>::refresh(Ex &ex, Mat A, const AmgParameters &parameters, SetupStatus *status)
{
  bool out_of_memory = false;
  DistMatrix<Ex> &first = levels.front()->A;

  PetscFunctionBegin;
  *status = SetupStatus::ready;
  PetscCall(attempt(
      first.comm, [&] { return finest.access(ex, first); }, &out_of_memory));
  if (!out_of_memory) PetscCall(check_entries(ex, first, &out_of_memory));
  if (!out_of_memory) {
    PetscCall(attempt(
        first.comm,
        [&] {
          PetscFunctionBegin;
          for (std::size_t l = 0; l < levels.size(); l++) {
            if (l > 0) PetscCall(levels[l - 1]->transfer->refresh(ex, levels[l - 1]->A, levels[l]->A));
            PetscCall(levels[l]->analyse_again(ex, parameters));
            levels[l]->diagonal.release();
          }
          PetscFunctionReturn(PETSC_SUCCESS);
        },
        &out_of_memory));
  }
  if (!out_of_memory) PetscCall(complete(ex, A, parameters, &out_of_memory));
  if (out_of_memory) *status = SetupStatus::out_of_memory;
  PetscCall(finest.release());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Hierarchy<Ex>::bytes() const
{
  std::size_t total = finest.bytes() + coarse_solver.bytes();
  for (const auto &level : levels) total += level->bytes();
  return total;
}

#define INSTANTIATE(Ex) template struct Hierarchy<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
