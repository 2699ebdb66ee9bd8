#include "dist/galerkin.hpp"

#include "dist/attempt.hpp"
#include "dist/ghost_numbers.hpp"
#include "sparse/rows/contract.hpp"
#include "sparse/rows/rearrange.hpp"

namespace amgkit
{
namespace
{
// Numbers the aggregates behind the ghosts: coarse.ghosts, and in place local ids -> columns of the coarse ghost block. A ghost in no
// aggregate stays -1.
template <class Ex> PetscErrorCode number_ghosts(Ex &ex, const DistMatrix<Ex> &A, GhostAggregates<Ex> &ghosts, DistMatrix<Ex> &coarse)
{
  std::vector<std::uint64_t> distinct;
  Array<std::uint64_t, Ex> key;

  PetscFunctionBegin;
  PetscCall(global_numbers(ex, A.range, A.ghosts, coarse.range, ghosts.column.data(), key));
  PetscCall(number_distinct(ex, key, static_cast<std::uint64_t>(coarse.global_rows()), ghosts.column.data(), distinct));
  coarse.ghosts.assign(distinct.begin(), distinct.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode complete_galerkin(Ex &ex, DistMatrix<Ex> &A, const Aggregation<Ex> &aggregation, const double *p, bool ones,
                                 GhostAggregates<Ex> &ghosts, DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  PetscCall(coarse.set_rows(A.comm, aggregation.coarse));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(ghosts.column.allocate(ex, static_cast<std::int64_t>(A.ghosts.size())));
    if (!ones) PetscCall(ghosts.weight.allocate(ex, static_cast<std::int64_t>(A.ghosts.size())));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (A.halo.active()) {
    PetscCall(A.halo.exchange_into(ex, static_cast<const int *>(aggregation.id.data()), ghosts.column));
    if (!ones) PetscCall(A.halo.exchange_into(ex, p, ghosts.weight));
  }
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(number_ghosts(ex, A, ghosts, coarse));
    PetscCall(contract(ex, A.offd, aggregation, p, ghosts.column.data(), ghosts.weight.data(), static_cast<int>(coarse.ghosts.size()),
                       coarse.own_offd, ghosts.slot));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(coarse.complete(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode galerkin_values(Ex &ex, const DistMatrix<Ex> &A, const Aggregation<Ex> &aggregation, const double *p,
                               const Array<unsigned char, Ex> &slot, const GhostAggregates<Ex> &ghosts, DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  PetscCall(contract_values(ex, A.diag, aggregation, p, aggregation.id.data(), p, slot, coarse.own_diag));
  PetscCall(contract_values(ex, A.offd, aggregation, p, ghosts.column.data(), ghosts.weight.data(), ghosts.slot, coarse.own_offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(complete_galerkin)
AMGKIT_INSTANTIATE(galerkin_values)
} // namespace amgkit
