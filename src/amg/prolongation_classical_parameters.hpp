// The parameters of amgclassical alone.
#pragma once
#include "amg/cancel_positive_parameter.hpp"
#include "amg/spgemm_parameter.hpp"
#include "graph/interpolation.hpp"
#include "graph/second_strength.hpp"

namespace amgkit
{
enum class InterpolationChoice { automatic, direct, ext, ext_i, ext_e };

struct ClassicalParameters {
  PetscReal threshold = 0.15, max_row_sum = 0.9;
  PetscBool cancel_positive = PETSC_TRUE;
  InterpolationChoice interp_type = InterpolationChoice::automatic;
  PetscInt p_max = -1;
  PetscReal truncfactor = 0;
  PetscInt agg_nl = -1;
  SecondStrengthKind agg_type = SecondStrengthKind::a2;
  PetscInt agg_p_max = 2;
  PetscBool reweight = PETSC_FALSE;
  SpgemmKind spgemm = SpgemmKind::native;

  ParameterList list()
  {
    return {
        {"threshold", RealRange{&threshold, 0, 1}, "Row i depends strongly on column j if -a_ij exceeds this share of the largest -a_ik",
         "In a row with a negative diagonal entry, the signs are reversed.", "Ruge, Stueben 1987"},
        {"max_row_sum", RealRange{&max_row_sum, 0, 1},
         "Rows with |sum| above this share of their |diagonal entry| are left to the smoother",
         "Such a row depends strongly on no other. With 1, no row is left out.", "hypre BoomerAMG"},
        cancel_positive_parameter(
            &cancel_positive, "N / 10, on coarse levels N / 20,",
            "If P is at most N / 4 on the finest level, this happens only in rows whose negative couplings are of two clearly different "
            "sizes. With blocks, couplings between different unknowns do not count."),
        {"interp_type", choice(&interp_type, {"auto", "direct", "ext", "ext+i", "ext+e"}),
         "Interpolation: direct, one of the extended kinds, or chosen by the matrix (auto)",
         "The extended kinds ext, ext+i and ext+e reach coarse points behind fine ones. They are computed in matrix-matrix form. With auto "
         "it is ext+i, except on a finest level whose rows depend strongly on more than twelve others on average: there it is direct. This "
         "makes setups up to a third shorter. Iterations grow by up to 40 %, or 60 % where all couplings lie along a line.",
         "Stueben 2001 (direct); Li, Sjogreen, Yang 2021 (extended)"},
        {"p_max", IntegerRange{&p_max, -1, 1000}, "Largest number of entries in a row of the interpolation; 0 keeps all, -1 chooses",
         "The entries that stay are those of largest absolute value. With -1, it is 3 if rows of the matrix have more than ten entries of "
         "the same unknown on average, else 4. With 3, setups of such matrices take a fifth less, and iterations grow by a quarter at "
         "most.",
         "hypre BoomerAMG"},
        {"truncfactor", RealRange{&truncfactor, 0, 1}, "Drop entries of the interpolation below this share of the largest in their row", "",
         "hypre BoomerAMG"},
        {"agg_nl", IntegerRange{&agg_nl, -1, 100}, "Number of finest levels with aggressive coarsening; -1 is 1 with blocks, else 0",
         "On these levels coarse points are chosen twice, and the interpolation has two stages. Coarse levels become smaller, the setup "
         "faster and memory half of what it was, but the solve takes more iterations. Aggressive coarsening does not work with direct "
         "interpolation: with interp_type direct, -1 is 0.",
         "De Sterck, Yang, Heys 2006"},
        {"agg_type", choice(&agg_type, {"a1", "a2"}),
         "Aggressive levels: one (a1) or two (a2) paths of length two make coarse points neighbours",
         "A direct path makes them neighbours, too. Each coarse point represents its neighbours.", "De Sterck, Yang, Heys 2006"},
        {"agg_p_max", IntegerRange{&agg_p_max, 0, 1000},
         "Aggressive levels: the same as p_max for each of the two stages of the interpolation",
         "The limit p_max holds for both stages together.", "Li, Sjogreen, Yang 2021"},
        {"reweight", Flag{&reweight}, "Compute new interpolation weights when only the values of the matrix change",
         "Otherwise the weights stay as they are. This option matters only if reuse_interpolation keeps the coarse points. New weights "
         "take more than twice the memory: 12.4 GB instead of 5.4 GB for 17 million rows of a 7-point grid."},
        spgemm_parameter(&spgemm),
    };
  }
};
} // namespace amgkit
