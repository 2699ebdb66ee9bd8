#include "plugins/pc_sa.hpp"

#include "amg/prolongation_smoothed.hpp"
#include "plugins/pc_amg.hpp"

namespace amgkit
{
ParameterList smoothed_parameter_list(AmgParameters &shared, SmoothedParameters &own)
{
  shared.cycle_type = CycleKind::v;
  shared.least_degree = 2;
  return joined(own.list(), shared.list());
}

PetscErrorCode PCCreate_AMGSA(PC pc)
{
  return PCCreate_AMG<SmoothedParameters>(pc, "amgsa", smoothed_parameter_list,
                                          [](auto space, const SmoothedParameters &own, const Coordinates &coordinates) {
                                            return make_smoothed_prolongation<decltype(space)>(own, coordinates);
                                          });
}
} // namespace amgkit
