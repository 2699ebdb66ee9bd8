#include "dist/halo.hpp"

#include "base/log.hpp"
#include "sparse/spmv.hpp"

#include <type_traits>

namespace amgkit
{
namespace
{
template <class T> MPI_Datatype mpi_type() { return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT; }
// PetscSFGetLeafRanks counts in PetscInt or PetscMPIInt, depending on PETSc's version.
template <class Count, class... Rest> Count count_of(PetscErrorCode (*)(PetscSF, Count *, Rest...));
using NeighbourCount = decltype(count_of(PetscSFGetLeafRanks));
template <class Ex> constexpr PetscMemType memory_type = Ex::on_device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
} // namespace

// by_row has the rows as roots; this makes sf_, whose roots are the entries of a send buffer that holds one contiguous piece a
// neighbour. Ghosts ascend, so the rows that one neighbour needs ascend on both sides: ghost number g of an owner is entry
// number g of the piece that the owner keeps for this rank.
template <class Ex> PetscErrorCode Halo<Ex>::pack_by_neighbour(PetscSF by_row, const std::vector<PetscInt> &ghosts, PetscLayout layout)
{
  MPI_Comm comm;
  int size;
  NeighbourCount neighbours;
  const PetscMPIInt *neighbour;
  const PetscInt *offset, *row;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm(reinterpret_cast<PetscObject>(by_row), &comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  std::vector<int> piece_for(static_cast<std::size_t>(size), 0), piece_at(static_cast<std::size_t>(size), 0);
  PetscCall(PetscSFGetLeafRanks(by_row, &neighbours, &neighbour, &offset, &row));
  rows_to_send_.assign(row, row + (neighbours > 0 ? offset[neighbours] : 0));
  for (NeighbourCount k = 0; k < neighbours; k++) piece_for[neighbour[k]] = static_cast<int>(offset[k]);
  PetscCallMPI(MPI_Alltoall(piece_for.data(), 1, MPI_INT, piece_at.data(), 1, MPI_INT, comm));

  std::vector<PetscSFNode> roots(ghosts.size());
  for (std::size_t g = 0; g < ghosts.size(); g++) {
    PetscMPIInt owner;
    PetscCall(PetscLayoutFindOwner(layout, ghosts[g], &owner));
    roots[g].rank = owner;
    roots[g].index = piece_at[owner]++;
  }
  PetscCall(PetscSFCreate(comm, &sf_));
  PetscCall(PetscSFSetGraph(sf_, static_cast<PetscInt>(rows_to_send_.size()), static_cast<PetscInt>(ghosts.size()), nullptr,
                            PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::create(MPI_Comm comm, PetscInt rows, const std::vector<PetscInt> &ghosts)
{
  PetscLayout layout;
  PetscSF by_row;
  int any = !ghosts.empty();

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&sf_));
  ghosts_ = static_cast<std::int64_t>(ghosts.size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(comm, rows, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &by_row));
  PetscCall(PetscSFSetGraphLayout(by_row, layout, static_cast<PetscInt>(ghosts.size()), nullptr, PETSC_COPY_VALUES, ghosts.data()));
  PetscCall(PetscSFSetUp(by_row));
  PetscCall(pack_by_neighbour(by_row, ghosts, layout));
  PetscCall(PetscSFDestroy(&by_row));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::allocate(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(upload(ex, rows_to_send_, send_row_));
  PetscCall(send_.allocate(ex, send_row_.size(), Memory::communicated));
  PetscCall(ghost_.allocate(ex, ghosts_, Memory::communicated));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Halo<Ex>::begin(Ex &ex, const T *owned)
{
  PetscFunctionBegin;
  if (!sf_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_begin(Phase::halo));
  PetscCall(gather(ex, send_row_.size(), send_row_.data(), owned, reinterpret_cast<T *>(send_.data())));
  PetscCall(PetscSFBcastWithMemTypeBegin(sf_, mpi_type<T>(), memory_type<Ex>, send_.data(), memory_type<Ex>, ghost_.data(), MPI_REPLACE));
  PetscCall(log_end(Phase::halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Halo<Ex>::end()
{
  PetscFunctionBegin;
  if (!sf_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_begin(Phase::halo));
  PetscCall(PetscSFBcastEnd(sf_, mpi_type<T>(), send_.data(), ghost_.data(), MPI_REPLACE));
  PetscCall(log_end(Phase::halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class Halo<Ex>;                                                                                                                 \
  template PetscErrorCode Halo<Ex>::begin(Ex &, const double *);                                                                           \
  template PetscErrorCode Halo<Ex>::begin(Ex &, const int *);                                                                              \
  template PetscErrorCode Halo<Ex>::end<double>();                                                                                         \
  template PetscErrorCode Halo<Ex>::end<int>();
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
