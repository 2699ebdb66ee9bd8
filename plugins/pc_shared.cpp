#include "plugins/pc_shared.hpp"

#include "amgkit.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <petsc/private/petscimpl.h>
#include <petscksp.h>

namespace amgkit
{
Change change_under(const char *ksp_type)
{
  const char *const flexible[] = {KSPAMGFCG, KSPAMGFGMRES, KSPFCG,   KSPPIPEFCG, KSPFGMRES,    KSPPIPEFGMRES,
                                  KSPGCR,    KSPPIPEGCR,   KSPFBCGS, KSPFBCGSR,  KSPRICHARDSON};
  const char *const neutral[] = {KSPPREONLY, KSPNONE, KSPCG, KSPPYTHON};
  const auto is_among = [=](const auto &list) {
    return std::any_of(std::begin(list), std::end(list), [=](const char *entry) { return std::strcmp(entry, ksp_type) == 0; });
  };
  if (is_among(flexible)) return Change::allowed;
  return is_among(neutral) ? Change::unknown : Change::forbidden;
}

namespace
{
// Of the options that all types share, which have no prefix
PetscErrorCode print_common_help(OptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  if (!PetscOptionsObject->printhelp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*PetscHelpPrintf)(
      PetscOptionsObject->comm,
      "  -amgkit_gpu: <no> Where a type's space is auto, run on a GPU (choose one of) yes no try\n"
      "  -amgkit_copy_threads: <8> Threads that copy between the CPU and a GPU, if there are cores for them\n"
      "  -amgkit_cuda_ipc: <true> What processes that share a GPU hand to one of them stays there, if the system allows it\n"
      "  -amgkit_peer_memory: <true> GPUs of a node exchange values by each other's memory, if they reach it, and not by MPI\n"
      "  -amgkit_small_blocks: <true> Arrays on a GPU, if not large, share pieces of memory; no: each alone, for compute-sanitizer\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const std::string &type, const ParameterList &list)
{
  const std::string head = "AMGKit " + type + " options";

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, head.c_str());
  PetscCall(guarded([&] { return parameters_from_options(PetscOptionsObject, type, list); }));
  PetscCall(print_common_help(PetscOptionsObject));
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
