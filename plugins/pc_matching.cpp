#include "plugins/pc_matching.hpp"

#include "amg/prolongation_matching.hpp"
#include "plugins/pc_amg.hpp"

namespace amgkit
{
namespace
{
struct MatchingPC final : AmgPC {
  MatchingParameters matching;
};
} // namespace

ParameterList matching_parameter_list(AmgParameters &shared, MatchingParameters &own)
{
  ParameterList list = own.list();
  for (Parameter &p : shared.list()) list.push_back(std::move(p));
  return list;
}

PetscErrorCode PCCreate_AMGMatching(PC pc)
{
  auto data = std::make_unique<MatchingPC>();
  const MatchingParameters *matching = &data->matching;

  PetscFunctionBegin;
  data->type = "amgmatching";
  data->list = matching_parameter_list(data->parameters, data->matching);
  data->method.host = [=] { return make_matching_prolongation<Host>(*matching); };
  data->method.debug = [=] { return make_matching_prolongation<Debug>(*matching); };
#if defined(AMGKIT_HAVE_CUDA)
  data->method.cuda = [=] { return make_matching_prolongation<Cuda>(*matching); };
#endif
  PetscCall(PCCreate_AMG(pc, std::move(data)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
