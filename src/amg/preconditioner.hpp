// A multigrid preconditioner of any method.
#pragma once
#include "amg/export.hpp"
#include "dist/preconditioner.hpp"

#include <functional>

namespace amgkit
{
class AmgPreconditioner : public Preconditioner {
public:
  // Collective: the levels as matrices, see amg/export.hpp.
  virtual PetscErrorCode export_to(MatType, LevelMats &) = 0;
};

// What a method gives for each setup: its prolongation, in each space.
struct Method {
  std::unique_ptr<Prolongation<Host>> make(Host) const { return host(); }
  std::unique_ptr<Prolongation<Debug>> make(Debug) const { return debug(); }
  std::unique_ptr<Prolongation<Cuda>> make(Cuda) const { return cuda(); }
  std::function<std::unique_ptr<Prolongation<Host>>()> host;
  std::function<std::unique_ptr<Prolongation<Debug>>()> debug;
  std::function<std::unique_ptr<Prolongation<Cuda>>()> cuda; // empty in a build without CUDA
};

// Collective: in the space that the parameters and the matrix's type choose. The method must outlive it.
PetscErrorCode make_amg_preconditioner(Mat, const AmgParameters &, const Method &, std::unique_ptr<Preconditioner> &);
} // namespace amgkit
