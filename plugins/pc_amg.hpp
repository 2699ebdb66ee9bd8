// The PC callbacks that all multigrid types share. A type adds its parameters and its way to coarsen.
#pragma once
#include "amg/preconditioner.hpp"
#include "dist/near_null.hpp"
#include "plugins/pc_plugin.hpp"

namespace amgkit
{
// pc->data of the multigrid types; each derives from it and adds its own parameters.
class AmgPC : public PluginPC {
public:
  AmgParameters parameters; // list has the type's own, too
  Method method;
  Coordinates coordinates;   // of the nodes, where PCSetCoordinates() gave them; dm is set by each setup, which reads it
  PC mg = nullptr;           // the PCMG that applies the levels of solver; only with export_mg
  bool levels_asked = false; // for, by PCGetInterpolations() or PCGetCoarseOperators(), which needs them on all processes
  bool fixed_steps = false;  // the KSP that is solving takes its number of iterations and tests nothing

  AmgPreconditioner *levels() { return dynamic_cast<AmgPreconditioner *>(solver.get()); } // nullptr: it is on fewer processes

  PetscErrorCode make(PC) override;
  SpaceKind &space_choice() override { return parameters.space; }
  Consolidation &consolidation() override { return parameters.consolidation; }
  const char *why_on_all() const override
  {
    if (parameters.export_mg) return "with export_mg, a PCMG of all processes applies the levels";
    if (levels_asked && parameters.consolidation.kind == ConsolidateKind::copied)
      return "PCGetInterpolations() or PCGetCoarseOperators() has asked for the levels";
    return "";
  }
  PetscErrorCode give(PC, SystemOfHeads &, PC inner) const override;
  bool may_refresh() const override { return parameters.reuse_interpolation; }
  PetscErrorCode finish(PC) override;
  PetscErrorCode apply(PC, bool transposed, Vec x, Vec y) override;
  bool reads_matrix(bool transposed) const override { return !mg && PluginPC::reads_matrix(transposed); }
  bool applies_solver() const override { return !mg; }
  PetscErrorCode clear() override { return PCDestroy(&mg); }
  bool changes() const override { return !mg && PluginPC::changes(); }
  const char *what_changes() const override { return "The k-cycle changes"; }
  std::string instead() const override { return "-ksp_type amgfcg, fgmres or gcr, or -pc_" + type + "_cycle_type auto"; }
};

inline AmgPC &amg_of(PC pc) { return static_cast<AmgPC &>(*static_cast<PluginPC *>(pc->data)); }

// Gives pc this data and the shared callbacks; takes ownership.
PetscErrorCode PCCreate_AMG(PC pc, std::unique_ptr<AmgPC> data);
// The same for a type with parameters of its own: list(shared, own) lists all, make(space, own, coordinates) gives its prolongation in the
// space of that type.
template <class Own, class List, class Make> PetscErrorCode PCCreate_AMG(PC pc, const char *type, List list, Make make)
{
  struct Data final : AmgPC {
    Own own;
  };
  auto data = std::make_unique<Data>();
  const Own *own = &data->own;
  const Coordinates *coordinates = &data->coordinates;

  PetscFunctionBegin;
  data->type = type;
  data->list = list(data->parameters, data->own);
  data->method.host = [=] { return make(Host{}, *own, *coordinates); };
  data->method.debug = [=] { return make(Debug{}, *own, *coordinates); };
#if defined(AMGKIT_HAVE_CUDA)
  data->method.cuda = [=] { return make(Cuda{}, *own, *coordinates); };
#endif
  PetscCall(PCCreate_AMG(pc, std::move(data)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
