#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace amgkit
{
namespace
{
// The identifiers PETSc gave; written once per PetscInitialize, under log_register's guard.
struct Events {
  std::array<PetscLogEvent, static_cast<std::size_t>(Phase::count)> id{};
  std::array<PetscLogEvent, 10> level{};
  bool registered = false;
};
Events &events()
{
  static Events e;
  return e;
}

PetscErrorCode forget_events()
{
  events().registered = false;
  return PETSC_SUCCESS;
}
} // namespace

PetscErrorCode log_register()
{
  constexpr std::array<const char *, static_cast<std::size_t>(Phase::count)> names = {
      "AMGKitStrength", "AMGKitCoarsen",   "AMGKitInterp",   "AMGKitRAP",      "AMGKitSpectrum",   "AMGKitHalo",
      "AMGKitSmooth",   "AMGKitTransfer",  "AMGKitKrylov",   "AMGKitCoarse",   "AMGKitILUSym",     "AMGKitILUNum",
      "AMGKitILUSolve", "AMGKitPatternUp", "AMGKitValuesUp", "AMGKitVectorUp", "AMGKitVectorDown", "AMGKitShare",
      "AMGKitHandUp",   "AMGKitHandDown",  "AMGKitAwait",    "AMGKitWait"};
  PetscClassId id;

  PetscFunctionBegin;
  if (events().registered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscClassIdRegister("AMGKit", &id));
  for (std::size_t i = 0; i < names.size(); i++) PetscCall(PetscLogEventRegister(names[i], id, &events().id[i]));
  for (std::size_t l = 0; l < events().level.size(); l++)
    PetscCall(PetscLogEventRegister(("AMGKitLevel" + std::to_string(l)).c_str(), id, &events().level[l]));
  events().registered = true;
  PetscCall(PetscRegisterFinalize(forget_events));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void LogPhase::begin() { static_cast<void>(PetscLogEventBegin(events().id[static_cast<std::size_t>(phase_)], 0, 0, 0, 0)); }
void LogPhase::end() { static_cast<void>(PetscLogEventEnd(events().id[static_cast<std::size_t>(phase_)], 0, 0, 0, 0)); }
void LogPhase::next(Phase phase)
{
  end();
  phase_ = phase;
  begin();
}

LogLevel::LogLevel(std::size_t number) : event_(events().level[std::min(number, events().level.size() - 1)])
{
  static_cast<void>(PetscLogEventBegin(event_, 0, 0, 0, 0));
}
LogLevel::~LogLevel() { static_cast<void>(PetscLogEventEnd(event_, 0, 0, 0, 0)); }
} // namespace amgkit
