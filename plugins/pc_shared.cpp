#include "plugins/pc_shared.hpp"

namespace amgkit
{
PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const std::string &type, const ParameterList &list)
{
  const std::string head = "AMGKit " + type + " options";

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, head.c_str());
  PetscCall(guarded([&] { return parameters_from_options(PetscOptionsObject, type, list); }));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_pc(PetscViewer viewer, const std::string &type, const ParameterList &list, const std::function<PetscErrorCode()> &more)
{
  PetscBool ascii, string;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERSTRING, &string));
  if (ascii) {
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", parameters_summary(list).c_str()));
    PetscCall(guarded(more));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  if (string) PetscCall(PetscViewerStringSPrintf(viewer, " AMGKit %s, %s", type.c_str(), parameters_summary(list).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
