// Tests on a communicator of their own, as one keeps what it knows of its peers. Its ranks' GPUs are peers, or the same GPU.
#pragma once
#include "dist/peers.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
template <class Ex> class PeersTest : public SpaceTest<Ex> {
protected:
  void SetUp() override
  {
    SpaceTest<Ex>::SetUp();
    let_peers_share_gpus(true);
    MPI_Comm_dup(PETSC_COMM_WORLD, &comm);
  }
  void TearDown() override
  {
    MPI_Comm_free(&comm);
    let_peers_share_gpus(false);
    SpaceTest<Ex>::TearDown();
  }

  MPI_Comm comm = MPI_COMM_NULL;
};
} // namespace amgkit::test
