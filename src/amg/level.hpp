// One level of a hierarchy, and the operator to the next coarser one.
#pragma once
#include "amg/kcycle.hpp"
#include "amg/smoother.hpp"
#include "dist/mat_view.hpp"
#include "dist/near_null.hpp"
#include "dist/redistribution.hpp"
#include "dist/transposed.hpp"

#include <memory>

namespace amgkit
{
template <class Ex> struct Level;

// The prolongator P between a level and the next coarser one, as transfer makes it, before any move to fewer ranks. What applies or
// refreshes it is collective over the finer level's ranks.
template <class Ex> class Transfer {
public:
  Transfer() = default;
  Transfer(const Transfer &) = delete;
  Transfer &operator=(const Transfer &) = delete;
  virtual ~Transfer() = default;
  // b = Pᵀ r
  virtual PetscErrorCode restrict_residual(Ex &, const double *r, double *b) = 0;
  virtual PetscErrorCode restrict_residual(Ex &, const float *r, float *b) = 0;
  // x += P e
  virtual PetscErrorCode add_correction(Ex &, const double *e, double *x) = 0;
  virtual PetscErrorCode add_correction(Ex &, const float *e, float *x) = 0;
  // Local, before the first of those with floats. *fits = false: P's entries are not for floats.
  virtual PetscErrorCode prepare_single(Ex &, bool *fits) = 0;
  // coarse = Pᵀ fine P for new values of fine on the same pattern, and new weights in P where the method has it so; P's pattern stays.
  // *sound <- what Level has of that name, of coarse; the same on all ranks.
  virtual PetscErrorCode refresh(Ex &, Level<Ex> &fine, DistMatrix<Ex> &coarse, bool *sound) = 0;
  // Local: P's rows of this rank on the host, when the rank's coarse rows begin with the global row first_coarse.
  virtual PetscErrorCode rows(Ex &, PetscInt first_coarse, HostRows &) const = 0;
  // Local: as GalerkinProduct has it
  virtual bool in_blocks() const { return true; }
  virtual std::size_t bytes() const = 0;
};

template <class Ex> struct Level {
  DistMatrix<Ex> A;
  int number = 0;     // in the hierarchy, the finest is 0
  bool sound = true;  // false: A is not what multigrid can go on with, and coarsening ends before
  int block_size = 1; // unknowns a node
  // Whether what the cycle alone reads of the level may be in single precision.
  bool in_single = false;
  // By the unknown approach, where rows are no nodes: how many unknowns there are, and during setup, if there are several, which one
  // each row is of.
  int unknowns = 1;
  // amgclassical, on all levels what the finest one has: a_ii differ so much that rows may not be comparable (graph/strength.hpp).
  bool uneven = false;
  Array<int, Ex> unknown;
  Smoother<Ex> smoother;
  std::unique_ptr<Transfer<Ex>> transfer; // to the next coarser level, none on the coarsest
  // When the next coarser level is held by fewer ranks: the way there, and the level as transfer makes it, before it is moved.
  std::unique_ptr<Redistribution<Ex>> to_fewer;
  std::unique_ptr<Level<Ex>> unmoved;
  std::unique_ptr<TransposedMatrix<Ex>> transposed; // of A, once somebody has asked for it
  // Of the cycle: the solution, the right-hand side, and the other array of an iterate. A cycle in single precision uses the first half of
  // each. On the finest level x and b are the caller's; there a cycle in single precision has its own, b in the second half of work.
  Array<double, Ex> x, b, work;
  KCycle<Ex> kcycle;          // empty on levels that only a v-cycle visits
  Array<double, Ex> diagonal; // a_ii; during setup only
  // w: amgmatching represents it exactly on coarse levels; if the coarsest matrix is singular, what it is projected out of. During setup,
  // and on the coarsest level.
  Array<double, Ex> smooth_vector;
  NearNull<Ex> near_null; // amgsa: what the coarse levels represent exactly, before P is smoothed; during setup only

  std::size_t bytes() const
  {
    return A.bytes() + smoother.bytes() + x.bytes() + b.bytes() + work.bytes() + kcycle.bytes() + (transfer ? transfer->bytes() : 0) +
           (to_fewer ? to_fewer->bytes() + unmoved->bytes() : 0) + (transposed ? transposed->bytes() : 0);
  }
  // Local: diagonal, unless it is there, and the smoother's D⁻¹, once A is complete or has new values.
  PetscErrorCode analyse(Ex &, const AmgParameters &);
  // Frees what only the setup needs.
  void forget_setup();
};

// How a method coarsens: the one thing in which the multigrid types differ.
template <class Ex> class Prolongation {
public:
  Prolongation() = default;
  Prolongation(const Prolongation &) = delete;
  Prolongation &operator=(const Prolongation &) = delete;
  virtual ~Prolongation() = default;
  // Collective, once diagonal is there: the finest level's smooth_vector, from what the user says of A, and what the method needs besides.
  virtual PetscErrorCode begin(Ex &, Mat A, Level<Ex> &finest) const;
  // Collective: fine.transfer, coarse.A = Pᵀ A P and coarse.smooth_vector, from fine.A, diagonal and smooth_vector.
  virtual PetscErrorCode build(Ex &, Level<Ex> &fine, Level<Ex> &coarse) const = 0;
};
} // namespace amgkit
