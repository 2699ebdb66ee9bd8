#include "dist/attempt.hpp"

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

// A PETSc error handler that lets PETSC_ERR_MEM of an attempt() pass unseen, and all else go to the handler below it. context: whether an
// error was raised with a message, as attempt() raises none for lack of memory.
PetscErrorCode pass_others(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                           const char *message, void *context)
{
  bool &raised = *static_cast<bool *>(context);
  raised = raised || type == PETSC_ERROR_INITIAL;
  if (code == PETSC_ERR_MEM && !raised) return code;
  static_cast<void>(PetscPopErrorHandler());
  const PetscErrorCode answer = PetscError(comm, line, function, file, code, type, "%s", message ? message : "");
  static_cast<void>(PetscPushErrorHandler(pass_others, context));
  return answer;
}

// PETSc's stack of function names, which a PETSc for debugging keeps and an error that is no error in the end leaves as it was where it
// arose.
class CallStack {
public:
#if defined(PETSC_USE_DEBUG) && !defined(PETSC_HAVE_THREADSAFETY)
  void restore() const { petscstack.currentsize = size_, petscstack.hotdepth = depth_; }

private:
  int size_ = petscstack.currentsize, depth_ = petscstack.hotdepth;
#else
  void restore() const {}
#endif
};

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

PetscErrorCode attempt(MPI_Comm comm, const std::function<PetscErrorCode()> &work)
{
  Message message{};
  PetscErrorCode code;
  std::string said;
  int rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(outcome_of(work, &code, &said));
  keep(message, said.c_str());

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
  PetscFunctionReturn(state[0] > 0 ? PETSC_ERR_MEM : PETSC_SUCCESS);
}

PetscErrorCode out_of_memory(const std::function<PetscErrorCode()> &work, bool *out_of_memory)
{
  bool raised = false;
  const CallStack here;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(pass_others, &raised));
  const PetscErrorCode code = work();
  PetscCall(PetscPopErrorHandler());
  *out_of_memory = code == PETSC_ERR_MEM && !raised;
  if (*out_of_memory) here.restore();
  PetscFunctionReturn(*out_of_memory ? PETSC_SUCCESS : code);
}

PetscErrorCode without_memory_go_on(const std::function<PetscErrorCode()> &work)
{
  bool none_left = false;
  return out_of_memory(work, &none_left);
}

PetscErrorCode need_memory_for(const char *what, MPI_Comm comm, const std::function<PetscErrorCode()> &work)
{
  bool none_left = false;

  PetscFunctionBegin;
  PetscCall(out_of_memory(work, &none_left));
  PetscCheck(!none_left, comm, PETSC_ERR_MEM, "No memory left for %s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
