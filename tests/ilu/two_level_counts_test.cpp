// How many iterations two levels spare: slabs of a grid, b = 1, fgmres(30) to 1e-8, beside PETSc's ILU(0) of each rank's rows.
#include "support/convection.hpp"
#include "support/petsc_problems.hpp"

#include <algorithm>
#include <cmath>

extern "C" {
#include "../share/amgkit/bench/model_problem.h"
}

namespace amgkit::test
{
namespace
{
enum class Problem { seven, jump, convection, strong_convection };
constexpr Problem problems[] = {Problem::seven, Problem::jump, Problem::convection, Problem::strong_convection};
const char *const names[] = {"7-point", "jump", "convection-diffusion, Peclet 1", "convection-diffusion, Peclet 100"};
const std::string one_level = "-pc_type bjacobi -sub_pc_type ilu";
const std::string two_levels = "-pc_type ilu2level -pc_ilu2level_levels 2 ";

PetscErrorCode create(Problem problem, int n, Mat *A)
{
  PetscFunctionBegin;
  if (problem == Problem::seven || problem == Problem::jump)
    PetscCall(ModelProblemCreateMat(PETSC_COMM_WORLD, problem == Problem::jump ? SYSTEM_JUMP : SYSTEM_7, n, n, A));
  else
    PetscCall(distribute(convection_diffusion(3, n, problem == Problem::convection ? 1 : 100, Wind::rotating), have_gpu(), A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void count(Mat A, const std::string &options, PetscInt *iterations)
{
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
  OK(MatCreateVecs(A, x.out(), b.out()));
  OK(VecSet(b, 1));
  OK(make_ksp(A, "-ksp_type fgmres -ksp_gmres_restart 30 -ksp_max_it 1000 " + options, ksp.out(), PCILU2LEVEL));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged()) << options;
  EXPECT_LE(solution.residual, 1.01e-8) << options;
  *iterations = solution.iterations;
}

// At the place of 2, 4 or 8 ranks
struct Counts {
  PetscInt one[3], schur[3], rap[3];
};
} // namespace

class TwoLevelCounts : public ::testing::Test {
protected:
  void SetUp() override
  {
    if (!count_on_large_grids()) GTEST_SKIP() << "other builds count these iterations";
    OK(AMGKitRegister());
    OK(replace_options(have_gpu() ? "-mat_type aijcusparse" : ""));
  }

  // From eight ranks on two levels pay; on fewer they must not cost much.
  static void expect_smaller(Problem problem, PetscInt one, PetscInt two)
  {
    const char *name = names[static_cast<int>(problem)];
    EXPECT_LE(static_cast<double>(two), (size_of_world() == 8 ? 0.85 : 1.2) * static_cast<double>(one)) << name;
    RecordProperty(std::string(name) + ", one level", static_cast<int>(one));
    RecordProperty(std::string(name) + ", two levels", static_cast<int>(two));
  }
};

// As counted by another program, written for this
TEST_F(TwoLevelCounts, AreThoseExpected)
{
  const Counts expected[] = {{{50, 48, 51}, {45, 41, 36}, {45, 37, 25}},
                             {{78, 79, 81}, {68, 65, 61}, {68, 58, 39}},
                             {{65, 67, 71}, {60, 55, 49}, {59, 51, 34}},
                             {{136, 138, 149}, {111, 101, 81}, {103, 88, 53}}};
  const int place = size_of_world() == 2 ? 0 : size_of_world() == 4 ? 1 : 2;
  for (const Problem problem : problems) {
    const auto p = static_cast<int>(problem);
    OwnedMat A;
    PetscInt one, schur, rap;
    OK(create(problem, 32, A.out()));
    count(A, one_level, &one);
    count(A, two_levels, &schur);
    count(A, two_levels + "-pc_ilu2level_type rap", &rap);
    const auto expect_count = [&](PetscInt got, PetscInt wanted) { // restarts make long solves sensitive to rounding
      EXPECT_LE(std::abs(got - wanted), std::max<PetscInt>(2, wanted / 20)) << names[p] << ": " << got << ", not " << wanted;
    };
    expect_count(one, expected[p].one[place]);
    expect_count(schur, expected[p].schur[place]);
    expect_smaller(problem, one, schur);
    expect_count(rap, expected[p].rap[place]);
  }
}

TEST_F(TwoLevelCounts, AreSmallerThanThoseOfOneLevelOnALargerGridToo)
{
  if (!full_run()) GTEST_SKIP() << "part of the full run";
  for (const Problem problem : problems) {
    OwnedMat A;
    PetscInt one, two;
    OK(create(problem, 48, A.out()));
    count(A, one_level, &one);
    count(A, two_levels, &two);
    expect_smaller(problem, one, two);
  }
}
} // namespace amgkit::test
