#include "dist/halo.hpp"

#include "base/log.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode Halo<Ex>::create(MPI_Comm comm, PetscInt rows, const std::vector<PetscInt> &ghosts)
{
  PetscLayout layout;
  int any = !ghosts.empty();

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&sf_));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(comm, rows, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &sf_));
  PetscCall(PetscSFSetGraphLayout(sf_, layout, static_cast<PetscInt>(ghosts.size()), nullptr, PETSC_COPY_VALUES, ghosts.data()));
  PetscCall(PetscSFSetUp(sf_));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::begin(MPI_Datatype type, const void *owned, void *ghost) const
{
  constexpr PetscMemType where = Ex::on_device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  if (!sf_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_begin(Phase::halo));
  PetscCall(PetscSFBcastWithMemTypeBegin(sf_, type, where, owned, where, ghost, MPI_REPLACE));
  PetscCall(log_end(Phase::halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::end(MPI_Datatype type, const void *owned, void *ghost) const
{
  PetscFunctionBegin;
  if (!sf_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(log_begin(Phase::halo));
  PetscCall(PetscSFBcastEnd(sf_, type, owned, ghost, MPI_REPLACE));
  PetscCall(log_end(Phase::halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex) template class Halo<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
