// -pc_<type>_smooth_tied_rows: rows that a point smoother cannot tell apart cost few iterations, in every space, with new values, too.
#include "support/every_type.hpp"
#include "support/flat_elements.hpp"
#include "support/type_test.hpp"

namespace amgkit::test
{
namespace
{
using TiedRowsOfTypes = EveryType;
} // namespace

// Flexible methods and linear ones, whose preconditioner is symmetric; the same elements less flat cost nothing.
TEST_P(TiedRowsOfTypes, CostFewIterations)
{
  for (const Use &use : uses_and_shared()) {
    for (const std::string &method : {std::string("-ksp_type amgfcg "), cg}) {
      OwnedMat A, grid;
      Solution without, with, of_grid;
      std::string view;
      OK(distribute(with_flat_elements(16, 0.999), use.on_device, A.out()));
      OK(distribute(grid7(16, 16, 16), use.on_device, grid.out()));
      const std::string options = method + use.option + " -pc_amgmatching_coarse_eq_limit 50";
      solve_with(A, options + " -pc_amgmatching_smooth_tied_rows 0", &without);
      solve_with(A, options, &with, &view);
      solve_with(grid, options, &of_grid);
      for (const Solution *solution : {&with, &of_grid}) {
        EXPECT_TRUE(solution->converged()) << use.name << " " << method << KSPConvergedReasons[solution->reason];
        EXPECT_LE(solution->residual, 1e-8 * 1.1) << use.name << " " << method;
      }
      EXPECT_LE(2 * with.iterations, without.iterations) << use.name << " " << method;
      EXPECT_LE(with.iterations, 2 * of_grid.iterations) << use.name << " " << method;
      EXPECT_NE(view.find("groups of tied rows are smoothed together"), std::string::npos) << view;
    }
  }
}

// The elements' part is taken away and given back, and the other way round.
TEST_P(TiedRowsOfTypes, FollowNewValues)
{
  const HostCsr tied = with_flat_elements(12, 0.999), grid = grid7(12, 12, 12);
  HostCsr untied = tied;
  for (int i = 0; i < untied.rows; i++) {
    for (int k = untied.ptr[i]; k < untied.ptr[i + 1]; k++) untied.val[k] = grid.at(i, untied.col[k]);
  }
  for (const Use &use : uses()) {
    for (const bool tied_first : {true, false}) {
      OwnedMat A;
      OwnedVec x, b;
      OwnedKSP ksp;
      std::vector<PetscInt> iterations;
      OK(distribute(tied_first ? tied : untied, use.on_device, A.out()));
      OK(make_system(A, x.out(), b.out()));
      OK(make_ksp(A, std::string("-ksp_type amgfcg ") + use.option + " -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
      for (const bool now : {tied_first, !tied_first, tied_first}) {
        Solution solution;
        OK(insert_rows(now ? tied : untied, A));
        OK(solve(ksp, b, x, &solution));
        EXPECT_TRUE(solution.converged()) << use.name;
        EXPECT_LE(solution.residual, 1.1e-8) << use.name;
        EXPECT_EQ(view_of(ksp).find("tied rows are smoothed together") != std::string::npos, now) << use.name;
        iterations.push_back(solution.iterations);
      }
      EXPECT_EQ(iterations[2], iterations[0]) << use.name;
    }
  }
}

// Where there are tied rows, amgsa smooths P with couplings that it otherwise lumps.
TEST(TiedRowsOfAmgsa, KeepWeakCouplings)
{
  OK(AMGKitRegister());
  std::vector<std::vector<double>> entries;
  for (const char *options : {"", "-pc_amgsa_lump_below 0.2", "-pc_amgsa_lump_below 1", "-pc_amgsa_smooth_tied_rows 0"}) {
    OwnedMat A;
    OwnedPC pc;
    LevelSizes sizes;
    OK(distribute(with_flat_elements(12, 0.7), false, A.out()));
    OK(test::make_pc(A, std::string("-pc_amgsa_coarse_eq_limit 50 ") + options, pc.out(), PCAMGSA));
    OK(PCSetUp(pc));
    OK(level_sizes(pc, &sizes));
    entries.emplace_back(sizes.entries.begin(), sizes.entries.begin() + 2); // below, AMGKit chooses 0.5^l
  }
  EXPECT_EQ(entries[0], entries[1]);
  EXPECT_EQ(entries[2], entries[3]);
  EXPECT_NE(entries[0], entries[2]);
}

INSTANTIATE_TEST_SUITE_P(Types, TiedRowsOfTypes, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
