// A multigrid preconditioner of any space behind one interface: what a PETSc PC holds.
#pragma once
#include "amg/hierarchy.hpp"

#include <functional>

namespace amgkit
{
class Preconditioner {
public:
  Preconditioner() = default;
  Preconditioner(const Preconditioner &) = delete;
  Preconditioner &operator=(const Preconditioner &) = delete;
  virtual ~Preconditioner() = default;
  // Collective, anew each time. Errors as of Hierarchy::build(), after which this can only be closed.
  virtual PetscErrorCode setup(Mat) = 0;
  // Whether refresh() can take the place of a new preconditioner's setup(): the same matrix, where it was, with the same pattern.
  // Collective.
  virtual PetscErrorCode can_refresh(Mat, bool *) const = 0;
  // Whether the matrix is still on the side, host or device, where the space that was opened for it reads it.
  virtual bool stands_where(Mat) const = 0;
  // The matrix that was set up, and an error on all ranks, PETSC_ERR_ARG_WRONGSTATE, where it is no longer what it was: its contents
  // replaced, or its pattern changed. apply() must not be called then.
  virtual Mat matrix() const = 0;
  virtual PetscErrorCode check_matrix() const = 0;
  // PETSC_ERR_ARG_SIZ, on all ranks, unless x has the rows of the matrix that was set up.
  virtual PetscErrorCode check_rows(Vec x) const = 0;
  // As setup(), with the aggregates and prolongators that are there. *fits as in Hierarchy::refresh().
  virtual PetscErrorCode refresh(Mat, bool *fits) = 0;
  // Whether whoever applies the preconditioner next allows it to change from one application to the next; false after setup().
  // Decides what cycle_type auto means, and the precision of the cycle's vectors.
  virtual PetscErrorCode set_flexible(bool) = 0;
  // y = B x
  virtual PetscErrorCode apply(Vec x, Vec y) = 0;
  // y = Bᵀ x. The first call after a setup makes the transposes of all levels. An error for the k-cycle, which has no transpose.
  virtual PetscErrorCode apply_transpose(Vec x, Vec y) = 0;
  // The levels as matrices of this type on the finest one's communicator, finest level first: operators[l - 1] of level l,
  // interpolations[l - 1] from it to level l - 1. For the caller to destroy, also after an error. Collective.;
  virtual PetscErrorCode make_mats(MatType, std::vector<Mat> &operators, std::vector<Mat> &interpolations) = 0;
  // The level table, complexities and memory, to an ASCII viewer.
  virtual PetscErrorCode view(PetscViewer) const = 0;
  virtual const char *space() const = 0;
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
};

// What a method gives: its prolongation in each space.
struct Method {
  std::unique_ptr<Prolongation<Host>> make(Host) const { return host(); }
  std::unique_ptr<Prolongation<Debug>> make(Debug) const { return debug(); }
  std::unique_ptr<Prolongation<Cuda>> make(Cuda) const { return cuda(); }
  std::function<std::unique_ptr<Prolongation<Host>>()> host;
  std::function<std::unique_ptr<Prolongation<Debug>>()> debug;
  std::function<std::unique_ptr<Prolongation<Cuda>>()> cuda; // empty in a build without CUDA
};

// Opens the space that the parameters and the matrix's type choose.
PetscErrorCode make_preconditioner(Mat, const AmgParameters &, const Method &, std::unique_ptr<Preconditioner> &);
} // namespace amgkit
