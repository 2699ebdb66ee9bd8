// The levels, from the user's matrix down to the coarse solver.
#pragma once
#include "amg/coarse_solver.hpp"
#include "amg/level.hpp"
#include "amg/parameters.hpp"
#include "dist/mat_view.hpp"

#include <vector>

namespace amgkit
{
// Of one level, over all ranks.
struct LevelStatistics {
  PetscInt rows = 0;
  double entries = 0;
  int active_ranks = 0;   // with at least one row
  int without_blocks = 0; // ranks with an incomplete block, as Transfer has it
  int block_size = 1;
  int single_rows = 0, any_coupling = 0; // ranks with this Concession for the next level
};

// How the finest level's rows are numbered. Each rank decides for its own rows.
struct Numbering {
  int measured = 0, taken = 0; // ranks that measured, and that took an order of their own
  double given = 0, own = 0;   // scattered_share() in the user's order, and in the order taken: the mean over all entries measured
};

template <class Ex> struct Hierarchy {
  MatView<Ex> finest; // in the cycle's own order where it has one
  Numbering numbering;
  std::vector<std::unique_ptr<Level<Ex>>> levels; // finest first; those in which this rank has a share
  CoarseSolver<Ex> coarse_solver;
  std::vector<LevelStatistics> statistics; // of all levels, on every rank

  Hierarchy() = default;
  Hierarchy(const Hierarchy &) = delete;
  Hierarchy &operator=(const Hierarchy &) = delete;
  Hierarchy(Hierarchy &&) = delete;
  Hierarchy &operator=(Hierarchy &&) = delete;
  ~Hierarchy();

  // Collective. Named errors for a matrix that cannot be taken; PETSC_ERR_MEM as attempt() has it. After an error the object can only be
  // destroyed.
  PetscErrorCode build(Ex &, Mat, const AmgParameters &, Prolongation<Ex> &);
  // Collective, after build(): the same levels and prolongators for new values of the same matrix on the same pattern. *fits = false: they
  // do not serve the new values, and all is to be set up anew. Errors as of build().
  PetscErrorCode refresh(Ex &, const AmgParameters &, bool *fits);
  MPI_Comm comm() const { return levels.front()->A.comm; }
  // Where this rank holds the coarsest level and it has too many rows for the dense solver: what solves it, and why; else "".
  std::string ended_early() const;
  // Device or host memory held on this rank, the user's matrix not included.
  std::size_t bytes() const;

private:
  struct Setup;
  PetscErrorCode build_finest(Setup &, Mat);
  PetscErrorCode renumber_finest(Setup &, Array<double, Ex> &diagonal);
  PetscErrorCode renumber_own_rows(Setup &, const Array<double, Ex> &diagonal, Array<double, Ex> &ordered);
  PetscErrorCode sum_numbering();
  PetscErrorCode build_coarser(Setup &);
  PetscErrorCode take_coarsest(Setup &, LevelSetup<Ex>);
  PetscErrorCode move_to_fewer(Setup &, Level<Ex> &fine, std::unique_ptr<Level<Ex>> coarse, int ranks);
  PetscErrorCode fold_if_large(Ex &, const AmgParameters &, Level<Ex> &) const;
  PetscErrorCode refresh_from(Ex &, const AmgParameters &, std::size_t level, LevelSetup<Ex>, bool *fits);
  PetscErrorCode access_finest(Ex &, Array<double, Ex> &diagonal);
  PetscErrorCode prepare_smoothers(Ex &, const AmgParameters &);
  PetscErrorCode count();
};
} // namespace amgkit
