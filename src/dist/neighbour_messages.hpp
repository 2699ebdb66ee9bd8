// Messages of the same pattern, again and again, between a rank and its neighbours: MPI's persistent requests.
#pragma once
#include "dist/sf_exchange.hpp"

#include <vector>

namespace amgkit
{
// Reads -use_gpu_aware_mpi, which PETSc reads in PetscInitialize() and not again: to be called soon after that.
PetscErrorCode read_gpu_aware_mpi();
// What it was; read now, if it has not been.
PetscErrorCode is_mpi_gpu_aware(bool *aware);
// Whether MPI may read and write the space's memory.
template <class Ex> PetscErrorCode mpi_sees(bool *sees)
{
  bool aware = true;

  PetscFunctionBegin;
  if (Ex::on_device) PetscCall(is_mpi_gpu_aware(&aware));
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
