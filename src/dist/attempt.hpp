// Errors of one rank, known to all: what keeps a failure on one rank from becoming a hang on the others.
#pragma once
#include "base/outcome.hpp"

#include <cstdint>
#include <span>

namespace amgkit
{
// Collective. Runs work() on every rank; its errors are not printed. work makes no collective call but such whose failures all of its
// ranks return alike. Returns the same on every rank:
//   no rank failed:                       PETSC_SUCCESS;
//   some rank had no memory left:         PETSC_ERR_MEM, without a message: out_of_memory() below makes an outcome of it;
//   some rank failed in another way:      that error, with the message of the first such rank.
// largest[k] <- the largest over the ranks of what it is after work(); at most six numbers, undefined after a failure. They are part of the
// same reduction.
PetscErrorCode attempt(MPI_Comm comm, const std::function<PetscErrorCode()> &work, std::span<std::int64_t> largest = {});

// Runs work(). *out_of_memory: whether some attempt() in it found that memory was lacking and work() returned that, which is then no error
// and not printed. Every other error is as usual. Collective where work is.
PetscErrorCode out_of_memory(const std::function<PetscErrorCode()> &work, bool *out_of_memory);

// For work() that only saves time later: a rank without memory for it goes on as before. Collective where work is; all ranks go on then if
// one has no memory.
PetscErrorCode without_memory_go_on(const std::function<PetscErrorCode()> &work);

// As out_of_memory(), where lack of memory is an error that names what it was for.
PetscErrorCode need_memory_for(const char *what, MPI_Comm comm, const std::function<PetscErrorCode()> &work);
} // namespace amgkit
