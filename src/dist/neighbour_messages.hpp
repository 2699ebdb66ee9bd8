// Messages of the same pattern, again and again, between a rank and its neighbours: MPI's persistent requests.
#pragma once
#include "dist/sf_exchange.hpp"

#include <vector>

namespace amgkit
{
// Whether MPI may read and write the space's memory. As PETSc has it: -use_gpu_aware_mpi, which it checks when a GPU is first used.
template <class Ex> PetscErrorCode mpi_sees(bool *sees)
{
  PetscBool aware = PETSC_TRUE;

  PetscFunctionBegin;
  if (Ex::on_device) PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-use_gpu_aware_mpi", &aware, nullptr));
  *sees = !through_host<Ex> && aware;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A rank has an array with a piece for each rank that gives it something, and one with a piece for each that gets something from it.
class NeighbourMessages {
public:
  NeighbourMessages() = default;
  NeighbourMessages(const NeighbourMessages &) = delete;
  NeighbourMessages &operator=(const NeighbourMessages &) = delete;
  NeighbourMessages(NeighbourMessages &&) = delete;
  NeighbourMessages &operator=(NeighbourMessages &&) = delete;
  ~NeighbourMessages();

  // Collective. Rank r's piece of what is given is given_at[r] <= k < given_at[r + 1], and so on.
  PetscErrorCode create(MPI_Comm comm, const std::vector<int> &given_at, const std::vector<int> &got_at);
  // Local: requests know the arrays of the first messages of their kind, until this.
  void forget_arrays();
  // Collective over neighbours: got <- the others' given; back: given <- the others' got. Ends with wait().
  PetscErrorCode start(MPI_Datatype, std::size_t entry_bytes, void *given, void *got, bool back);
  PetscErrorCode wait();

private:
  struct Piece {
    int rank, begin, count;
  };
  struct Requests {
    MPI_Datatype type;
    bool back;
    std::vector<MPI_Request> receives, sends;
  };
  static std::vector<Piece> pieces(const std::vector<int> &at);
  PetscErrorCode requests_for(MPI_Datatype, std::size_t entry_bytes, void *given, void *got, bool back, Requests **);

  MPI_Comm comm_ = MPI_COMM_NULL; // PETSc's duplicate
  PetscMPIInt tag_ = 0;
  std::vector<Piece> given_, got_;
  std::vector<Requests> requests_;
  Requests *under_way_ = nullptr;
};
} // namespace amgkit
