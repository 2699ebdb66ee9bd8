// The levels, from the user's matrix down to the coarse solver.
#pragma once
#include "amg/coarse_solver.hpp"
#include "amg/level.hpp"
#include "amg/parameters.hpp"
#include "base/recording.hpp"
#include "dist/mat_view.hpp"

#include <string>
#include <vector>

namespace amgkit
{
// Of one level, over all ranks.
struct LevelStatistics {
  PetscInt rows = 0;
  double entries = 0;
  int active_ranks = 0;   // with at least one row
  int without_blocks = 0; // ranks with an incomplete block, as Transfer has it
};

// A cycle as it can be applied: its kind, and whether its vectors are in single precision.
struct CycleChoice {
  CycleKind kind = CycleKind::automatic;
  bool single = false;
  bool operator==(const CycleChoice &) const = default;
};

template <class Ex> struct Hierarchy {
  MatView<Ex> finest;
  std::vector<std::unique_ptr<Level<Ex>>> levels; // finest first; those in which this rank has a share
  CoarseSolver<Ex> coarse_solver;
  std::vector<LevelStatistics> statistics; // of all levels, on every rank
  bool kcycle_gcr = false;                 // the form of the k-cycle, when there is one
  bool single = false;                     // whether the cycle may have its vectors in single precision
  Array<double, Ex> norm1_work, norm1;     // for amg/single.hpp, when it may
  Recording<Ex> recording;                 // what this cycle does below level recorded_below, where there is such a level
  std::size_t recorded_below = 0;
  CycleChoice recorded;

  Hierarchy() = default;
  Hierarchy(const Hierarchy &) = delete;
  Hierarchy &operator=(const Hierarchy &) = delete;
  Hierarchy(Hierarchy &&) = delete;
  Hierarchy &operator=(Hierarchy &&) = delete;
  ~Hierarchy();

  // Collective. Named errors for a matrix that cannot be taken; PETSC_ERR_MEM as attempt() has it. After an error the object can only be
  // destroyed. The matrix's memory must be accessible.
  PetscErrorCode build(Ex &, Mat, const AmgParameters &, const Prolongation<Ex> &);
  // Collective, after build(): the same levels and prolongators for new values of the same matrix on the same pattern. *fits = false: they
  // do not serve the new values, and all is to be set up anew. Errors as of build().
  PetscErrorCode refresh(Ex &, Mat, const AmgParameters &, bool *fits);
  // Device or host memory held on this rank, the user's matrix not included.
  std::size_t bytes() const;

private:
  PetscErrorCode build_finest(Ex &, Mat, const AmgParameters &, const Prolongation<Ex> &);
  PetscErrorCode build_coarser(Ex &, const AmgParameters &, const Prolongation<Ex> &);
  PetscErrorCode add_level(Ex &, const AmgParameters &, std::unique_ptr<Level<Ex>>);
  PetscErrorCode move_to_fewer(Ex &, Level<Ex> &fine, std::unique_ptr<Level<Ex>> coarse, int ranks, std::unique_ptr<Level<Ex>> &moved);
  PetscErrorCode complete(Ex &, Mat, const AmgParameters &);
  PetscErrorCode choose_kcycle(Ex &, Mat, const AmgParameters &);
  PetscErrorCode fold_if_large(Ex &, const AmgParameters &, Level<Ex> &);
  PetscErrorCode attempt_on_levels(const std::function<PetscErrorCode(Level<Ex> &)> &work);
  PetscErrorCode prepare_smoothers(Ex &, const AmgParameters &);
  PetscErrorCode prepare_coarsest(Ex &, const AmgParameters &);
  PetscErrorCode choose_precision(Ex &, const AmgParameters &);
  PetscErrorCode representable(Ex &, bool *fits);
  PetscErrorCode prepare_single(Ex &, bool *fits);
  PetscErrorCode refresh_from(Ex &, const AmgParameters &, std::size_t level);
  PetscErrorCode count();

  bool outdated_ = false; // the levels do not fit the new values, as this rank has found
};
} // namespace amgkit
