// The phases of a preconditioner as PETSc log events: -log_view shows each with its time, flops and copies.
#pragma once
#include "base/compat.hpp"

namespace amgkit
{
enum class Phase { strength, coarsen, interp, rap, halo, smooth, transfer, coarse, count };

// Registers the events with PETSc once per PetscInitialize/PetscFinalize; idempotent.
PetscErrorCode log_register();
// Phases do not nest.
PetscErrorCode log_begin(Phase);
PetscErrorCode log_end(Phase);
} // namespace amgkit
