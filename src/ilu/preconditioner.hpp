// Incomplete factors in any space behind one interface: what PCILU2LEVEL holds.
#pragma once
#include "ilu/method.hpp"
#include "ilu/parameters.hpp"

#include <memory>
#include <petscmat.h>

namespace amgkit
{
class IluPreconditioner {
public:
  IluPreconditioner() = default;
  IluPreconditioner(const IluPreconditioner &) = delete;
  IluPreconditioner &operator=(const IluPreconditioner &) = delete;
  virtual ~IluPreconditioner() = default;
  // Collective, anew each time. Named errors for a matrix that cannot be taken; what went wrong in the numbers is in the setup's outcome,
  // and unless that is ready, apply() must not be called.
  virtual PetscErrorCode setup(Mat, IluSetup &) = 0;
  // Whether refresh() can take the place of setup(): the same matrix, where it was, with the same pattern. Collective.
  virtual PetscErrorCode can_refresh(Mat, bool *) const = 0;
  // As setup(), for new values of that matrix, after a setup that had memory enough.
  virtual PetscErrorCode refresh(IluSetup &) = 0;
  // Whether applications find the matrix where they read it, if they do.
  virtual bool reaches(Mat, bool transposed) const = 0;
  // y = B x
  virtual PetscErrorCode apply(Vec x, Vec y) = 0;
  // y = Bᵀ x. The first call after a setup takes memory.
  virtual PetscErrorCode apply_transpose(Vec x, Vec y) = 0;
  // Whether B is the same matrix from one application to the next.
  virtual bool linear() const = 0;
  // Method, factors and memory, to an ASCII viewer.
  virtual PetscErrorCode view(PetscViewer) const = 0;
  virtual const char *space() const = 0;
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
};

// Opens the space that the parameters and the matrix's type choose. prefix: of the options of the solvers inside, or nullptr
PetscErrorCode make_ilu_preconditioner(Mat, const IluParameters &, const char *prefix, std::unique_ptr<IluPreconditioner> &);
} // namespace amgkit
