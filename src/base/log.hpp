// The phases of a preconditioner as PETSc log events: -log_view shows each with its time, flops and copies.
#pragma once
#include "base/compat.hpp"

#include <petsclog.h>

namespace amgkit
{
enum class Phase {
  strength,
  coarsen,
  interp,
  rap,
  spectrum,
  halo,
  smooth,
  transfer,
  krylov,
  coarse,
  ilu_symbolic,
  ilu_numeric,
  ilu_solve,
  count
};

// Registers the events with PETSc once per PetscInitialize/PetscFinalize; idempotent.
PetscErrorCode log_register();
// Only halo stands inside other phases.
PetscErrorCode log_begin(Phase);
PetscErrorCode log_end(Phase);
// Floating-point operations, counted for the CPU or the GPU.
template <class Ex> PetscErrorCode log_flops(Ex &, double flops) { return Ex::on_device ? PetscLogGpuFlops(flops) : PetscLogFlops(flops); }
} // namespace amgkit
