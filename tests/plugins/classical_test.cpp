// What amgclassical promises: its iterations, the same grids on every number of ranks and in every space, and an end with every matrix.
#include "amgkit.h"
#include "sparse/spgemm/spgemm.hpp"
#include "support/combinations.hpp"
#include "support/type_test.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
namespace
{
constexpr const char *interpolations[] = {"direct", "ext", "ext+i", "ext+e"}; // those that are the same on all levels

class Classical : public TypeTest {
protected:
  Classical() : TypeTest(PCAMGCLASSICAL) {}
};
} // namespace

// The counts of a prototype of the same formulas but for 2, its complexities but for 3 percent; defaults are no worse than its V-cycle.
// Several ranks, whose grids are the same, count on two of the systems. The gate counts with ext+i, with l1-Jacobi and with the defaults.
TEST_F(Classical, IterationsAreThoseOfThePrototype)
{
  if (!count_on_large_grids()) GTEST_SKIP() << "other builds count these iterations";
  struct Target {
    System system;
    const char *interpolation;
    PetscInt l1jacobi, chebyshev, degree_2;
    double complexity;
  };
  for (const Target &target : {Target{SYSTEM_7, "ext+i", 15, 12, 10, 2.75}, Target{SYSTEM_27, "ext+i", 13, 12, 9, 1.21},
                               Target{SYSTEM_ANISO, "ext+i", 13, 12, 9, 3.32}, Target{SYSTEM_JUMP, "ext+i", 16, 13, 11, 2.79},
                               Target{SYSTEM_7, "ext", 16, 12, 11, 2.79}, Target{SYSTEM_27, "ext", 14, 11, 9, 1.21},
                               Target{SYSTEM_ANISO, "ext", 16, 13, 10, 3.33}, Target{SYSTEM_JUMP, "ext", 18, 14, 12, 2.80}}) {
    if (size_of_world() > 1 &&
        (std::string(target.interpolation) != "ext+i" || target.system == SYSTEM_27 || target.system == SYSTEM_ANISO))
      continue;
    if (!full_run() && std::string(target.interpolation) != "ext+i") continue;
    OwnedMat A;
    OK(ModelProblemCreateMat(PETSC_COMM_WORLD, target.system, 48, 48, A.out()));
    const std::string interpolation =
        std::string(" -pc_amgclassical_threshold 0.25 -pc_amgclassical_p_max 4 -pc_amgclassical_interp_type ") + target.interpolation;
    for (const auto &[options, iterations] :
         {std::pair<std::string, PetscInt>{"-pc_amgclassical_cycle_type v -pc_amgclassical_smoother l1jacobi", target.l1jacobi},
          {"-pc_amgclassical_cycle_type v -pc_amgclassical_smoother chebyshev", target.chebyshev},
          {"-pc_amgclassical_smoother chebyshev", target.chebyshev},
          {"-pc_amgclassical_cycle_type v -pc_amgclassical_chebyshev_degree 2", target.degree_2},
          {"", target.chebyshev}}) {
      if (!full_run() && options.find("cycle_type v") != std::string::npos && options.find("l1jacobi") == std::string::npos) continue;
      const std::string name = SystemNames[target.system] + (" " + interpolation) + " " + options;
      Solution solution;
      LevelSizes sizes;
      solve(A, cg + options + interpolation, solution, &sizes);
      EXPECT_TRUE(solution.converged()) << name;
      EXPECT_LE(solution.residual, 1e-8 * 1.01) << name;
      EXPECT_LE(solution.iterations, iterations + 2) << name;
      if (!options.empty()) {
        EXPECT_GE(solution.iterations, iterations - 2) << name;
      }
      EXPECT_NEAR(sizes.operator_complexity() / target.complexity, 1, 0.03) << name;
    }
  }
}

// Beside a solver of one process: its coarse points, its interpolation, its coarse operators, its iterations. The gate takes ext+i on every
// system, and each other interpolation on one.
TEST_F(Classical, AnyNumberOfRanksGivesTheSame)
{
  for (System system : systems) {
    for (const char *interpolation : interpolations) {
      if (!full_run() && interpolation != interpolations[static_cast<int>(system) % 4] && std::string(interpolation) != "ext+i") continue;
      const std::string options = cg + " -pc_amgclassical_coarse_eq_limit 50 -pc_amgclassical_interp_type " + interpolation;
      OwnedMat A[2];
      OwnedPC pc[2];
      Levels levels[2];
      Solution solution[2];
      for (int k : {0, 1}) {
        OK(ModelProblemCreateMat(k == 0 ? PETSC_COMM_SELF : PETSC_COMM_WORLD, system, 20, 20, A[k].out()));
        solve(A[k], options, solution[k]);
        OK(make_pc(A[k], options, pc[k].out(), PCAMGCLASSICAL));
        OK(PCSetUp(pc[k]));
        levels[k].take(pc[k]);
      }
      EXPECT_NEAR(solution[0].iterations, solution[1].iterations, 1) << SystemNames[system] << " " << interpolation;
      expect_same_levels(levels[0], levels[1], SystemNames[system] + std::string(" ") + interpolation);
    }
  }
}

TEST_F(Classical, EverySpaceGivesTheSame)
{
  for (System system : systems) {
    Solution on_host;
    LevelSizes sizes_on_host;
    for (const Use &use : uses()) {
      OwnedMat A;
      Solution solution;
      LevelSizes sizes;
      OK(replace_options(use.on_device ? "-mat_type aijcusparse" : "-mat_type aij"));
      OK(ModelProblemCreateMat(PETSC_COMM_WORLD, system, 16, 16, A.out()));
      solve(A, cg + "-pc_amgclassical_coarse_eq_limit 50 -pc_amgclassical_smoother chebyshev -pc_amgclassical_storage double " + use.option,
            solution, &sizes);
      EXPECT_LE(solution.residual, 1e-8 * 1.01) << use.name;
      if (on_host.iterations < 0) {
        on_host = solution;
        sizes_on_host = sizes;
      }
      EXPECT_NEAR(solution.iterations, on_host.iterations, std::string(use.name) == "cuda" ? 1 : 0) << use.name;
      EXPECT_EQ(sizes.rows, sizes_on_host.rows) << use.name;
      EXPECT_EQ(sizes.entries, sizes_on_host.entries) << use.name;
    }
  }
}

// What this build has solves as native does; what it has not is an error by name.
TEST_F(Classical, EveryInterpolationWithEverySparseProduct)
{
  for (const Use &use : uses()) {
    const bool debug = std::string(use.name) == "debug", cuda = std::string(use.name) == "cuda";
    for (const char *interpolation : interpolations) {
      OwnedMat A;
      PetscInt native = -1;
      OK(distribute(grid7(14, 13, 12), use.on_device, A.out()));
      for (const auto &[spgemm, kind] :
           {std::pair{"native", SpgemmKind::native}, {"cusparse", SpgemmKind::cusparse}, {"kokkos", SpgemmKind::kokkos}}) {
        const std::string name = std::string(use.name) + " " + interpolation + " " + spgemm,
                          options = cg + use.option + " -pc_amgclassical_coarse_eq_limit 50 -pc_amgclassical_interp_type " + interpolation +
                                    " -pc_amgclassical_spgemm " + spgemm;
        bool available = debug ? spgemm_available<Debug>(kind) : spgemm_available<Host>(kind);
#if defined(AMGKIT_HAVE_CUDA)
        if (cuda) available = spgemm_available<Cuda>(kind);
#else
        EXPECT_FALSE(cuda);
#endif
        if (!available) {
          OwnedPC pc;
          EXPECT_NE(kind, SpgemmKind::native);
          OK(make_pc(A, options, pc.out(), PCAMGCLASSICAL));
          EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), PETSC_ERR_SUP) << name;
          continue;
        }
        Solution solution;
        solve(A, options, solution);
        EXPECT_TRUE(solution.converged()) << name;
        EXPECT_LE(solution.residual, 1e-8 * 1.01) << name;
        if (native < 0) native = solution.iterations;
        EXPECT_LE(solution.iterations, std::string(interpolation) == "direct" ? 40 : 15) << name;
        EXPECT_NEAR(solution.iterations, native, 1) << name;
      }
    }
  }
}

TEST_F(Classical, OddMatricesAreSolved)
{
  const std::vector<Named> matrices = odd_matrices();
  const char *const coarse_solvers[] = {"dense", "smoother"};
  for (const Use &use : uses()) {
    for (const Combination &c : combinations({static_cast<int>(matrices.size()), 4, 2})) {
      const Named &odd = matrices[c[0]];
      const char *interpolation = interpolations[c[1]], *coarse = coarse_solvers[c[2]];
      const std::string name = std::string(use.name) + ", " + odd.name + ", " + interpolation + ", " + coarse;
      OwnedMat A;
      Solution solution;
      OK(distribute(odd.A, use.on_device, A.out()));
      solve(A,
            cg + use.option + " -pc_amgclassical_coarse_eq_limit 5 -pc_amgclassical_interp_type " + interpolation +
                " -pc_amgclassical_coarse_solver " + coarse,
            solution);
      EXPECT_TRUE(solution.converged()) << name << ": " << KSPConvergedReasons[solution.reason];
      EXPECT_LE(solution.iterations, 40) << name;
      EXPECT_LE(solution.residual, 1e-8 * 1.01) << name;
    }
  }
}

// Rows of very different sizes: solved or not, but the preconditioner is finite, and what converges is right.
TEST_F(Classical, RowsOfAnyScaleDoNotBreakIt)
{
  constexpr int n = 60;
  for (const Use &use : uses()) {
    for (double most : {8.0, 30.0, 100.0}) {
      const std::string name = std::string(use.name) + ", rows of 1e" + std::to_string(most);
      std::map<std::pair<int, int>, double> entries;
      for (int i = 0; i < n; i++) {
        const double size = std::pow(10, most * std::sin(1.7 * i * i));
        entries[{i, i}] = 2.01 * size;
        if (i > 0) entries[{i, i - 1}] = -size;
        if (i + 1 < n) entries[{i, i + 1}] = -size;
      }
      OwnedMat A;
      OwnedPC pc;
      OwnedVec x, b;
      OwnedKSP ksp;
      Solution solution;
      PetscReal size;
      const std::string options = use.option + std::string(" -pc_amgclassical_coarse_eq_limit 12 -pc_amgclassical_storage double ");
      OK(distribute(make_csr(n, n, entries), use.on_device, A.out()));
      OK(make_system(A, x.out(), b.out()));
      OK(make_pc(A, options, pc.out(), PCAMGCLASSICAL));
      OK(PCApply(pc, b, x));
      OK(VecNorm(x, NORM_INFINITY, &size));
      EXPECT_TRUE(std::isfinite(size)) << name;
      OK(VecSet(x, 0));
      OK(make_ksp(A, options + "-ksp_type fgmres -ksp_atol 0 -ksp_gmres_cgs_refinement_type refine_always", ksp.out(), PCAMGCLASSICAL));
      OK(test::solve(ksp, b, x, &solution));
      EXPECT_NE(solution.reason, KSP_DIVERGED_NANORINF) << name;
      EXPECT_TRUE(!solution.converged() || solution.residual <= 1e-8 * 1.1) << name << ", residual " << solution.residual;
    }
  }
}

// Two unknowns a node that do not know of each other: as one of them alone, and with levels that can be had. With 27 points the finest
// level has direct interpolation.
TEST_F(Classical, UnknownsOfABlockAreKeptApart)
{
  for (const HostCsr &scalar : {grid7(12, 11, 10), grid27(10)}) {
    std::map<std::pair<int, int>, double> entries;
    for (int i = 0; i < scalar.rows; i++) {
      for (int k = scalar.ptr[i]; k < scalar.ptr[i + 1]; k++) {
        for (int c : {0, 1}) entries[{2 * i + c, 2 * scalar.col[k] + c}] = scalar.val[k];
      }
    }
    const int local = 2 * (scalar.rows / size_of_world() + (rank_of_world() < scalar.rows % size_of_world() ? 1 : 0));
    for (const Use &use : uses()) {
      OwnedMat A, blocks;
      Solution alone, together;
      LevelSizes sizes;
      OK(distribute(scalar, use.on_device, A.out()));
      OK(distribute(make_csr(2 * scalar.rows, 2 * scalar.rows, entries), use.on_device, blocks.out(), local));
      OK(MatSetBlockSize(blocks, 2));
      solve(A, cg + use.option + " -pc_amgclassical_coarse_eq_limit 50", alone);
      solve(blocks, cg + use.option + " -pc_amgclassical_coarse_eq_limit 100 -pc_amgclassical_agg_nl 0", together, &sizes);
      EXPECT_NEAR(alone.iterations, together.iterations, 2) << use.name;
      EXPECT_LE(together.residual, 1e-8 * 1.01) << use.name;
      EXPECT_GE(sizes.rows.size(), 3U) << use.name;
    }
  }
}

// 27 points of which the six next to a point are coupled four times as strongly as the others.
TEST_F(Classical, InterpolationIsExtendedWhereFewOfManyCouplingsAreStrong)
{
  constexpr int n = 16;
  HostCsr grid = grid27(n);
  for (int i = 0; i < grid.rows; i++) {
    for (int k = grid.ptr[i]; k < grid.ptr[i + 1]; k++) {
      const int distance = std::abs(grid.col[k] - i);
      grid.val[k] = distance == 0 ? 44 : distance == 1 || distance == n || distance == n * n ? -4 : -1;
    }
  }
  for (const Use &use : uses()) {
    OwnedMat A;
    OK(distribute(grid, use.on_device, A.out()));
    const std::string options = cg + use.option + " -pc_amgclassical_coarse_eq_limit 50 -pc_amgclassical_threshold ";
    Solution solution;
    LevelSizes few, many, extended, extended_of_many;
    solve(A, options + "0.3", solution, &few);
    solve(A, options + "0.3 -pc_amgclassical_interp_type ext+i", solution, &extended);
    solve(A, options + "0.2", solution, &many);
    solve(A, options + "0.2 -pc_amgclassical_interp_type ext+i", solution, &extended_of_many);
    EXPECT_EQ(few.entries, extended.entries) << use.name;
    EXPECT_NE(many.entries, extended_of_many.entries) << use.name;
  }
}

// A row of the 27-point matrix depends strongly on 22 others at this size, in 2D none on more than 8, and one of the 7-point matrix on 6 at
// most.
TEST_F(Classical, InterpolationIsDirectOnADenseFinestLevelAlone)
{
  const auto sizes_with = [&](Mat A, const std::string &options) {
    LevelSizes sizes;
    Solution solution;
    solve(A, cg + options + " -pc_amgclassical_coarse_eq_limit 50", solution, &sizes);
    EXPECT_LE(solution.residual, 1e-8 * 1.01) << options;
    return sizes;
  };
  for (const Use &use : uses()) {
    OK(replace_options(use.on_device ? "-mat_type aijcusparse" : "-mat_type aij"));
    const std::string kind = use.option + std::string(" -pc_amgclassical_interp_type ");
    for (System system : systems) {
      OwnedMat A;
      OK(ModelProblemCreateMat(PETSC_COMM_WORLD, system, 16, 16, A.out()));
      const LevelSizes chosen = sizes_with(A, use.option), extended = sizes_with(A, kind + "ext+i");
      if (system != SYSTEM_27) {
        EXPECT_EQ(chosen.entries, extended.entries) << use.name << " " << SystemNames[system];
        continue;
      }
      const LevelSizes direct = sizes_with(A, kind + "direct");
      ASSERT_GE(chosen.entries.size(), 3U) << use.name;
      EXPECT_EQ(chosen.entries[1], direct.entries[1]) << use.name;
      EXPECT_LT(chosen.entries[1], extended.entries[1]) << use.name;
      EXPECT_GT(chosen.entries[2], direct.entries[2]) << use.name;
      EXPECT_EQ(sizes_with(A, use.option + std::string(" -pc_amgclassical_agg_nl 1")).entries,
                sizes_with(A, kind + "ext+i -pc_amgclassical_agg_nl 1").entries)
          << use.name;
      OwnedPC pc;
      OK(make_pc(A, use.option, pc.out(), PCAMGCLASSICAL));
      OK(PCSetUp(pc));
      const std::string view = view_of(pc);
      if (rank_of_world() == 0) {
        EXPECT_NE(view.find("interpolation of level 0: direct, as a row depends strongly on 2"), std::string::npos) << view;
      }
    }
  }
}

// Whatever the matrix, and where coarsening is given no chance, the preconditioner is there, and finite.
TEST_F(Classical, NeverNotANumber)
{
  const std::vector<Named> matrices = gallery();
  const char *const extremes[] = {"", " -pc_amgclassical_threshold 1", " -pc_amgclassical_threshold 0 -pc_amgclassical_max_row_sum 1",
                                  " -pc_amgclassical_max_row_sum 0", " -pc_amgclassical_p_max 0 -pc_amgclassical_truncfactor 1"};
  const std::vector<Use> all_uses = uses();
  for (const Combination &c : combinations({static_cast<int>(all_uses.size()), static_cast<int>(matrices.size()), 4, 5})) {
    const Use &use = all_uses[c[0]];
    const Named &matrix = matrices[c[1]];
    const std::string options = use.option + std::string(" -pc_amgclassical_coarse_eq_limit 5 -pc_amgclassical_interp_type ") +
                                interpolations[c[2]] + extremes[c[3]];
    PetscReal size;
    OK(size_of_application(matrix.A, use, options, PCAMGCLASSICAL, &size));
    EXPECT_TRUE(std::isfinite(size)) << use.name << ", " << matrix.name << options;
  }
}
} // namespace amgkit::test
