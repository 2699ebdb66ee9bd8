#include "amg/cycle.hpp"

#include "amg/smoother.hpp"
#include "base/log.hpp"

namespace amgkit
{
namespace
{
// The iterate of one level alternates between two arrays: every sweep reads one and writes the other.
struct Iterate {
  double *here, *there;
  void flip() { std::swap(here, there); }
};

template <class Ex> PetscErrorCode sweeps(Ex &ex, Level<Ex> &level, PetscInt n, const double *b, Iterate &x)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < n; s++) {
    PetscCall(sweep(ex, level, b, x.here, x.there));
    x.flip();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode cycle_at(Ex &ex, Hierarchy<Ex> &hierarchy, std::size_t l, PetscInt n, const double *b, double *x)
{
  Level<Ex> &level = *hierarchy.levels[l];

  PetscFunctionBegin;
  if (l + 1 == hierarchy.levels.size()) {
    PetscCall(log_begin(Phase::coarse));
    PetscCall(hierarchy.coarse_solver.solve(ex, level, b, x));
    PetscCall(log_end(Phase::coarse));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Level<Ex> &coarse = *hierarchy.levels[l + 1];
  Iterate iterate{level.A.work.data(), x}; // 2 n - 1 flips lead from work to x

  PetscCall(log_begin(Phase::smooth));
  PetscCall(first_sweep(ex, level, b, iterate.here));
  PetscCall(sweeps(ex, level, n - 1, b, iterate));
  PetscCall(log_end(Phase::smooth));

  PetscCall(log_begin(Phase::transfer));
  PetscCall(level.A.residual(ex, b, iterate.here, iterate.there));
  PetscCall(level.transfer->restrict_residual(ex, iterate.there, coarse.b.data()));
  PetscCall(log_end(Phase::transfer));
  PetscCall(cycle_at(ex, hierarchy, l + 1, n, coarse.b.data(), coarse.x.data()));
  PetscCall(log_begin(Phase::transfer));
  PetscCall(level.transfer->add_correction(ex, coarse.x.data(), iterate.here));
  PetscCall(log_end(Phase::transfer));

  PetscCall(log_begin(Phase::smooth));
  PetscCall(sweeps(ex, level, n, b, iterate));
  PetscCall(log_end(Phase::smooth));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode v_cycle(Ex &ex, Hierarchy<Ex> &hierarchy, PetscInt sweeps, const double *b, double *x)
{
  return cycle_at(ex, hierarchy, 0, sweeps, b, x);
}

#define INSTANTIATE(Ex) template PetscErrorCode v_cycle(Ex &, Hierarchy<Ex> &, PetscInt, const double *, double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
