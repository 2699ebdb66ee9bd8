// Errors of one rank, known to all: what keeps a failure on one rank from becoming a hang on the others.
#pragma once
#include "base/compat.hpp"

#include <functional>

namespace amgkit
{
// Collective. Runs work() on every rank; its errors are not printed. work makes no collective call, unless on other communicators and with
// failures that all of their ranks return. Then
//   no rank failed:                       *out_of_memory = false;
//   some rank had no memory left:         *out_of_memory = true on every rank, the caller cleans up and reports;
//   some rank failed in another way:      that error, with the message of the first such rank, on every rank.
PetscErrorCode attempt(MPI_Comm comm, const std::function<PetscErrorCode()> &work, bool *out_of_memory);
} // namespace amgkit
