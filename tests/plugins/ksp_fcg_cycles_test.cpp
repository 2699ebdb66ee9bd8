// How amgfcg and a multigrid type with cycle_type auto find the cycle for a solve.
#include "support/flexible_krylov.hpp"
#include "support/gallery.hpp"

#include <map>

namespace amgkit::test
{
namespace
{
class FlexibleCycles : public FlexibleKrylov {
protected:
  void SetUp() override { set_up(grid7(12, 11, 10, 1, 1, 0.1)); }
};
} // namespace

// A solve whose steps leave much compares its k-cycle with a v-cycle.
TEST_F(FlexibleCycles, TellsThePreconditionerOfItsSteps)
{
  const std::string slow = "-ksp_type amgfcg -pc_type amgmatching -pc_amgmatching_coarse_eq_limit 20 -pc_amgmatching_smoother jacobi "
                           "-pc_amgmatching_jacobi_omega 0.05 -ksp_rtol 1e-12 ";
  for (const char *norm : {"unpreconditioned", "natural"}) {
    for (const char *cycle : {"auto", "k"}) {
      solve(slow + "-pc_amgmatching_cycle_type " + cycle + " -ksp_norm_type " + norm);
      ASSERT_GE(solution.iterations, 24);
      const std::string view = view_of(ksp);
      EXPECT_NE(view.find("by choice: a v-cycle reduces a residual by the factor"), std::string::npos);
      const bool compared = view.find("; in a slow solve, a step with a v-cycle removed") != std::string::npos;
      EXPECT_EQ(compared, norm == std::string("unpreconditioned") && cycle == std::string("auto")) << norm << cycle << view;
      OK(KSPReset(ksp));
    }
  }
}

// A beam on one side of a membrane, as nearly flat elements at a mesh's boundary make: B A has some ten small eigenvalues. With a k-cycle,
// B is another in each step, and the method is never done with them.
TEST_F(FlexibleCycles, TakesAFixedCycleInAVerySlowSolve)
{
  constexpr int n = 110;
  constexpr double stiff = 1e4;
  std::map<std::pair<int, int>, double> edges;
  for (int i = 0; i < n * n; i++) {
    if (i % n + 1 < n) edges[{i, i + 1}] = 1;
    if (i + n < n * n) edges[{i, i + n}] = 1;
  }
  auto entries = entries_of(from_edges(n * n, edges, 0));
  for (int i = 0; i < n * n; i += n) entries[{i, i}] += 2, entries[{i + n - 1, i + n - 1}] += 2; // held where x is smallest and largest
  for (int k = n / 2 - 10; k < n / 2 + 10; k++) { // u[k - 1] - 2 u[k] + u[k + 1] along x at y = 0
    const int first = k - 1;
    const double bends[3] = {-0.5, 1, -0.5};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) entries[{first + i, first + j}] += stiff * bends[i] * bends[j];
  }
  OwnedMat M;
  OwnedVec y, f;
  OK(distribute(make_csr(n * n, n * n, entries), have_gpu(), M.out()));
  OK(make_system(M, y.out(), f.out()));
  OK(VecSetRandom(f, nullptr));
  OK(VecShift(f, -0.5));
  std::map<std::string, PetscInt> iterations;
  for (const std::string cycle : {"w", "k", "auto"}) {
    OK(replace_options("-ksp_type amgfcg -pc_type amgmatching -pc_amgmatching_coarse_eq_limit 40 -pc_amgmatching_cycle_type " + cycle));
    OK(KSPSetOperators(ksp, M, M));
    OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
    OK(KSPSetFromOptions(ksp));
    OK(test::solve(ksp, f, y, &solution));
    EXPECT_TRUE(cycle == "k" || solution.converged());
    iterations[cycle] = solution.iterations;
    const std::string view = view_of(ksp);
    const bool by_w = view.find("; in a very slow solve, a w-cycle took the place of the k-cycle") != std::string::npos;
    EXPECT_TRUE(cycle == "auto" || !by_w);
    if (cycle == "auto" && !have_gpu() && size_of_world() == 1) { // else a v-cycle may have taken its place
      EXPECT_TRUE(by_w) << view;
    }
    OK(KSPReset(ksp));
  }
  EXPECT_GE(iterations["k"], 2 * iterations["w"]);
  EXPECT_LE(iterations["auto"], iterations["w"] + 30); // 21 or 22 steps are with k
}
} // namespace amgkit::test
