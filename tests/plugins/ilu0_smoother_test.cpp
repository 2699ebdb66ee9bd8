// The smoother ilu0 of every multigrid type: fewer iterations than l1jacobi's, the same after new values, and what is said where it fails.
#include "support/convection.hpp"
#include "support/elasticity.hpp"
#include "support/every_type.hpp"
#include "support/ilu_beside_petsc.hpp"
#include "support/type_test.hpp"
#include "support/unstructured.hpp"

#include <cmath>
#include <petscviewer.h>

namespace amgkit::test
{
namespace
{
class Ilu0Smoother : public EveryType {
protected:
  // With l1jacobi, then with ilu0
  void solve_twice(Mat A, const std::string &options, Solution *l1jacobi, Solution *ilu0)
  {
    for (Solution *solution : {l1jacobi, ilu0}) {
      OwnedVec x, b;
      OwnedKSP ksp;
      OK(make_system(A, x.out(), b.out()));
      OK(make_ksp(A, options + " -pc_amgmatching_smoother " + (solution == ilu0 ? "ilu0" : "l1jacobi"), ksp.out()));
      OK(solve(ksp, b, x, solution));
      EXPECT_TRUE(solution->converged()) << options << ": " << KSPConvergedReasons[solution->reason];
      EXPECT_LE(solution->residual, 1e-8 * 1.1) << options;
    }
  }
  void expect_better(Mat A, const std::string &options, const std::string &name)
  {
    Solution l1jacobi, ilu0;
    solve_twice(A, options, &l1jacobi, &ilu0);
    EXPECT_LT(ilu0.iterations, l1jacobi.iterations) << name;
    RecordProperty(name, std::to_string(ilu0.iterations) + ", l1jacobi " + std::to_string(l1jacobi.iterations));
  }
};
} // namespace

TEST_P(Ilu0Smoother, TakesFewerIterationsThanL1Jacobi)
{
  for (const Use &use : uses()) {
    for (System system : systems) {
      for (const char *cycle : {"v", "w"}) {
        OwnedMat A;
        OK(replace_options(use.on_device ? "-mat_type aijcusparse" : "-mat_type aij"));
        OK(ModelProblemCreateMat(PETSC_COMM_WORLD, system, 16, 16, A.out()));
        expect_better(A, cg + use.option + " -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_cycle_type " + cycle,
                      SystemNames[system] + (std::string("_") + use.name + "_" + cycle));
      }
    }
  }
}

// Positive couplings, where nothing is sure of incomplete factors: by cg nevertheless.
TEST_P(Ilu0Smoother, SolvesFiniteElements)
{
  for (const Use &use : uses()) {
    OwnedMat tetrahedra, plate;
    const std::string options = cg + use.option + " -pc_amgmatching_coarse_eq_limit 50";
    OK(distribute(tetrahedra_laplacian(10, 0.3), use.on_device, tetrahedra.out()));
    expect_better(tetrahedra, options, std::string("tetrahedra_") + use.name);
    const Elasticity problem = elasticity(2, 16);
    const int nodes = problem.nodes() / size_of_world() + (rank_of_world() < problem.nodes() % size_of_world());
    OK(distribute(problem.A, use.on_device, plate.out(), 2 * nodes));
    OK(MatSetBlockSize(plate, 2));
    expect_better(plate, options, std::string("plate_") + use.name);
  }
}

TEST_P(Ilu0Smoother, FollowsTheWind)
{
  for (const Use &use : uses()) {
    for (const char *krylov : {"-ksp_type gmres -ksp_pc_side right ", "-ksp_type fgmres "}) {
      for (const double peclet : {1.0, 1000.0}) {
        OwnedMat A;
        OK(distribute(convection_diffusion(2, 32, peclet, Wind::rotating), use.on_device, A.out()));
        expect_better(A, std::string(krylov) + use.option + " -pc_amgmatching_coarse_eq_limit 50",
                      std::string("wind_") + use.name + "_" + std::to_string(peclet));
      }
    }
  }
}

// For four times the matrix aggregates and interpolation are the same: refreshed, the preconditioner has the bits of a new one.
TEST_P(Ilu0Smoother, NewValuesAreTakenAsAnew)
{
  for (const Use &use : uses()) {
    for (const char *storage : {"double", "single"}) {
      OwnedMat A, B;
      OwnedPC kept, anew;
      const std::string options =
          std::string(use.option) + " -pc_amgmatching_coarse_eq_limit 20 -pc_amgmatching_smoother ilu0 -pc_amgmatching_storage " + storage;
      OK(distribute(grid7(10, 9, 8, 1, 1, 0.1), use.on_device, A.out()));
      OK(distribute(grid7(10, 9, 8, 4, 4, 0.4), use.on_device, B.out()));
      OK(make_pc(A, options, kept.out()));
      std::vector<double> before, after, of_anew;
      OK(applied(kept, false, before));
      OK(MatScale(A, 4));
      OK(PCSetUp(kept));
      OK(applied(kept, false, after));
      OK(make_pc(B, options, anew.out()));
      OK(applied(anew, false, of_anew));
      EXPECT_EQ(after, of_anew) << use.name << storage;
      for (std::size_t i = 0; i < before.size(); i++) EXPECT_NEAR(4 * after[i], before[i], 1e-12) << use.name << storage;
    }
  }
}

// The last two rows form a singular matrix of their own, with a zero pivot.
TEST_P(Ilu0Smoother, SaysWhereItFails)
{
  HostCsr M = grid7(8, 8, 8);
  for (const int i : {510, 511}) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
      const int j = M.col[k];
      for (int t = M.ptr[j]; t < M.ptr[j + 1]; t++) {
        if (M.col[t] == i) M.val[t] = i == j ? 1 : j >= 510 ? -1 : 0;
      }
      M.val[k] = i == j ? 1 : j >= 510 ? -1 : 0;
    }
  }
  for (const Use &use : uses()) {
    OwnedMat A, good;
    OwnedPC pc, better;
    const std::string options = std::string(use.option) + " -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_smoother ilu0";
    OK(distribute(M, use.on_device, A.out()));
    OK(make_pc(A, options, pc.out()));
    std::vector<double> x;
    OK(applied(pc, false, x));
    for (const double x_i : x) EXPECT_TRUE(std::isfinite(x_i));
    OK(distribute(grid7(8, 8, 8), use.on_device, good.out()));
    OK(make_pc(good, options, better.out()));
    OK(PCSetUp(better));
    const std::string text = view_of(pc), other = view_of(better);
    if (rank_of_world() > 0) continue;
    EXPECT_NE(text.find("smoother of level 0: l1jacobi, as with ILU(0) row 511 has a zero pivot"), std::string::npos) << text;
    EXPECT_EQ(other.find("smoother of level"), std::string::npos) << other;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Ilu0Smoother, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
