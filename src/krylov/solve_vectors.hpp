// The right-hand side and the solution of a solve in the space of its preconditioner, where the user's are on the host and apart from it:
// the one goes up and the other comes down once a solve.
#pragma once
#include "dist/preconditioner.hpp"

namespace amgkit
{
class SolveVectors {
public:
  SolveVectors() = default;
  SolveVectors(const SolveVectors &) = delete;
  SolveVectors &operator=(const SolveVectors &) = delete;
  virtual ~SolveVectors() = default;
  // Collective, once: for so many entries of this rank. PETSC_ERR_MEM on all ranks where there is no memory.
  virtual PetscErrorCode create(MPI_Comm, std::int64_t n) = 0;
  // Local: the user's entries; x_is_zero: x's are zeros.
  virtual PetscErrorCode take(double *b, double *x, bool x_is_zero) = 0;
  virtual SpaceVector &b() = 0;
  virtual SpaceVector &x() = 0;
  virtual std::int64_t size() const = 0;
  virtual const char *space() const = 0;
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
};

// In the preconditioner's space, if that is apart, else nullptr
std::unique_ptr<SolveVectors> make_solve_vectors(const Preconditioner &);
} // namespace amgkit
