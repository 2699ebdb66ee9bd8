#include "base/cuda.hpp"
#include "base/marks.hpp"

#include <petscsys.h>

namespace amgkit
{
namespace
{
// One for the process, from the first mark to PetscFinalize.
cudaEvent_t &marked()
{
  static cudaEvent_t event = nullptr;
  return event;
}
PetscErrorCode destroy_mark()
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaEventDestroy(marked()));
  marked() = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode mark(Cuda &ex)
{
  PetscFunctionBegin;
  if (!marked()) {
    AMGKIT_CALL_CUDA(cudaEventCreateWithFlags(&marked(), cudaEventDisableTiming));
    PetscCall(PetscRegisterFinalize(destroy_mark));
  }
  AMGKIT_CALL_CUDA(cudaEventRecord(marked(), ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode wait_for_mark(Cuda &)
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaEventSynchronize(marked()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
