#include "plugins/pc_classical.hpp"

#include "amg/prolongation_classical.hpp"
#include "plugins/pc_amg.hpp"

namespace amgkit
{
ParameterList classical_parameter_list(AmgParameters &shared, ClassicalParameters &own)
{
  shared.cycle_type = CycleKind::v;
  return joined(own.list(), shared.list());
}

PetscErrorCode PCCreate_AMGClassical(PC pc)
{
  return PCCreate_AMG<ClassicalParameters>(
      pc, "amgclassical", classical_parameter_list,
      [](auto space, const ClassicalParameters &own, const Coordinates &) { return make_classical_prolongation<decltype(space)>(own); });
}
} // namespace amgkit
