#include "plugins/pc_matching.hpp"

#include "amg/prolongation_matching.hpp"
#include "plugins/pc_amg.hpp"

namespace amgkit
{
ParameterList matching_parameter_list(AmgParameters &shared, MatchingParameters &own) { return joined(own.list(), shared.list()); }

PetscErrorCode PCCreate_AMGMatching(PC pc)
{
  return PCCreate_AMG<MatchingParameters>(
      pc, "amgmatching", matching_parameter_list,
      [](auto space, const MatchingParameters &own, const Coordinates &) { return make_matching_prolongation<decltype(space)>(own); });
}
} // namespace amgkit
