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
  // The matrix that was set up, and an error on all ranks, PETSC_ERR_ARG_WRONGSTATE, where it is no longer what it was: its contents
  // replaced, or its pattern changed. An application that reads it must not be called then.
  virtual Mat matrix() const = 0;
  virtual PetscErrorCode check_matrix() const = 0;
  // PETSC_ERR_ARG_SIZ, on all ranks, unless x has the rows of the matrix that was set up.
  virtual PetscErrorCode check_rows(Vec x) const = 0;
  // Whether the next application reads the matrix, and if so, finds it where it reads it. The same on all ranks.
  virtual bool reads_matrix(bool transposed) const = 0;
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
