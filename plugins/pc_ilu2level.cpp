#include "plugins/pc_ilu2level.hpp"

#include "amgkit.h"
#include "ilu/preconditioner.hpp"
#include "plugins/pc_plugin.hpp"

namespace amgkit
{
namespace
{
// pc->data
class IluPC final : public PluginPC {
public:
  IluParameters parameters;

  IluPC()
  {
    type = PCILU2LEVEL;
    list = parameters.list();
  }
  PetscErrorCode make(PC pc) override
  {
    const char *prefix;

    PetscFunctionBegin;
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(make_ilu_preconditioner(pc->pmat, parameters, prefix, solver));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SpaceKind &space_choice() override { return parameters.space; }
  Consolidation &consolidation() override { return parameters.consolidation; }
  const char *what_changes() const override { return "Two levels change"; }
  std::string instead() const override { return "-ksp_type fgmres or gcr, or -pc_" + type + "_levels 1"; }
};
} // namespace

PetscErrorCode PCCreate_ILU2Level(PC pc)
{
  return guarded([&] { return PCCreate_Plugin(pc, std::make_unique<IluPC>()); });
}
} // namespace amgkit
