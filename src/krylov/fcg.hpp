// Flexible conjugate gradients, each direction orthogonal to the one before (Notay 2000):
//
//   w = B r, d = w - (w·q / d·q) d, q = A d, x += (d·r / d·q) d, r -= (d·r / d·q) q
//
// d·q is computed, not taken from a recurrence that needs A to be symmetric to the last row (as with one reduction an iteration; Notay,
// Napov 2015), so that Dirichlet rows whose columns are still coupled do no harm.
//
// Scalars stay in the space: in an iteration the host waits once, when x and r have been changed, and reads them all. The method cannot go
// on where w·r or d·q is not positive, or where a scalar is no number; then x and r have not been changed.
#pragma once
#include "dist/preconditioner.hpp"

namespace amgkit
{
struct FcgScalars {
  double w_r = 0, w_q = 0, d_q = 0, d_r = 0, r_r = 0;
};

// The steps on one rank's n rows; sums of this rank into s, which is in the space's memory. work: 2 sum_parts_of(n) doubles. None waits.
// s->r_r
template <class Ex> PetscErrorCode fcg_norm(Ex &, std::int64_t n, const double *r, double *work, FcgScalars *s);
// s->w_r and s->w_q, 0 without q
template <class Ex>
PetscErrorCode fcg_projections(Ex &, std::int64_t n, const double *w, const double *r, const double *q, double *work, FcgScalars *s);
// d; first: it is w
template <class Ex> PetscErrorCode fcg_direction(Ex &, std::int64_t n, bool first, const FcgScalars *s, const double *w, double *d);
// s->d_q and s->d_r
template <class Ex>
PetscErrorCode fcg_curvature(Ex &, std::int64_t n, const double *d, const double *q, const double *r, double *work, FcgScalars *s);
// x, r and s->r_r
template <class Ex>
PetscErrorCode fcg_step(Ex &, std::int64_t n, const double *d, const double *q, double *x, double *r, double *work, FcgScalars *s);

// The same steps on PETSc's vectors, all of one layout and communicator, in the space where they live. Collective. Flops are logged.
class FcgSteps {
public:
  FcgSteps() = default;
  FcgSteps(const FcgSteps &) = delete;
  FcgSteps &operator=(const FcgSteps &) = delete;
  virtual ~FcgSteps() = default;
  // Memory for vectors like x: PETSC_ERR_MEM on all ranks where there is none.
  virtual PetscErrorCode create(Vec x) = 0;
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
  // ||r||; waits
  virtual PetscErrorCode norm(Vec r, PetscReal *) = 0;
  // w·r and w·q
  virtual PetscErrorCode project(bool first, Vec w, Vec r, Vec q) = 0;
  // d from w
  virtual PetscErrorCode direct(bool first, Vec w, Vec d) = 0;
  // q = A d by the preconditioner's UserProduct, if it has one for this space: then *done.
  virtual PetscErrorCode multiply(Preconditioner &, Vec d, Vec q, bool *done) = 0;
  // d·q, d·r, then x, r and ||r||²
  virtual PetscErrorCode advance(Vec d, Vec q, Vec x, Vec r) = 0;
  // Waits
  virtual PetscErrorCode scalars(FcgScalars *) = 0;
};

// Steps in the space where x lives.
std::unique_ptr<FcgSteps> make_fcg_steps(Vec x);
} // namespace amgkit
