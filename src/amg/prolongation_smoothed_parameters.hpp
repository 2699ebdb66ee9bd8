// The parameters of amgsa alone.
#pragma once
#include "amg/cancel_positive_parameter.hpp"
#include "amg/spgemm_parameter.hpp"
#include "graph/symmetric_strength.hpp"

namespace amgkit
{
struct SmoothedParameters {
  StrengthKind strength_type = StrengthKind::relative;
  PetscReal threshold = 0.25, threshold_scale = 1;
  PetscInt mis_k = 2, aggressive_coarsening = 1, aggressive_mis_k = 0;
  PetscInt agg_nsmooths = 1;
  PetscBool cancel_positive = PETSC_TRUE, lump_weak = PETSC_TRUE;
  PetscReal lump_below = -1;
  PetscReal prolongator_filter = -1;
  PetscBool reweight = PETSC_TRUE;
  SpgemmKind spgemm = SpgemmKind::native;

  ParameterList list()
  {
    return {
        {"strength_type", choice(&strength_type, {"relative", "symmetric"}),
         "Strength of couplings: relative to the largest ones, or symmetric, relative to the diagonal",
         "Nodes i and j are strongly coupled if |a_ij| exceeds threshold times sqrt(m_i m_j). For relative, m_i is the largest |a_ik| of "
         "another node k; for symmetric, it is |a_ii|. Of a block, the Frobenius norm counts. For relative, |a_ij| must also exceed the "
         "square of the finest level's threshold times the larger of m_i and m_j.",
         "Vanek, Mandel, Brezina 1996 (symmetric)"},
        {"threshold", RealRange{&threshold, 0, 1}, "Couplings above this threshold are strong; with 0, all nonzero couplings are",
         "The option strength_type chooses what is compared with it."},
        {"threshold_scale", RealRange{&threshold_scale, 0, 1}, "Factor by which the threshold is multiplied on each coarser level", "",
         "Vanek, Mandel, Brezina 1996"},
        cancel_positive_parameter(
            &cancel_positive, "N / 10, on coarse levels N / 20,",
            "If P is at most N / 6 on the finest level, this happens only in rows whose negative couplings are of two clearly different "
            "sizes. A coupling between two rows is weak if both cancel it. On coarse levels, couplings are scaled by the vector that "
            "stands for the constant one there, but only to decide what cancels. With block sizes above 1, the traces of the blocks decide "
            "it. The option has an effect if the near-null space begins with the constants of the components, as rigid body modes do, or "
            "for block size 1 is the constant vector."),
        {"mis_k", IntegerRange{&mis_k, 1, 4}, "Roots of aggregates lie more than this many couplings apart",
         "Whatever lies within this distance of a root joins an aggregate. The value 1 gives small aggregates. On aggressive levels, "
         "aggressive_mis_k takes its place.",
         "Bell, Dalton, Olson 2012"},
        {"aggressive_coarsening", IntegerRange{&aggressive_coarsening, 0, 100}, "Number of finest levels with larger aggregates",
         "On these levels, aggressive_mis_k takes the place of mis_k.", "PETSc PCGAMG"},
        {"aggressive_mis_k", IntegerRange{&aggressive_mis_k, 0, 8}, "What mis_k is on aggressive levels; 0: mis_k + 1 in 3D, else mis_k",
         "With 0, a mesh counts as 3D if, on average, more than three times as many nodes lie within two strong couplings of a node as "
         "within one. -ksp_view shows this ratio. Without smoothing (agg_nsmooths 0), 0 always means mis_k.",
         "PETSc PCGAMG"},
        {"agg_nsmooths", IntegerRange{&agg_nsmooths, 0, 10}, "Number of smoothing steps for the prolongator; 0 means plain aggregation", "",
         "PETSc PCGAMG"},
        {"lump_weak", Flag{&lump_weak}, "Smooth the prolongator with a matrix whose weak couplings are lumped into the diagonal",
         "Weak couplings below lump_below times the threshold are lumped, block by block. On coarse levels, a soft node keeps its large "
         "couplings to much stiffer ones. If false, the prolongator is smoothed with the matrix itself.",
         "Vanek, Mandel, Brezina 1996"},
        {"lump_below", RealRange{&lump_below, -1, 1},
         "Lump weak couplings below this share of the threshold; a negative value lets AMGKit choose",
         "Weak couplings above this share form no aggregates, but take part in smoothing the prolongator. But on coarse levels, rows whose "
         "positive couplings cancel negative ones (cancel_positive) lump all their weak couplings. With a negative value, the share is "
         "0.5^l on the l-th level below the finest. On the finest level it is 0.2 if there is more than one group of tied rows per "
         "thousand rows, else 1. If tied rows are not smoothed together, AMGKit does not look for them, and it is 1 there."},
        {"prolongator_filter", RealRange{&prolongator_filter, -1, 1},
         "Drop blocks of the prolongator below this share of their node's largest; negative: AMGKit chooses",
         "The other blocks are corrected so that the near-null space is represented as before. If AMGKit chooses, it drops blocks only if "
         "the near-null space is one vector and at least a fifth of the entries of the finest level's prolongator go. The share is then "
         "0.1 if rho, the spectral radius of D^-1 A, is at most 2.2, 0.05 rho between 2.2 and 4, and 0.2 above.",
         "PETSc PCGAMG"},
        {"reweight", Flag{&reweight}, "Smooth the prolongator again when only the values of the matrix change",
         "Otherwise the prolongator stays as it is, which takes less memory. This option matters only if reuse_interpolation keeps the "
         "aggregates."},
        spgemm_parameter(&spgemm),
    };
  }
};
} // namespace amgkit
