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
  pattern_up, // of the user's matrix, to a space
  values_up,
  vector_up, // of the user's vectors
  vector_down,
  share,     // processes of a node agree on who holds whose rows
  hand_up,   // rows and vectors to the process that holds them
  hand_down, // and back
  wait,      // for that process
  count
};

// Registers the events with PETSc once per PetscInitialize/PetscFinalize; idempotent.
PetscErrorCode log_register();
// Logs the time from here to the end of the scope as this phase. Only halo and copies stand inside other phases.
class LogPhase {
public:
  explicit LogPhase(Phase phase) : phase_(phase) { begin(); }
  LogPhase(const LogPhase &) = delete;
  LogPhase &operator=(const LogPhase &) = delete;
  ~LogPhase() { end(); }
  // This phase ends here, and another begins.
  void next(Phase);

private:
  void begin();
  void end();
  Phase phase_;
};
// Floating-point operations, counted for the CPU or the GPU.
template <class Ex> PetscErrorCode log_flops(Ex &, double flops)
{
#if defined(PETSC_HAVE_DEVICE) // else PETSc has no count of a GPU's
  if constexpr (Ex::on_device) return PetscLogGpuFlops(flops);
#endif
  return PetscLogFlops(flops);
}
} // namespace amgkit
