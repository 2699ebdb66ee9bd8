#include "dist/neighbour_messages.hpp"

#include <optional>
#include <utility>

namespace amgkit
{
namespace
{
std::optional<bool> &gpu_aware_mpi()
{
  static std::optional<bool> aware;
  return aware;
}
} // namespace

PetscErrorCode read_gpu_aware_mpi()
{
  PetscBool aware = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-use_gpu_aware_mpi", &aware, nullptr));
  gpu_aware_mpi() = aware != PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_mpi_gpu_aware(bool *aware)
{
  PetscFunctionBegin;
  if (!gpu_aware_mpi()) PetscCall(read_gpu_aware_mpi());
  *aware = *gpu_aware_mpi();
  PetscFunctionReturn(PETSC_SUCCESS);
}

NeighbourMessages::~NeighbourMessages()
{
  forget_arrays();
  if (comm_ != MPI_COMM_NULL) static_cast<void>(PetscCommDestroy(&comm_));
}

void NeighbourMessages::forget_arrays()
{
  for (Requests &of : requests_) {
    for (MPI_Request &request : of.receives) static_cast<void>(MPI_Request_free(&request));
    for (MPI_Request &request : of.sends) static_cast<void>(MPI_Request_free(&request));
  }
  requests_.clear();
}

std::vector<NeighbourMessages::Piece> NeighbourMessages::pieces(const std::vector<int> &at)
{
  std::vector<Piece> found;
  for (std::size_t r = 0; r + 1 < at.size(); r++) {
    if (at[r + 1] > at[r]) found.push_back({static_cast<int>(r), at[r], at[r + 1] - at[r]});
  }
  return found;
}

PetscErrorCode NeighbourMessages::create(MPI_Comm comm, const std::vector<int> &given_at, const std::vector<int> &got_at)
{
  PetscFunctionBegin;
  forget_arrays();
  if (comm_ != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&comm_));
  PetscCall(PetscCommDuplicate(comm, &comm_, &tag_));
  given_ = pieces(given_at);
  got_ = pieces(got_at);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeighbourMessages::requests_for(MPI_Datatype type, std::size_t entry_bytes, void *given, void *got, bool back,
                                               Requests **out)
{
  const std::vector<Piece> &from = back ? given_ : got_, &to = back ? got_ : given_;
  char *in = static_cast<char *>(back ? given : got);
  const char *read = static_cast<const char *>(back ? got : given);
  MPI_Request request;

  PetscFunctionBegin;
  for (Requests &of : requests_) {
    *out = &of;
    if (of.type == type && of.back == back) PetscFunctionReturn(PETSC_SUCCESS);
  }
  requests_.push_back({type, back, {}, {}});
  *out = &requests_.back();
  for (const auto &[rank, begin, count] : from) {
    PetscCallMPI(MPI_Recv_init(in + static_cast<std::size_t>(begin) * entry_bytes, count, type, rank, tag_, comm_, &request));
    (*out)->receives.push_back(request);
  }
  for (const auto &[rank, begin, count] : to) {
    PetscCallMPI(MPI_Send_init(read + static_cast<std::size_t>(begin) * entry_bytes, count, type, rank, tag_, comm_, &request));
    (*out)->sends.push_back(request);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeighbourMessages::start(MPI_Datatype type, std::size_t entry_bytes, void *given, void *got, bool back)
{
  const std::vector<Piece> &from = back ? given_ : got_, &to = back ? got_ : given_;
  PetscInt received = 0, sent = 0;
  Requests *requests;

  PetscFunctionBegin;
  PetscCall(requests_for(type, entry_bytes, given, got, back, &requests));
  for (const Piece &piece : from) received += piece.count;
  for (const Piece &piece : to) sent += piece.count;
  under_way_ = requests;
  // PETSc's macros, which count for -log_view
  PetscCallMPI(MPI_Startall_irecv(received, type, static_cast<PetscMPIInt>(requests->receives.size()), requests->receives.data()));
  PetscCallMPI(MPI_Startall_isend(sent, type, static_cast<PetscMPIInt>(requests->sends.size()), requests->sends.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeighbourMessages::wait()
{
  Requests *requests = std::exchange(under_way_, nullptr);

  PetscFunctionBegin;
  if (!requests) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Waitall(static_cast<int>(requests->receives.size()), requests->receives.data(), MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Waitall(static_cast<int>(requests->sends.size()), requests->sends.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
