// Sums over all ranks of values that stand in a space's memory.
#pragma once
#include "base/array.hpp"
#include "dist/peers.hpp"

#include <vector>

namespace amgkit
{
// Collective. x[k] <- sum over the ranks, k < n. On one rank nothing happens. There, and where GPUs are peers, the host does not wait.
template <class Ex> PetscErrorCode sum_over_ranks(Ex &ex, MPI_Comm comm, int n, double *x)
{
  const auto bytes = static_cast<std::size_t>(n) * sizeof(double);
  std::vector<double> sums;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if constexpr (Ex::on_device) {
    Peers *peers;
    PetscCall(peers_of(ex, comm, &peers));
    if (peers && n <= most_peer_sums) {
      PetscCall(peers->sum(ex, n, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  sums.resize(static_cast<std::size_t>(n));
  PetscCall(memory_to_host(ex, sums.data(), x, bytes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), n, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(memory_from_host(ex, x, sums.data(), bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
