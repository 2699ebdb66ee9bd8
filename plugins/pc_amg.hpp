// The PC callbacks that all multigrid types share. A type adds its parameters and its way to coarsen.
#pragma once
#include "amg/preconditioner.hpp"
#include "plugins/pc_shared.hpp"

#include <petsc/private/pcimpl.h>
#include <string>

namespace amgkit
{
// pc->data of the multigrid types; each derives from it and adds its own parameters.
struct AmgPC {
  AmgPC() = default;
  AmgPC(const AmgPC &) = delete;
  AmgPC &operator=(const AmgPC &) = delete;
  virtual ~AmgPC() = default;

  std::string type; // the PC type's name
  AmgParameters parameters;
  ParameterList list; // parameters and the type's own, in the order of the view
  Method method;
  std::unique_ptr<Preconditioner> solver;
  PetscObjectState seen = 0;               // the state of solver's matrix when it was last found to be what was set up
  Coordinates coordinates;                 // of the nodes, where PCSetCoordinates() gave them; dm is set by each setup, which reads it
  std::string built_with;                  // the parameters that solver was set up with
  SetupStatus status = SetupStatus::ready; // of the last setup
  PC mg = nullptr;                         // the PCMG that applies the levels of solver; only with export_mg
  bool fixed_steps = false;                // the KSP that is solving takes its number of iterations and tests nothing
};

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
