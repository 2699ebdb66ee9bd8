#include "amg/export.hpp"

#include "dist/attempt.hpp"

namespace amgkit
{
namespace
{
// One coarse level of this rank: its rows of A, of P and, where it is another matrix, of Rᵀ.
struct LevelRows {
  HostRows coarse, interpolation, restriction;
};

// Local
template <class Ex> PetscErrorCode download_operator(Ex &ex, const DistMatrix<Ex> &A, HostRows &out)
{
  Csr<double, Ex> room;
  CsrView<double> diag;

  PetscFunctionBegin;
  PetscCall(A.own_rows(ex, room, diag));
  PetscCall(download_rows(ex, {diag, A.offd, A.range.first(), &A.ghosts}, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Row i becomes row order[i].
void put_in_order(const std::vector<int> &order, HostRows &rows)
{
  HostRows sorted;
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); i++) place[static_cast<std::size_t>(order[i])] = i;
  for (const std::size_t i : place) {
    const auto begin = rows.ptr[i], end = rows.ptr[i + 1];
    sorted.col.insert(sorted.col.end(), rows.col.begin() + begin, rows.col.begin() + end);
    sorted.val.insert(sorted.val.end(), rows.val.begin() + begin, rows.val.begin() + end);
    sorted.ptr.push_back(static_cast<PetscInt>(sorted.col.size()));
  }
  rows = std::move(sorted);
}

// Local. coarse: as transfer makes it; global numbers are the same before and after a move. order: of the finer level's rows, nullptr where
// that is the user's.
template <class Ex>
PetscErrorCode download_transfer(Ex &ex, const Level<Ex> &fine, const DistMatrix<Ex> &coarse, const int *order, LevelRows &out)
{
  const Transfer<Ex> &transfer = *fine.transfer;
  std::vector<int> of_rows;

  PetscFunctionBegin;
  PetscCall(transfer.rows(ex, coarse.range.first(), out.interpolation));
  if (!transfer.restricts_by_transpose()) PetscCall(transfer.rows_of_restriction(ex, coarse.range.first(), out.restriction));
  if (!order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(download(ex, order, fine.A.rows, of_rows));
  put_in_order(of_rows, out.interpolation);
  if (!transfer.restricts_by_transpose()) put_in_order(of_rows, out.restriction);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

LevelMats::~LevelMats()
{
  for (std::vector<Mat> *mats : {&operators, &interpolations, &restrictions}) {
    for (Mat &mat : *mats) static_cast<void>(MatDestroy(&mat));
  }
}

template <class Ex> PetscErrorCode export_levels(Ex &ex, const Hierarchy<Ex> &hierarchy, MatType type, LevelMats &out)
{
  const auto &levels = hierarchy.levels;
  const auto &statistics = hierarchy.statistics;
  MPI_Comm comm = hierarchy.comm();

  PetscFunctionBegin;
  for (std::size_t l = 1; l < statistics.size(); l++) {
    const BlockSizes blocks = {statistics[l - 1].block_size, statistics[l].block_size};
    const Level<Ex> *fine = l <= levels.size() ? levels[l - 1].get() : nullptr, *level = l < levels.size() ? levels[l].get() : nullptr;
    const PetscInt rows = level ? level->A.rows : 0;
    LevelRows mine;
    PetscCall(attempt(comm, [&] {
      PetscFunctionBegin;
      if (fine)
        PetscCall(
            download_transfer(ex, *fine, fine->move ? fine->move->from->A : level->A, l == 1 ? hierarchy.finest.order() : nullptr, mine));
      if (level) PetscCall(download_operator(ex, level->A, mine.coarse));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    out.interpolations.push_back(nullptr);
    PetscCall(make_mat(comm, type, blocks, rows, mine.interpolation, &out.interpolations.back()));
    out.restrictions.push_back(nullptr);
    if (!levels.front()->transfer->restricts_by_transpose())
      PetscCall(make_mat(comm, type, blocks, rows, mine.restriction, &out.restrictions.back()));
    out.operators.push_back(nullptr);
    PetscCall(make_mat(comm, type, {blocks.cols, blocks.cols}, rows, mine.coarse, &out.operators.back()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(export_levels)
} // namespace amgkit
