// The phases of a preconditioner as PETSc log events: -log_view shows each with its time, flops and copies.
#pragma once
#include "base/compat.hpp"

#include <cstddef>
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
  await,     // that process
  wait,      // of the host for the device: in the space debug, which stands for one, too
  count
};

// Registers the events with PETSc once per PetscInitialize/PetscFinalize; idempotent.
PetscErrorCode log_register();
// Logs the time from here to the end of the scope as this phase. Only halo, copies and wait stand inside other phases.
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
// The same for a level of a hierarchy, around its phases. What is below the first ten counts as the last of these.
class LogLevel {
public:
  explicit LogLevel(std::size_t number);
  LogLevel(const LogLevel &) = delete;
  LogLevel &operator=(const LogLevel &) = delete;
  ~LogLevel();

private:
  PetscLogEvent event_;
};
struct LogLevelPhase {
  LogLevelPhase(std::size_t number, Phase phase) : level(number), inside(phase) {}
  LogLevel level;
  LogPhase inside;
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
