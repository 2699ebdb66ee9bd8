#include "plugins/pc_classical.hpp"

#include "amg/prolongation_classical.hpp"
#include "plugins/pc_amg.hpp"

namespace amgkit
{
namespace
{
struct ClassicalPC final : AmgPC {
  ClassicalParameters classical;
};
} // namespace

ParameterList classical_parameter_list(AmgParameters &shared, ClassicalParameters &own)
{
  shared.cycle_type = static_cast<int>(CycleKind::v);
  ParameterList list = own.list();
  for (Parameter &p : shared.list()) list.push_back(std::move(p));
  return list;
}

PetscErrorCode PCCreate_AMGClassical(PC pc)
{
  auto data = std::make_unique<ClassicalPC>();
  const ClassicalParameters *classical = &data->classical;

  PetscFunctionBegin;
  data->type = "amgclassical";
  data->list = classical_parameter_list(data->parameters, data->classical);
  data->method.host = [=] { return make_classical_prolongation<Host>(*classical); };
  data->method.debug = [=] { return make_classical_prolongation<Debug>(*classical); };
#if defined(AMGKIT_HAVE_CUDA)
  data->method.cuda = [=] { return make_classical_prolongation<Cuda>(*classical); };
#endif
  PetscCall(PCCreate_AMG(pc, std::move(data)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
