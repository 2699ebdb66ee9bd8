#include "amg/preconditioner.hpp"

#include "amg/cycle.hpp"
#include "dist/user_space.hpp"
#include "dist/vec_view.hpp"

#include <petscviewer.h>

namespace amgkit
{
namespace
{
template <class Ex> class Solver final : public Preconditioner {
public:
  Solver(const AmgParameters &parameters, std::unique_ptr<Prolongation<Ex>> prolongation)
      : parameters_(parameters), prolongation_(std::move(prolongation))
  {}

  Ex ex;

  PetscErrorCode setup(Mat A) override
  {
    PetscFunctionBegin;
    hierarchy_ = std::make_unique<Hierarchy<Ex>>();
    PetscCall(hierarchy_->build(ex, A, parameters_, *prolongation_));
    prepared_ = {};
    flexible_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode can_refresh(Mat A, bool *possible) const override
  {
    PetscFunctionBegin;
    PetscCall(hierarchy_->finest.matches(A, possible));
    *possible = *possible && stands_where(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool stands_where(Mat A) const override { return amgkit::stands_where<Ex>(parameters_.space, A); }

  Mat matrix() const override { return hierarchy_->finest.matrix(); }
  PetscErrorCode check_matrix() const override { return hierarchy_->finest.check(); }
  PetscErrorCode check_rows(Vec x) const override { return check_layout(hierarchy_->levels.front()->A.range, x); }

  PetscErrorCode refresh(Mat A, bool *fits) override
  {
    PetscFunctionBegin;
    prepared_ = {};
    PetscCall(hierarchy_->refresh(ex, A, parameters_, fits));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode set_flexible(bool flexible) override
  {
    flexible_ = flexible;
    return PETSC_SUCCESS;
  }

  PetscErrorCode apply(Vec x, Vec y) override
  {
    PetscFunctionBegin;
    PetscCall(prepare());
    PetscCall(with_arrays(x, y, [&](const double *b, double *u) { return apply_cycle(ex, *hierarchy_, parameters_, prepared_, b, u); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode apply_transpose(Vec x, Vec y) override;

  PetscErrorCode make_mats(MatType, std::vector<Mat> &operators, std::vector<Mat> &interpolations) override;
  PetscErrorCode view(PetscViewer viewer) const override;
  const char *space() const override { return Ex::name; }

  PetscErrorCode close() override
  {
    PetscFunctionBegin;
    hierarchy_.reset();
    vectors_ = VecPair<Ex>{};
    PetscCall(amgkit::close(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  // f(x's entries, y's entries), with the finest matrix at hand.
  template <class F> PetscErrorCode with_arrays(Vec x, Vec y, F f)
  {
    return vectors_.with(ex, x, y, [&](const double *from, double *to) {
      const ReleaseAtEnd<Ex> at_end(hierarchy_->finest);

      PetscFunctionBegin;
      PetscCall(hierarchy_->finest.access(ex, hierarchy_->levels.front()->A));
      PetscCall(f(from, to));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }

  // The cycle to apply, recorded.
  PetscErrorCode prepare()
  {
    CycleChoice choice = {parameters_.cycle_type, flexible_ && hierarchy_->single};
    if (choice.kind == CycleKind::automatic) choice.kind = flexible_ ? CycleKind::k : CycleKind::w;

    PetscFunctionBegin;
    if (choice != prepared_) PetscCall(record_cycle(ex, *hierarchy_, parameters_, choice));
    prepared_ = choice;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool flexible_ = false;
  CycleChoice prepared_; // of kind automatic: none
  AmgParameters parameters_;
  std::unique_ptr<Prolongation<Ex>> prolongation_;
  std::unique_ptr<Hierarchy<Ex>> hierarchy_;
  VecPair<Ex> vectors_;
};

template <class Ex> PetscErrorCode Solver<Ex>::apply_transpose(Vec x, Vec y)
{
  const auto chosen = parameters_.cycle_type;
  MPI_Comm comm = hierarchy_->levels.front()->A.comm;

  PetscFunctionBegin;
  PetscCheck(chosen != CycleKind::k, comm, PETSC_ERR_SUP,
             "The k-cycle is not linear and has no transpose: use cycle_type auto, v, w or f with methods that need one");
  PetscCall(need_memory_for("the transposes of the levels' matrices", comm, [&] {
    return with_arrays(x, y, [&](const double *b, double *u) {
      return apply_transposed_cycle(ex, *hierarchy_, parameters_, chosen == CycleKind::automatic ? CycleKind::w : chosen, b, u);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Solver<Ex>::make_mats(MatType type, std::vector<Mat> &operators, std::vector<Mat> &interpolations)
{
  MPI_Comm comm = hierarchy_->levels.front()->A.comm;
  const Level<Ex> &first = *hierarchy_->levels.front();
  const PetscInt bs = first.block_size, coarse_bs = first.unknowns > 1 ? 1 : bs; // the unknown approach has no coarse blocks

  PetscFunctionBegin;
  for (std::size_t l = 1; l < hierarchy_->statistics.size(); l++) {
    HostRows prolongator, coarse;
    const Level<Ex> *fine = l <= hierarchy_->levels.size() ? hierarchy_->levels[l - 1].get() : nullptr;
    const Level<Ex> *level = l < hierarchy_->levels.size() ? hierarchy_->levels[l].get() : nullptr;
    PetscCall(attempt(comm, [&] {
      PetscFunctionBegin;
      if (fine) {
        const DistMatrix<Ex> &made =
            fine->unmoved ? fine->unmoved->A : hierarchy_->levels[l]->A; // global numbers are the same before and after the move
        int rank;
        PetscCallMPI(MPI_Comm_rank(made.comm, &rank));
        PetscCall(fine->transfer->rows(ex, made.first(rank), prolongator));
      }
      if (level) {
        int rank;
        Csr<double, Ex> room;
        PetscCallMPI(MPI_Comm_rank(level->A.comm, &rank));
        DistRows rows = rows_for_others(level->A, rank);
        PetscCall(level->A.compressed_rows(ex, room, rows.diag));
        PetscCall(download_rows(ex, rows, coarse));
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    interpolations.push_back(nullptr);
    PetscCall(make_mat(comm, type, {l == 1 ? bs : coarse_bs, coarse_bs}, level ? level->A.rows : 0, prolongator, &interpolations.back()));
    operators.push_back(nullptr);
    PetscCall(make_mat(comm, type, {coarse_bs, coarse_bs}, level ? level->A.rows : 0, coarse, &operators.back()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Solver<Ex>::view(PetscViewer viewer) const
{
  const auto &statistics = hierarchy_->statistics;
  double rows = 0, entries = 0, bytes = static_cast<double>(hierarchy_->bytes());

  PetscFunctionBegin;
  if (statistics.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const LevelStatistics &fine = statistics.front();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, hierarchy_->levels.front()->A.comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "level         rows       nonzeros  nnz/row  ranks  storage\n"));
  for (std::size_t l = 0; l < statistics.size(); l++) {
    const LevelStatistics &s = statistics[l];
    PetscCall(PetscViewerASCIIPrintf(viewer, "%5d %12" PetscInt_FMT " %14.0f %8.1f %6d  %s\n", static_cast<int>(l), s.rows, s.entries,
                                     s.rows > 0 ? s.entries / static_cast<double>(s.rows) : 0, s.active_ranks,
                                     l < hierarchy_->levels.size() ? hierarchy_->levels[l]->A.stored.description() : ""));
    rows += static_cast<double>(s.rows);
    entries += s.entries;
  }
  for (std::size_t l = 0; l < statistics.size() && l < hierarchy_->levels.size(); l++) {
    if (statistics[l].without_blocks > 0)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "level %d: not all entries of its blocks of %d are stored on %d of the ranks, whose products are slower\n",
          static_cast<int>(l), hierarchy_->levels[l]->block_size, statistics[l].without_blocks));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid complexity %.3f, operator complexity %.3f\n",
                                   fine.rows > 0 ? rows / static_cast<double>(fine.rows) : 1,
                                   fine.entries > 0 ? entries / fine.entries : 1));
  for (const auto &level : hierarchy_->levels) {
    if (const std::string trouble = level->smoother.trouble(); !trouble.empty())
      PetscCall(PetscViewerASCIIPrintf(viewer, "smoother of level %d: %s\n", level->number, trouble.c_str()));
  }
  if (hierarchy_->single) PetscCall(PetscViewerASCIIPrintf(viewer, "vectors of the cycle: single precision with flexible methods\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarsest level: %s\n", hierarchy_->coarse_solver.description().c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory of the hierarchy: %.1f MB, %.2f of the matrix's\n", bytes / 1e6,
                                   fine.entries > 0 ? bytes / (12 * fine.entries + 4 * static_cast<double>(fine.rows)) : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode make(MPI_Comm comm, const AmgParameters &parameters, std::unique_ptr<Prolongation<Ex>> prolongation,
                    std::unique_ptr<Preconditioner> &out)
{
  auto solver = std::make_unique<Solver<Ex>>(parameters, std::move(prolongation));
  Ex &ex = solver->ex;

  PetscFunctionBegin;
  out = std::move(solver); // whoever owns it closes it, also after an error
  PetscCall(open_on_all(comm, ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode make_preconditioner(Mat A, const AmgParameters &parameters, const Method &method, std::unique_ptr<Preconditioner> &out)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  return in_space_of(A, parameters.space, [&](auto space) { return make(comm, parameters, method.make(space), out); });
}
} // namespace amgkit
