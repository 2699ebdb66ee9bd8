// The smoother gauss_seidel of every multigrid type, on the host: fewer iterations than l1jacobi's, symmetric with a smoothed coarsest
// level, the same after new values, and refused elsewhere.
#include "support/convection.hpp"
#include "support/elasticity.hpp"
#include "support/every_type.hpp"
#include "support/ilu_beside_petsc.hpp"
#include "support/type_test.hpp"
#include "support/unstructured.hpp"

namespace amgkit::test
{
namespace
{
constexpr const char *with_it = " -pc_amgmatching_space host -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_smoother ";

class GaussSeidelSmoother : public EveryType {
protected:
  void solve_with(Mat A, const std::string &options, Solution *solution)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, options, ksp.out()));
    OK(solve(ksp, b, x, solution));
    EXPECT_TRUE(solution->converged()) << options << ": " << KSPConvergedReasons[solution->reason];
    EXPECT_LE(solution->residual, 1e-8 * 1.1) << options;
  }
  void expect_better(Mat A, const std::string &options, const std::string &name)
  {
    Solution l1jacobi, gauss_seidel;
    solve_with(A, options + with_it + "l1jacobi", &l1jacobi);
    solve_with(A, options + with_it + "gauss_seidel", &gauss_seidel);
    EXPECT_LT(gauss_seidel.iterations, l1jacobi.iterations) << name;
    RecordProperty(name, std::to_string(gauss_seidel.iterations) + ", l1jacobi " + std::to_string(l1jacobi.iterations));
  }
};
} // namespace

TEST_P(GaussSeidelSmoother, TakesFewerIterationsThanL1Jacobi)
{
  for (System system : systems) {
    for (const char *cycle : {"v", "w"}) {
      OwnedMat A;
      OK(replace_options("-mat_type aij"));
      OK(ModelProblemCreateMat(PETSC_COMM_WORLD, system, 16, 16, A.out()));
      expect_better(A, cg + "-pc_amgmatching_cycle_type " + cycle, SystemNames[system] + (std::string("_") + cycle));
    }
  }
}

TEST_P(GaussSeidelSmoother, SolvesFiniteElements)
{
  OwnedMat tetrahedra, plate;
  OK(distribute(tetrahedra_laplacian(10, 0.3), false, tetrahedra.out()));
  expect_better(tetrahedra, cg, "tetrahedra");
  const Elasticity problem = elasticity(2, 16);
  const int nodes = problem.nodes() / size_of_world() + (rank_of_world() < problem.nodes() % size_of_world());
  OK(distribute(problem.A, false, plate.out(), 2 * nodes));
  OK(MatSetBlockSize(plate, 2));
  expect_better(plate, cg, "plate");
}

TEST_P(GaussSeidelSmoother, FollowsTheWind)
{
  for (const double peclet : {1.0, 1000.0}) {
    OwnedMat A;
    OK(distribute(convection_diffusion(2, 32, peclet, Wind::rotating), false, A.out()));
    expect_better(A, "-ksp_type gmres -ksp_pc_side right", "wind_" + std::to_string(peclet));
  }
}

// An odd number of sweeps there, which is rounded up; conjugate gradients need a symmetric operator.
TEST_P(GaussSeidelSmoother, SolvesTheCoarsestLevelSymmetrically)
{
  OwnedMat A;
  Solution few, many;
  OK(distribute(grid7(12, 12, 12), false, A.out()));
  const std::string options =
      cg + with_it + "gauss_seidel -pc_amgmatching_cycle_type v -pc_amgmatching_coarse_solver smoother -pc_amgmatching_coarse_sweeps ";
  solve_with(A, options + "3", &few);
  solve_with(A, options + "4", &many);
  EXPECT_EQ(few.iterations, many.iterations);
}

// For four times the matrix aggregates and interpolation are the same: refreshed, the preconditioner has the bits of a new one.
TEST_P(GaussSeidelSmoother, NewValuesAreTakenAsAnew)
{
  OwnedMat A, B;
  OwnedPC kept, anew;
  const std::string options = std::string(with_it) + "gauss_seidel";
  OK(distribute(grid7(10, 9, 8, 1, 1, 0.1), false, A.out()));
  OK(distribute(grid7(10, 9, 8, 4, 4, 0.4), false, B.out()));
  OK(make_pc(A, options, kept.out()));
  std::vector<double> after, of_anew;
  OK(applied(kept, false, after));
  OK(MatScale(A, 4));
  OK(PCSetUp(kept));
  OK(applied(kept, false, after));
  OK(make_pc(B, options, anew.out()));
  OK(applied(anew, false, of_anew));
  EXPECT_EQ(after, of_anew);
}

// Rows of Dirichlet conditions whose columns stay, in a matrix that was called symmetric before.
TEST_P(GaussSeidelSmoother, AClaimOfSymmetryChangesNothing)
{
  std::vector<double> result[2];
  for (bool claimed : {false, true}) {
    OwnedMat A;
    OwnedPC pc;
    PetscInt first, end;
    OK(distribute(grid7(10, 9, 8), false, A.out()));
    OK(MatGetOwnershipRange(A, &first, &end));
    std::vector<PetscInt> rows;
    for (PetscInt i = first; i < end; i += 7) rows.push_back(i);
    OK(MatZeroRows(A, static_cast<PetscInt>(rows.size()), rows.data(), 6, nullptr, nullptr));
    if (claimed) {
      OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    }
    OK(make_pc(A, std::string(with_it) + "gauss_seidel", pc.out()));
    OK(applied(pc, false, result[claimed ? 1 : 0]));
  }
  EXPECT_EQ(result[0], result[1]);
}

TEST_P(GaussSeidelSmoother, IsAnErrorOnEveryRankElsewhere)
{
  for (const Use &use : uses()) {
    if (std::string(use.name) == "host") continue;
    OwnedMat A;
    OwnedPC pc;
    OK(distribute(grid7(8, 7, 6), use.on_device, A.out()));
    OK(make_pc(A, std::string(use.option) + " -pc_amgmatching_smoother gauss_seidel", pc.out()));
    const Refusal refusal = refusal_of([&] { return PCSetUp(pc); });
    EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_SUP) << use.name;
    EXPECT_NE(refusal.message.find("gauss_seidel"), std::string::npos) << refusal.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GaussSeidelSmoother, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
