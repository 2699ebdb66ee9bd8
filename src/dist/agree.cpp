#include "dist/agree.hpp"

#include <array>
#include <new>

namespace amgkit
{
namespace
{
using Message = std::array<char, 512>;

void keep(Message &kept, const char *message)
{
  std::size_t i = 0;
  for (; message[i] && i + 1 < kept.size(); i++) kept[i] = message[i];
  kept[i] = 0;
}

// A PETSc error handler that remembers the message of the error instead of printing it.
PetscErrorCode remember(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *message,
                        void *context)
{
  if (type == PETSC_ERROR_INITIAL && message) keep(*static_cast<Message *>(context), message);
  return code;
}

PetscErrorCode guarded(const std::function<PetscErrorCode()> &work, Message &message)
{
  try {
    return work();
  } catch (const std::bad_alloc &) { // a container of the standard library
    return PETSC_ERR_MEM;
  } catch (const std::exception &e) {
    keep(message, e.what());
    return PETSC_ERR_LIB;
  }
}
} // namespace

PetscErrorCode attempt(MPI_Comm comm, const std::function<PetscErrorCode()> &work, bool *out_of_memory)
{
  Message message{};
  int rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscPushErrorHandler(remember, &message));
  const PetscErrorCode code = guarded(work, message);
  PetscCall(PetscPopErrorHandler());

  const bool memory = code == PETSC_ERR_MEM;
  std::array<int, 2> state = {memory, code && !memory ? size - rank : 0}; // the largest second entry is the first rank's
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, state.data(), 2, MPI_INT, MPI_MAX, comm));
  if (state[1] > 0) {
    const int culprit = size - state[1];
    int shared_code = static_cast<int>(code);
    PetscCallMPI(MPI_Bcast(&shared_code, 1, MPI_INT, culprit, comm));
    PetscCallMPI(MPI_Bcast(message.data(), static_cast<int>(message.size()), MPI_CHAR, culprit, comm));
    SETERRQ(comm, static_cast<PetscErrorCode>(shared_code), "On rank %d: %s", culprit, message.data());
  }
  *out_of_memory = state[0] > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
