// What the steps of the Krylov methods have in common.
#pragma once
#include "dist/preconditioner.hpp"

namespace amgkit
{
// The steps of a method on PETSc's vectors, all of one layout and communicator, in the space where these live. Collective. Flops are
// logged.
class KrylovSteps {
public:
  KrylovSteps() = default;
  KrylovSteps(const KrylovSteps &) = delete;
  KrylovSteps &operator=(const KrylovSteps &) = delete;
  virtual ~KrylovSteps() = default;
  // Memory for vectors like x: PETSC_ERR_MEM on all ranks where there is none.
  virtual PetscErrorCode create(Vec x) = 0;
  // Local: gives a vector that has no memory yet some of the space's, filled with zeros, which PETSc frees with the vector. PETSc's own
  // allocation takes 50 microseconds and more on a GPU. Nothing happens on hosts; with vectors of half a GB, for which that does not count;
  // and on several ranks, as PETSc may hand a vector's memory to an MPI that knows GPUs, and those cannot export a pool's.
  virtual PetscErrorCode give_memory(Vec) = 0;
  // Local: a vector like x in the space, which these steps own until close().
  virtual PetscErrorCode make_vector(SpaceVector **) = 0;
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
  virtual const char *space() const = 0;
  // Local: to <- from
  virtual PetscErrorCode copy(Vec from, Vec to) = 0;
  // Whether the preconditioner has a UserProduct for this space that is worth taking.
  virtual bool has_product(Preconditioner &) const = 0;
  // By it: y = A x in double precision; as_set_up: A has the values that were set up.
  virtual PetscErrorCode multiply_exactly(Preconditioner &, Vec x, Vec y, bool as_set_up) = 0;
};

// Where steps for x run with this preconditioner, or nullptr: in the space of x, or, for a vector of the host, in the space debug where the
// preconditioner does.
const char *krylov_space(Vec x, Preconditioner *solver);
} // namespace amgkit
