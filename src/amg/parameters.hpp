// The parameters all multigrid types share, and those of amgmatching.
#pragma once
#include "base/parameters.hpp"

namespace amgkit
{
enum class CoarseKind : int { dense, smoother };
enum class SpaceKind : int { automatic, host, debug };

struct AmgParameters {
  PetscInt max_levels = 25;
  PetscInt coarse_eq_limit = 1000;
  int cycle_type = 0;
  int smoother = 0;
  PetscInt smoother_sweeps = 4;
  int coarse_solver = static_cast<int>(CoarseKind::dense);
  PetscInt coarse_sweeps = 20;
  int space = static_cast<int>(SpaceKind::automatic);

  ParameterList list()
  {
    return {
        {"max_levels", IntegerRange{&max_levels, 1, 100}, "Most levels of the hierarchy, the finest included", "PETSc PCMG"},
        {"coarse_eq_limit", IntegerRange{&coarse_eq_limit, 1, 20000},
         "Coarsening stops at this many global rows, and the dense coarse solver takes no more", ""},
        {"cycle_type", Choice{&cycle_type, {"v"}}, "Multigrid cycle", "BootCMatchGX"},
        {"smoother", Choice{&smoother, {"l1jacobi"}}, "Smoother of all levels but the coarsest",
         "BootCMatchGX; Baker, Falgout, Kolev, Yang 2011"},
        {"smoother_sweeps", IntegerRange{&smoother_sweeps, 1, 100}, "Sweeps before, and as many after, the coarse correction",
         "BootCMatchGX"},
        {"coarse_solver", Choice{&coarse_solver, {"dense", "smoother"}},
         "On the coarsest level: its dense inverse, gathered on one rank, or coarse_sweeps of the smoother", ""},
        {"coarse_sweeps", IntegerRange{&coarse_sweeps, 1, 1000},
         "Sweeps on the coarsest level when it is smoothed, by choice or because it is too large for the dense inverse", "BootCMatchGX"},
        {"space", Choice{&space, {"auto", "host", "debug"}},
         "Where to run: auto follows the matrix; host forces the CPU; debug is the CPU with shuffled loops and poisoned memory", ""},
    };
  }
};

struct MatchingParameters {
  PetscInt matching_steps = 3;

  ParameterList list()
  {
    return {{"matching_steps", IntegerRange{&matching_steps, 1, 4},
             "Pairwise matchings composed into one level: aggregates of up to 2^steps rows", "BootCMatchGX"}};
  }
};
} // namespace amgkit
