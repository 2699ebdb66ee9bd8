// The parameters all multigrid types share, and those of each.
#pragma once
#include "base/parameters.hpp"
#include "sparse/stored_matrix.hpp"

namespace amgkit
{
enum class CoarseKind : int { dense, smoother };
enum class CycleKind : int { automatic, v, w, f, k };
enum class KCycleForm : int { automatic, fcg, gcr };
enum class SmootherKind : int { l1jacobi, jacobi, chebyshev, ilu0 };

struct AmgParameters {
  PetscInt max_levels = 25;
  PetscInt coarse_eq_limit = 1000;
  PetscInt process_eq_limit = 0;
  int cycle_type = static_cast<int>(CycleKind::automatic);
  PetscInt kcycle_levels = 3;
  int kcycle_form = static_cast<int>(KCycleForm::automatic);
  int smoother = static_cast<int>(SmootherKind::chebyshev);
  PetscInt smoother_sweeps = 1;
  PetscInt pre_sweeps = -1, post_sweeps = -1;
  PetscInt chebyshev_degree = 1;
  PetscReal jacobi_omega = 0;
  int coarse_solver = static_cast<int>(CoarseKind::dense);
  PetscInt coarse_sweeps = 20;
  PetscBool reuse_interpolation = PETSC_TRUE;
  int storage = static_cast<int>(Storage::in_single);
  // With fewer rows a GPU the passes into single precision and out of it take longer than vectors of half the size save: see
  // share/amgkit/bench/NOTES.md. No option; tests set it.
  PetscInt rows_worth_single = 2000000;
  PetscBool cuda_graph = PETSC_TRUE;
  PetscBool export_mg = PETSC_FALSE;
  int space = static_cast<int>(SpaceKind::automatic);

  PetscInt sweeps_before() const { return pre_sweeps < 0 ? smoother_sweeps : pre_sweeps; }
  PetscInt sweeps_after() const { return post_sweeps < 0 ? smoother_sweeps : post_sweeps; }

  ParameterList list()
  {
    return {
        {"max_levels", IntegerRange{&max_levels, 1, 100}, "Most levels of the hierarchy, the finest included", "PETSc PCMG"},
        {"coarse_eq_limit", IntegerRange{&coarse_eq_limit, 1, 20000},
         "Coarsening stops at this many global rows, and the dense coarse solver takes no more", ""},
        {"process_eq_limit", IntegerRange{&process_eq_limit, 0, 1000000000},
         "A coarse level with fewer rows a process is gathered on fewer processes, when half of them or less will do; 0: 500 on CPUs, "
         "on GPUs 14 million entries. One that a dense inverse solves always goes to one",
         "PETSc PCGAMG"},
        {"cycle_type", Choice{&cycle_type, {"auto", "v", "w", "f", "k"}},
         "Multigrid cycle. k solves coarse problems by two steps of a Krylov method, so that the preconditioner changes from one "
         "application to the next. auto: k under a flexible KSP (amgfcg, fcg, fgmres, gcr, ...), else w, which is linear",
         "k: Notay, Vassilevski 2008"},
        {"kcycle_levels", IntegerRange{&kcycle_levels, 1, 100},
         "The cycles w, f and k act on so many of the finest levels, a v-cycle below", ""},
        {"kcycle_form", Choice{&kcycle_form, {"auto", "fcg", "gcr"}},
         "Krylov method inside the k-cycle: fcg for symmetric matrices, gcr for others; auto tests the matrix", "Notay 2010"},
        {"smoother", Choice{&smoother, {"l1jacobi", "jacobi", "chebyshev", "ilu0"}},
         "Smoother of all levels but the coarsest. jacobi and chebyshev estimate rho, the spectral radius of D^-1 A, by 4 Lanczos steps. "
         "ilu0: an incomplete factorization without fill of each process's own rows and columns, fewer iterations for two to three times "
         "the matrix's memory, and for CPUs: on a GPU its solves took 10 to 33 times as long; a level where it fails, which the view "
         "names, has l1jacobi",
         "l1jacobi: Baker, Falgout, Kolev, Yang 2011"},
        {"smoother_sweeps", IntegerRange{&smoother_sweeps, 0, 100}, "Sweeps before, and as many after, the coarse correction", ""},
        {"pre_sweeps", IntegerRange{&pre_sweeps, -1, 100}, "Sweeps before the coarse correction; -1: as smoother_sweeps", ""},
        {"post_sweeps", IntegerRange{&post_sweeps, -1, 100}, "Sweeps after the coarse correction; -1: as smoother_sweeps", ""},
        {"chebyshev_degree", IntegerRange{&chebyshev_degree, 1, 10},
         "Degree of the Chebyshev polynomial on [0.1 rho, 1.15 rho] that makes one sweep, a product with the matrix each", "PETSc PCGAMG"},
        {"jacobi_omega", RealRange{&jacobi_omega, 0, 2}, "Weight of the jacobi smoother; 0: 4 / (3 rho)", "Vanek, Mandel, Brezina 1996"},
        {"coarse_solver", Choice{&coarse_solver, {"dense", "smoother"}},
         "On the coarsest level: its dense inverse, gathered on one rank, or coarse_sweeps of the smoother", ""},
        {"coarse_sweeps", IntegerRange{&coarse_sweeps, 1, 1000},
         "Sweeps on the coarsest level when it is smoothed, by choice or because it is too large for the dense inverse", "BootCMatchGX"},
        {"reuse_interpolation", Flag{&reuse_interpolation},
         "Keep aggregates or coarse points when only the values of the matrix change; else everything is built anew", "PETSc PCGAMG"},
        {"storage", Choice{&storage, {"double", "single"}},
         "Precision, on a GPU, of the matrices that the cycle reads, and with flexible Krylov methods and many rows of its "
         "vectors. A matrix that would lose entries stays double, and then all vectors. Coarse matrices with a thirtieth of the "
         "finest one's entries or more are kept in this precision alone, and given so to whoever asks for them; amgclassical's "
         "weights are rounded to it",
         ""},
        {"cuda_graph", Flag{&cuda_graph},
         "On a GPU: launch the kernels of the levels below the finest as one CUDA graph, on several GPUs of those that one holds alone",
         ""},
        {"export_mg", Flag{&export_mg},
         "Hand the levels to a PCMG, which applies the preconditioner in place of this one: -mg_levels_*, -mg_coarse_* and -pc_mg_* then "
         "choose its smoothers, coarse solver and cycle, by default chebyshev with jacobi",
         "PETSc PCMG"},
        {"space", Choice{&space, {"auto", "host", "debug"}},
         "Where to run: auto follows the matrix; host forces the CPU; debug is the CPU with shuffled loops and poisoned memory", ""},
    };
  }
};

struct ClassicalParameters {
  PetscReal threshold = 0.25, max_row_sum = 0.9;
  int interp_type = 2; // InterpolationKind
  PetscInt p_max = 4;
  PetscReal truncfactor = 0;
  PetscInt agg_nl = 0;
  int agg_type = 1; // less 1, the least number of paths
  PetscInt agg_p_max = 2;
  PetscBool reweight = PETSC_FALSE;
  int spgemm = 0; // SpgemmKind

  ParameterList list()
  {
    return {
        {"threshold", RealRange{&threshold, 0, 1},
         "Row i depends on column j where -a_ij, with the sign of the diagonal, is more than this share of the largest in the row",
         "Ruge, Stueben 1987"},
        {"max_row_sum", RealRange{&max_row_sum, 0, 1},
         "Rows whose sum is in absolute value more than this share of the diagonal's depend on nothing and are left to the "
         "smoother; 1: none",
         "hypre BoomerAMG"},
        {"interp_type", Choice{&interp_type, {"direct", "ext", "ext+i", "ext+e"}},
         "Interpolation: direct, or one of the extended ones in matrix-matrix form, which reach coarse points over fine ones",
         "direct: Stueben 2001; Li, Sjogreen, Yang 2021"},
        {"p_max", IntegerRange{&p_max, 0, 1000}, "Most entries in a row of the interpolation, the largest; 0: all", "hypre BoomerAMG"},
        {"truncfactor", RealRange{&truncfactor, 0, 1},
         "Entries below this share of the largest in their row of the interpolation are dropped", "hypre BoomerAMG"},
        {"agg_nl", IntegerRange{&agg_nl, 0, 100},
         "On so many of the finest levels coarsening is aggressive: coarse points are chosen twice, and interpolation has two stages. "
         "Smaller levels, a faster setup and half the memory, for more iterations. Not with direct interpolation",
         "De Sterck, Yang, Heys 2006"},
        {"agg_type", Choice{&agg_type, {"a1", "a2"}},
         "On aggressive levels a coarse point represents those to which it has so many paths of length two, or a direct one",
         "De Sterck, Yang, Heys 2006"},
        {"agg_p_max", IntegerRange{&agg_p_max, 0, 1000},
         "On aggressive levels, most entries in a row of either stage of the interpolation; 0: all. p_max holds for both together",
         "Li, Sjogreen, Yang 2021"},
        {"reweight", Flag{&reweight},
         "When only the values of the matrix change and reuse_interpolation keeps the coarse points: new weights for the interpolation in "
         "place of those that there are, which takes more than twice the memory: 12.4 in place of 5.4 GB for 17 million rows of a 7-point "
         "grid",
         ""},
        {"spgemm", Choice{&spgemm, {"native", "cusparse", "kokkos"}},
         "Whose sparse products the setup takes: this library's; cuSPARSE's, on GPUs; Kokkos Kernels', if the build found it, on CPUs, and "
         "on GPUs if it was built with CUDA",
         ""},
    };
  }
};

struct SmoothedParameters {
  int strength_type = 0; // StrengthKind
  PetscReal threshold = 0.25, threshold_scale = 0.5;
  PetscInt mis_k = 2, aggressive_coarsening = 0;
  PetscInt agg_nsmooths = 1;
  PetscBool lump_weak = PETSC_TRUE;
  PetscReal prolongator_filter = 0;
  PetscBool reweight = PETSC_TRUE;
  int spgemm = 0; // SpgemmKind

  ParameterList list()
  {
    return {
        {"strength_type", Choice{&strength_type, {"relative", "symmetric"}},
         "Nodes i and j are strongly coupled where |a_ij| is more than threshold times sqrt(m_i m_j): m_i the largest |a_ik| of "
         "another node for relative, |a_ii| for symmetric. Of blocks the Frobenius norm counts",
         "symmetric: Vanek, Mandel, Brezina 1996"},
        {"threshold", RealRange{&threshold, 0, 1}, "See strength_type; 0: all that are not 0", ""},
        {"threshold_scale", RealRange{&threshold_scale, 0, 1}, "The threshold is multiplied by this on each coarser level",
         "Vanek, Mandel, Brezina 1996"},
        {"mis_k", IntegerRange{&mis_k, 1, 4},
         "Roots of aggregates are further than so many couplings apart, and whatever is within them joins one: 1 for small aggregates",
         "Bell, Dalton, Olson 2012"},
        {"aggressive_coarsening", IntegerRange{&aggressive_coarsening, 0, 100},
         "On so many of the finest levels roots of aggregates are further than 2 mis_k couplings apart", "PETSc PCGAMG"},
        {"agg_nsmooths", IntegerRange{&agg_nsmooths, 0, 10}, "Smoothing steps of the prolongator; 0: plain aggregation", "PETSc PCGAMG"},
        {"lump_weak", Flag{&lump_weak},
         "Smooth the prolongator with the matrix whose weak couplings are added to the diagonal, block by block; else with the matrix "
         "itself",
         "Vanek, Mandel, Brezina 1996"},
        {"prolongator_filter", RealRange{&prolongator_filter, 0, 1},
         "Blocks of the prolongator below this share of the largest of their node's are dropped, and the others corrected so that the "
         "near-null space is represented as before",
         "PETSc PCGAMG"},
        {"reweight", Flag{&reweight},
         "When only the values of the matrix change and reuse_interpolation keeps the aggregates: smooth the prolongator anew with these "
         "values; else it stays as it is, which takes less memory",
         ""},
        {"spgemm", Choice{&spgemm, {"native", "cusparse", "kokkos"}},
         "Whose sparse products the setup takes: this library's; cuSPARSE's, on GPUs; Kokkos Kernels', if the build found it, on CPUs, and "
         "on GPUs if it was built with CUDA",
         ""},
    };
  }
};

struct MatchingParameters {
  PetscInt matching_steps = 2;
  PetscBool quality_aware = PETSC_FALSE;
  PetscReal kappa = 60;

  ParameterList list()
  {
    return {
        {"matching_steps", IntegerRange{&matching_steps, 1, 4},
         "Pairwise matchings composed into one level: aggregates of up to 2^steps rows", "BootCMatchGX"},
        {"kappa", RealRange{&kappa, 0, 1e6},
         "Pairs with a larger bound on the two-grid method's condition number are not matched; 0: no bound. Inside a 7-point stencil the "
         "bound is 6, inside a 27-point one 26. Block sizes above 1 have none",
         "Notay 2012, who takes 8, and 10 for matrices that are not symmetric"},
        {"quality_aware", Flag{&quality_aware},
         "Match pairs with a small bound first, in place of those with a large weight; needs kappa > 0", "Notay 2012"},
    };
  }
};
} // namespace amgkit
