#include "base/outcome.hpp"

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

PetscErrorCode outcome_of(const std::function<PetscErrorCode()> &work, PetscErrorCode *code, std::string *said)
{
  Message message{};

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(remember, &message));
  const CallStack here;
  *code = guarded(work, message);
  if (*code) here.restore();
  PetscCall(PetscPopErrorHandler());
  *said = message.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
