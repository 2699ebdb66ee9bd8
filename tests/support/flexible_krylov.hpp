// What the tests of AMGKit's KSP types begin with: a system and a KSP.
#pragma once
#include "amgkit.h"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
class FlexibleKrylov : public ::testing::Test {
protected:
  void set_up(const HostCsr &matrix)
  {
    OK(AMGKitRegister());
    OK(distribute(matrix, have_gpu(), A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  }

  void solve(const std::string &options)
  {
    OK(replace_options(options));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    OK(KSPSetFromOptions(ksp));
    OK(test::solve(ksp, b, x, &solution));
  }

  // The type's vectors come with the solve and go with a reset or another type, whatever is set up before.
  void set_up_early_reset_and_replace(const std::string &type, const std::vector<std::string> &others)
  {
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, type.c_str()));
    OK(KSPSetUp(ksp));
    solve("-ksp_type " + type + " -pc_type jacobi");
    const PetscInt iterations = solution.iterations;
    EXPECT_TRUE(solution.converged());
    for (const std::string &other : others) {
      solve("-pc_type jacobi -ksp_max_it 3 -ksp_type " + other);
      for (int time = 0; time < 2; time++) {
        solve("-ksp_type " + type + " -pc_type jacobi -ksp_max_it 300");
        EXPECT_EQ(solution.iterations, iterations) << other;
        OK(KSPReset(ksp));
      }
    }
  }

  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
};
} // namespace amgkit::test
