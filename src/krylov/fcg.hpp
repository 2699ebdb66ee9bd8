// Flexible conjugate gradients, each direction orthogonal to the one before (Notay 2000):
//
//   w = B r, d = w - (w·q / d·q) d, q = A d, x += (d·r / d·q) d, r -= (d·r / d·q) q
//
// d·q is computed, not taken from a recurrence that needs A to be symmetric to the last row (as with one reduction an iteration; Notay,
// Napov 2015), so that Dirichlet rows whose columns are still coupled do no harm.
//
// Scalars stay in the space: in an iteration the host waits once, when x and r have been changed, and reads them all. The method cannot go
// on where w·r or d·q is not positive, or where a scalar is no number; then x and r have not been changed.
//
// In mixed precision, with reliable updates (Clark, Babich, Barros, Brower, Rebbi 2010): r, d and q are in single precision, x and b in
// double; w is what B gives, and where B can be applied to floats, neither it nor r is ever in double. The product has A's entries to
// 40 bits at least (long_float.hpp): with entries rounded to floats, or with a part of x in single, r would drift from b - A x by
// 6e-8 |A| |x|, which costs iterations where A is badly conditioned. An update computes r = b - A x in double, and goes on with the
// direction that is there. r is scaled by a power of two, so that ||r|| is about 1 at the start; B and A are linear, and d, q and w are
// scaled with it.
#pragma once
#include "krylov/steps.hpp"

namespace amgkit
{
struct FcgScalars {
  double w_r = 0, w_q = 0, d_q = 0, d_r = 0, r_r = 0;
};

// The steps on one rank's n rows; sums of this rank into s, which is in the space's memory. work: 2 product_sum_parts_of(n) doubles. V:
// double, or float in mixed precision; W: V, or double. None waits. d·q and d·r are ProductSums of q = A d, with r; they follow one another
// in s.
//
// order: vectors of floats have entry order[i] of the others at i; nullptr: entry i.
//
// s->r_r
template <class Ex> PetscErrorCode fcg_norm(Ex &, std::int64_t n, const double *r, double *work, FcgScalars *s);
// s->w_r = the sum of w; then w <- w without its mean, of so many rows on all ranks
template <class Ex> PetscErrorCode fcg_sum(Ex &, std::int64_t n, const double *w, double *work, FcgScalars *s);
template <class Ex> PetscErrorCode fcg_remove_mean(Ex &, std::int64_t n, double rows, const FcgScalars *s, double *w);
// s->w_r and s->w_q, 0 without q
template <class Ex, class W, class V>
PetscErrorCode fcg_projections(Ex &, std::int64_t n, const int *order, const W *w, const V *r, const V *q, double *work, FcgScalars *s);
// d; first: it is w
template <class Ex, class W, class V>
PetscErrorCode fcg_direction(Ex &, std::int64_t n, const int *order, bool first, const FcgScalars *s, const W *w, V *d);
// x, r and s->r_r
template <class Ex>
PetscErrorCode fcg_step(Ex &, std::int64_t n, const double *d, const double *q, double *x, double *r, double *work, FcgScalars *s);
// x += scale (d·r / d·q) d, r and s->r_r; wide <- r, unless it is nullptr; and step, of r
template <class Ex>
PetscErrorCode fcg_step_in_mixed(Ex &, std::int64_t n, const int *order, double scale, const float *d, const float *q, double *x, float *r,
                                 double *wide, const FirstStep<float> &step, double *work, FcgScalars *s);
// r = b - w and s->r_r; single <- scale r, rounded, and r <- single, unless that is nullptr
template <class Ex>
PetscErrorCode fcg_residual(Ex &, std::int64_t n, const int *order, const double *b, const double *w, double scale, double *r,
                            float *single, double *work, FcgScalars *s);
// x[order[i]] += e[i], e <- 0
template <class Ex> PetscErrorCode fcg_add_in_order(Ex &, std::int64_t n, const int *order, double *e, double *x);
// r <- scale wide, rounded; wide <- r
template <class Ex> PetscErrorCode fcg_take_residual(Ex &, std::int64_t n, const int *order, double scale, double *wide, float *r);

// PETSc's vectors of a solve, all of one layout and communicator. In mixed precision there are no d and q, and r holds what is in single.
struct FcgVectors {
  Vec x = nullptr, r = nullptr, w = nullptr, d = nullptr, q = nullptr;
  const int *order = nullptr; // of vectors of floats, as UserProduct has it; nullptr in double precision
  bool x_may_wait = false;    // nobody reads x before complete(): steps in another order may collect what they add to it
  bool w_in_single = false;   // w's memory has floats, and r is not kept up to date: B is applied by apply()
};

// The same steps on PETSc's vectors.
class FcgSteps : public KrylovSteps {
public:
  virtual bool mixed() const = 0;
  // ||r|| of a residual in double precision; waits
  virtual PetscErrorCode norm(const FcgVectors &, PetscReal *) = 0;
  // A residual in double precision, and its norm, are there; it is the first one of a solve. In double precision nothing happens.
  virtual PetscErrorCode take_residual(const FcgVectors &, PetscReal) { return PETSC_SUCCESS; }
  // r = b - w in double precision and, unless nullptr, its norm, for which the host waits; in mixed precision a residual that is not the
  // first one of a solve is taken at once.
  virtual PetscErrorCode residual(bool first, const FcgVectors &, Vec b, PetscReal *norm) = 0;
  // w without its mean, before project()
  virtual PetscErrorCode remove_mean(Vec w) = 0;
  // w·r and w·q
  virtual PetscErrorCode project(bool first, const FcgVectors &) = 0;
  // d from w
  virtual PetscErrorCode direct(bool first, const FcgVectors &) = 0;
  // The order of vectors of floats, which are the preconditioner's; and whether it is another than the user's on any rank.
  virtual const int *order(Preconditioner &) const { return nullptr; }
  virtual bool reordered(Preconditioner &) const { return false; }
  // x is what the steps have made it.
  virtual PetscErrorCode complete(const FcgVectors &) { return PETSC_SUCCESS; }
  // Whether the preconditioner applies B to floats.
  virtual bool can_apply(Preconditioner &) const { return false; }
  // By it: w = B r in single precision.
  virtual PetscErrorCode apply(Preconditioner &, const FcgVectors &) { return PETSC_ERR_SUP; }
  // By its product: q = A d, with this rank's d·q and d·r; as_set_up as in multiply_exactly(), and true in mixed precision.
  virtual PetscErrorCode multiply(Preconditioner &, const FcgVectors &, bool as_set_up) = 0;
  // d·q and d·r, unless multiply() has made them by this preconditioner's product, then x, r and ||r||²; and the first smoothing step of
  // the next apply()
  virtual PetscErrorCode advance(const FcgVectors &, Preconditioner *multiplied_by) = 0;
  // The scalars begin their way to the host, where scalars() waits for them, and not for what is queued after this.
  virtual PetscErrorCode post_scalars() = 0;
  // *norm: ||r||, as the step left it.
  virtual PetscErrorCode scalars(FcgScalars *, PetscReal *norm) = 0;
  // Whether what is queued runs while the host waits, on a GPU, that is, and in the space that stands for one.
  virtual bool runs_alone() const = 0;
};

// Whether steps may be in mixed precision: the preconditioner has a product in single precision there; must_pay: and that is faster. The
// same on all ranks.
bool fcg_can_mix(Vec x, Preconditioner *solver, bool must_pay);
std::unique_ptr<FcgSteps> make_fcg_steps(Vec x, Preconditioner *solver, bool mixed);
} // namespace amgkit
