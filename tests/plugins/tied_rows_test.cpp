// -pc_<type>_smooth_tied_rows: rows that a point smoother cannot tell apart cost few iterations, in every space, and new values untie them.
#include "support/every_type.hpp"
#include "support/flat_elements.hpp"
#include "support/type_test.hpp"

namespace amgkit::test
{
namespace
{
class TiedRowsOfTypes : public EveryType {
protected:
  void solve_with(Mat A, const std::string &options, Solution *solution, std::string *view = nullptr)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, options, ksp.out()));
    OK(solve(ksp, b, x, solution));
    if (view) *view = view_of(ksp);
  }
};
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

// The elements' part is taken away, and given back.
TEST_P(TiedRowsOfTypes, NewValuesUntieThem)
{
  HostCsr tied = with_flat_elements(12, 0.999), untied = tied;
  const HostCsr grid = grid7(12, 12, 12);
  for (int i = 0; i < untied.rows; i++) {
    for (int k = untied.ptr[i]; k < untied.ptr[i + 1]; k++) untied.val[k] = grid.at(i, untied.col[k]);
  }
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OwnedKSP ksp;
    Solution first, second, third;
    OK(distribute(tied, use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, std::string("-ksp_type amgfcg ") + use.option + " -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    OK(solve(ksp, b, x, &first));
    OK(insert_rows(untied, A));
    OK(solve(ksp, b, x, &second));
    EXPECT_EQ(view_of(ksp).find("tied rows"), std::string::npos);
    OK(insert_rows(tied, A));
    OK(solve(ksp, b, x, &third));
    EXPECT_NE(view_of(ksp).find("tied rows"), std::string::npos);
    for (const Solution *solution : {&first, &second, &third}) {
      EXPECT_TRUE(solution->converged()) << use.name;
      EXPECT_LE(solution->residual, 1.1e-8) << use.name;
    }
    EXPECT_EQ(third.iterations, first.iterations) << use.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TiedRowsOfTypes, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
