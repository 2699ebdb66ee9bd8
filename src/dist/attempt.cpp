#include "dist/attempt.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace amgkit
{
namespace
{
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

} // namespace

PetscErrorCode attempt(MPI_Comm comm, const std::function<PetscErrorCode()> &work, std::span<std::int64_t> largest)
{
  std::array<char, 512> message{};
  PetscErrorCode code;
  std::string said;
  int rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(outcome_of(work, &code, &said));
  std::copy_n(said.begin(), std::min(said.size(), message.size() - 1), message.begin());

  const bool memory = code == PETSC_ERR_MEM;
  std::array<std::int64_t, 8> state = {memory, code && !memory ? size - rank : 0}; // the largest second entry is the first rank's
  PetscCheck(largest.size() <= state.size() - 2, comm, PETSC_ERR_PLIB, "Too many numbers");
  std::copy(largest.begin(), largest.end(), state.begin() + 2);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, state.data(), static_cast<int>(2 + largest.size()), MPI_INT64_T, MPI_MAX, comm));
  std::copy_n(state.begin() + 2, largest.size(), largest.begin());
  if (state[1] > 0) {
    const int culprit = size - static_cast<int>(state[1]);
    int shared_code = static_cast<int>(code);
    PetscCallMPI(MPI_Bcast(&shared_code, 1, MPI_INT, culprit, comm));
    PetscCallMPI(MPI_Bcast(message.data(), static_cast<int>(message.size()), MPI_CHAR, culprit, comm));
    const bool named = std::string_view(message.data()).substr(0, 8) == "On rank "; // by an attempt() inside work()
    const std::string rank_said = named ? "" : "On rank " + std::to_string(culprit) + ": ";
    SETERRQ(comm, static_cast<PetscErrorCode>(shared_code), "%s%s", rank_said.c_str(), message.data());
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
