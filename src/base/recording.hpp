// A sequence of kernels that is run again and again with the same arguments. On a GPU it is captured as a CUDA graph, whose launch
// costs less than that of its kernels one by one (0.85 against 3.3 microseconds a kernel on an H200).
#pragma once
#include "base/space.hpp"

#include <functional>

struct CUgraphExec_st;

namespace amgkit
{
template <class Ex> class Recording {
public:
  // Hosts have nothing to record: play() runs the work itself.
  PetscErrorCode forget() { return PETSC_SUCCESS; }
  bool recorded() const { return false; }
  PetscErrorCode play(Ex &, const std::function<PetscErrorCode()> &work) { return work(); }
};

template <> class Recording<Cuda> {
public:
  Recording() = default;
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;
  ~Recording();

  // Runs what was recorded. The first time, and after forget(), that is what work launches on the space's stream: it is taken down while
  // the device is still busy with what came before. work may neither wait for the device, nor allocate, nor call MPI, and its kernels'
  // arguments are kept. Local; a work that cannot be captured is an error.
  PetscErrorCode play(Cuda &, const std::function<PetscErrorCode()> &work);
  PetscErrorCode forget();
  bool recorded() const { return graph_ != nullptr; }

private:
  PetscErrorCode record(Cuda &, const std::function<PetscErrorCode()> &work);
  CUgraphExec_st *graph_ = nullptr;
  double flops_ = 0; // that work logged while it was recorded
};
} // namespace amgkit
