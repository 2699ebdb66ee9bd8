#include "base/recording.hpp"

#include "base/cuda.hpp"
#include "base/log.hpp"

namespace amgkit
{
namespace
{
// Captures work on a stream of its own, as the default stream cannot be captured. *graph is for the caller to destroy.
PetscErrorCode capture(Cuda &ex, const std::function<PetscErrorCode()> &work, cudaGraph_t *graph)
{
  cudaStream_t users = ex.stream, own;

  PetscFunctionBegin;
  *graph = nullptr;
  AMGKIT_CALL_CUDA(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
  AMGKIT_CALL_CUDA(cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed));
  ex.stream = own;
  const PetscErrorCode code = work();
  ex.stream = users;
  const cudaError_t status = cudaStreamEndCapture(own, graph);
  AMGKIT_CALL_CUDA(cudaStreamDestroy(own));
  PetscCall(code);
  AMGKIT_CALL_CUDA(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

Recording<Cuda>::~Recording()
{
  if (graph_) static_cast<void>(cudaGraphExecDestroy(graph_));
}

PetscErrorCode Recording<Cuda>::forget()
{
  PetscFunctionBegin;
  if (graph_) AMGKIT_CALL_CUDA(cudaGraphExecDestroy(graph_));
  graph_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Recording<Cuda>::record(Cuda &ex, const std::function<PetscErrorCode()> &work)
{
  cudaGraph_t graph;
  PetscLogDouble before, after;

  PetscFunctionBegin;
  PetscCall(PetscGetFlops(&before));
  PetscCall(capture(ex, work, &graph));
  PetscCall(PetscGetFlops(&after));
  flops_ = after - before;
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  AMGKIT_CALL_CUDA(cudaGraphDestroy(graph));
  AMGKIT_CALL_CUDA(status);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Recording<Cuda>::play(Cuda &ex, const std::function<PetscErrorCode()> &work)
{
  PetscFunctionBegin;
  if (graph_)
    PetscCall(log_flops(ex, flops_));
  else
    PetscCall(record(ex, work)); // in which work logs them
  AMGKIT_CALL_CUDA(cudaGraphLaunch(graph_, ex.stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
