// The parameters that all multigrid types share.
#pragma once
#include "base/parameters.hpp"
#include "sparse/formats/stored_matrix.hpp"

namespace amgkit
{
enum class CoarseKind { dense, smoother };
enum class CycleKind { automatic, v, w, f, k };
enum class KCycleForm { automatic, fcg, gcr };
enum class Renumber { automatic, no, yes };
enum class SmootherKind { automatic, l1jacobi, jacobi, chebyshev, ilu0, gauss_seidel };

struct AmgParameters {
  PetscInt max_levels = 25;
  PetscInt coarse_eq_limit = 0;
  PetscInt process_eq_limit = 0;
  CycleKind cycle_type = CycleKind::automatic;
  PetscInt kcycle_levels = 0;
  KCycleForm kcycle_form = KCycleForm::automatic;
  SmootherKind smoother = SmootherKind::automatic;
  PetscInt smoother_sweeps = 1;
  PetscInt pre_sweeps = -1, post_sweeps = -1;
  PetscInt chebyshev_degree = 0, least_degree = 1; // the second no option: a type's own
  PetscBool smooth_tied_rows = PETSC_TRUE;
  PetscReal jacobi_omega = 0;
  CoarseKind coarse_solver = CoarseKind::dense;
  PetscInt coarse_sweeps = 20;
  PetscBool reuse_interpolation = PETSC_TRUE;
  Storage storage = Storage::in_single;
  // With fewer rows a GPU a solve is launches, whatever the vectors are; and for vectors of doubles the passes into single precision and
  // out of it take longer than vectors of half the size save: see share/amgkit/bench/NOTES.md. No options; tests set them.
  PetscInt rows_worth_single = 300000, rows_worth_rounding = 2000000;
  // If a rank's own block has fewer entries, its Gauss-Seidel sweeps read doubles: these are in the cache then, and as fast. No option;
  // tests set it.
  PetscInt entries_worth_single = 1 << 20;
  // Levels of more rows are not recorded: their kernels run longer than a launch takes, and recording one takes 5 microseconds. No option;
  // tests set it.
  PetscInt rows_recorded = 300000;
  // Nor are those of a v-cycle that has more entries than this on the levels above them: the device is still busy with these while the host
  // launches the few kernels below, and a recording would save nothing. No option; tests set it.
  PetscInt entries_recorded = 8000000;
  Renumber renumber = Renumber::automatic;
  // With fewer rows the vectors fit into a GPU's fast memory, whatever their order. No option; tests set it.
  PetscInt rows_worth_renumbering = 100000;
  PetscBool cuda_graph = PETSC_TRUE;
  PetscBool export_mg = PETSC_FALSE;
  SpaceKind space = SpaceKind::automatic;
  Consolidation consolidation;

  // The largest level that the dense solver takes.
  template <class Ex> PetscInt dense_limit() const { return coarse_eq_limit > 0 ? coarse_eq_limit : Ex::one_by_one ? 1000 : 1500; }
  // Coarsening goes on from a level with more rows. By choice: a GPU inverts 1500 rows in the time that another level takes. A CPU's core
  // factors 1000 rows in 9 ms and 250 in 0.2, and coarsens 1000 rows in 1 ms. But small matrices, for which that is little in any case, are
  // solved more surely with an exact coarse level: those of convection and of the biharmonic operator.
  template <class Ex> PetscInt coarsening_limit(PetscInt finest_rows) const
  {
    constexpr PetscInt small = 10000;
    return coarse_eq_limit > 0 ? coarse_eq_limit : !Ex::one_by_one ? 1500 : finest_rows < small ? 1000 : 250;
  }
  // The same for the finest level, by choice in every space.
  PetscInt finest_limit() const { return coarse_eq_limit > 0 ? coarse_eq_limit : 1000; }
  PetscInt sweeps_before() const { return pre_sweeps < 0 ? smoother_sweeps : pre_sweeps; }
  PetscInt sweeps_after() const { return post_sweeps < 0 ? smoother_sweeps : post_sweeps; }

  ParameterList list()
  {
    return joined(joined(joined(level_list(), smoother_list()), joined(coarsest_list(), machine_list())), consolidation.list());
  }

private:
  ParameterList level_list()
  {
    return {
        {"max_levels", IntegerRange{&max_levels, 1, 100}, "Largest number of levels, the finest included", "", "PETSc PCMG"},
        {"coarse_eq_limit", IntegerRange{&coarse_eq_limit, 0, 20000},
         "Coarsening stops at a level with at most this many global rows; 0 chooses the number",
         "The dense coarse solver takes no level with more rows. With 0, coarsening stops at 250 rows on CPUs, and at 1000 if the matrix "
         "has fewer than 10000. If it ends earlier, the dense solver takes up to 1000 rows. With 0, both limits are 1500 on GPUs. With 0, "
         "a matrix of at most 1000 rows is not coarsened."},
        {"process_eq_limit", IntegerRange{&process_eq_limit, 0, 1000000000},
         "A coarse level with fewer rows per process than this moves to fewer processes",
         "It moves if at most half of the processes are enough. With 0, the limit is 500 rows per process on CPUs. On GPUs, 0 means 14 "
         "million matrix entries per process, and a level moves if one process or an eighth of the processes is enough. A level that is "
         "small enough to end coarsening moves to one process, if coarse_solver is dense.",
         "PETSc PCGAMG"},
        {"cycle_type", choice(&cycle_type, {"auto", "v", "w", "f", "k"}), "Multigrid cycle; auto chooses it to suit the KSP and the matrix",
         "The k-cycle solves each coarse problem by two steps of a Krylov method, so that the preconditioner changes from one application "
         "to the next. With auto, the cycle is k under a flexible KSP (amgfcg, fcg, fgmres, gcr, ...) and w, which is linear, under any "
         "other. It is v if a test in the setup, or a comparison in a slow solve, shows that more than one visit to a level does not pay. "
         "With auto and kcycle_levels 0, amgfcg changes from k-cycles to w-cycles in a very slow solve.",
         "Notay, Vassilevski 2008 (k)"},
        {"kcycle_levels", IntegerRange{&kcycle_levels, 0, 100},
         "Number of levels, from 1 down, that cycles w, f and k visit more than once; 0 chooses up to 3",
         "With 0, a test of v-cycles in the first setup and the cost of a visit decide. The result may be 0 with cycle_type auto, and is "
         "at least 1 otherwise. -ksp_view shows it."},
        {"kcycle_form", choice(&kcycle_form, {"auto", "fcg", "gcr"}),
         "Krylov method inside the k-cycle; auto chooses it by the symmetry of the matrix",
         "With auto, a test finds out whether the matrix is symmetric: the method is fcg if it is, else gcr.", "Notay 2010"},
    };
  }
  ParameterList smoother_list()
  {
    return {
        {"smoother", choice(&smoother, {"auto", "l1jacobi", "jacobi", "chebyshev", "ilu0", "gauss_seidel"}),
         "Smoother of all levels but the coarsest; auto is gauss_seidel on CPUs, chebyshev on GPUs",
         "With auto and a chebyshev_degree other than 0 it is chebyshev on CPUs, too. "
         "The smoothers jacobi and chebyshev estimate rho, the spectral radius of D^-1 A, by 4 Lanczos steps. The smoother ilu0 is an "
         "incomplete factorization without fill of each process's own rows and columns. It saves iterations, takes two to three times "
         "the memory of the matrix, and is meant for CPUs: on a GPU, solves took 10 to 33 times as long as with chebyshev. On a level "
         "where the factorization fails, l1jacobi takes its place; -ksp_view names such levels. The smoother gauss_seidel is for CPUs "
         "alone: forward sweeps before the coarse correction, and backward ones after it, through each process's own rows. It uses "
         "the values that other processes had before the sweep. Rows that couple strongly to other processes get a larger diagonal, so "
         "that "
         "sweeps converge for every symmetric definite matrix. On a level that is not symmetric, and on which a test finds that errors "
         "grow, chebyshev takes its place; -ksp_view names such levels.",
         "Baker, Falgout, Kolev, Yang 2011 (l1jacobi, gauss_seidel)"},
        {"smoother_sweeps", IntegerRange{&smoother_sweeps, 0, 100}, "Smoothing sweeps before the coarse correction, and as many after it"},
        {"pre_sweeps", IntegerRange{&pre_sweeps, -1, 100}, "Smoothing sweeps before the coarse correction; -1 means smoother_sweeps"},
        {"post_sweeps", IntegerRange{&post_sweeps, -1, 100}, "Smoothing sweeps after the coarse correction; -1 means smoother_sweeps"},
        {"chebyshev_degree", IntegerRange{&chebyshev_degree, 0, 10},
         "Degree of the Chebyshev polynomial that makes one sweep; 0 chooses it for each level",
         "The polynomial is that of the interval [0.1 rho, 1.15 rho]. A sweep takes one product with the matrix per degree. With "
         "0, the degree is 1 where rho is at most 2.4, 2 where it is at most 6.5, else 3; with amgsa at least 2. -ksp_view names "
         "the levels whose degree is above the smallest.",
         "PETSc PCGAMG"},
        {"smooth_tied_rows", Flag{&smooth_tied_rows},
         "Smooth tied rows together: rows with a coupling nearly as large as their diagonal entries",
         "Rows i and j are tied if a_ij^2 and a_ji^2 are above half of |a_ii a_jj|, as in a sliver, a nearly flat tetrahedron. This is "
         "done on the finest level, for groups of 2 to 8 rows of one process. The smoother chebyshev replaces the inverse diagonal entries "
         "of a group by the inverse of its block. The smoother gauss_seidel solves the groups in addition. -ksp_view says how many groups "
         "there are. Larger groups are left alone. If the groups hold more than half of all rows, and with other smoothers, nothing is "
         "done."},
        {"jacobi_omega", RealRange{&jacobi_omega, 0, 2}, "Weight of the jacobi smoother; 0 means 4 / (3 rho)", "",
         "Vanek, Mandel, Brezina 1996"},
    };
  }
  ParameterList coarsest_list()
  {
    return {
        {"coarse_solver", choice(&coarse_solver, {"dense", "smoother"}),
         "Solver of the coarsest level: a dense direct solver, or sweeps of the smoother",
         "The coarsest matrix is gathered on one process. CPUs factor it, GPUs invert it. If it has too many rows, or is singular "
         "with a null space other than the smooth vector, a polynomial that reduces the error to a fifth takes the direct solver's place. "
         "Where the smoother solves the level, the number of sweeps is coarse_sweeps. With gauss_seidel every second sweep is backward, so "
         "an odd number is raised by one."},
        {"coarse_sweeps", IntegerRange{&coarse_sweeps, 1, 1000}, "Number of sweeps where the smoother solves the coarsest level",
         "The smoother does so by choice of coarse_solver, or because a level that is too large for the dense solver has a matrix that is "
         "not symmetric or not semidefinite.",
         "BootCMatchGX"},
        {"reuse_interpolation", Flag{&reuse_interpolation}, "Keep aggregates or coarse points when only the values of the matrix change",
         "Otherwise everything is built anew.", "PETSc PCGAMG"},
    };
  }
  ParameterList machine_list()
  {
    return {
        {"storage", choice(&storage, {"double", "single"}), "Precision of the matrices that the cycle reads",
         "On CPUs, only Gauss-Seidel sweeps read single precision, and only where a process's diagonal block has at least 1,048,576 "
         "entries. On a GPU, the whole cycle does; with flexible Krylov methods and many rows, its vectors have this precision, too. A "
         "matrix with nonzero entries below 1.2e-38 or above 1e18 in size stays in double precision, and then so do all vectors. On a "
         "GPU, coarse matrices with at least a thirtieth of the finest one's entries are kept in this precision alone, "
         "PCGetCoarseOperators() returns the rounded values, and amgclassical rounds its interpolation weights."},
        {"cuda_graph", Flag{&cuda_graph}, "On a GPU, launch the kernels of the small levels as one CUDA graph",
         "That is done where it saves time. On several GPUs, the graph contains small levels that one GPU holds alone. "
         "Where GPUs write into each other's memory, it also contains small levels of several GPUs."},
        {"renumber", choice(&renumber, {"auto", "no", "yes"}), "On a GPU, let the preconditioner reorder the rows internally",
         "With auto, a process reorders its rows if it has at least 100,000, their numbering is little better than a random one, and there "
         "are no blocks. With yes it always does; if there are blocks, it reorders whole nodes. The reordered copy of the matrix takes a "
         "third more bytes than the matrix. Vectors and exported levels keep the user's order. No row moves to another process."},
        {"export_mg", Flag{&export_mg}, "Hand the levels to a PCMG, which then applies the preconditioner",
         "The options -mg_levels_*, -mg_coarse_* and -pc_mg_* choose its smoothers, coarse solver and cycle. Its default "
         "smoother is chebyshev with jacobi.",
         "PETSc PCMG"},
        space_parameter(&space),
    };
  }
};
} // namespace amgkit
