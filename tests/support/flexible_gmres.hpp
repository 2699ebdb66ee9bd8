// What the tests of flexible GMRES begin with: a flow's matrix and a KSP.
#pragma once
#include "amgkit.h"
#include "support/convection.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
class FlexibleGMRES : public ::testing::Test {
protected:
  void SetUp() override
  {
    OK(AMGKitRegister());
    OK(distribute(convection_diffusion(3, 11, 10, Wind::rotating), have_gpu(), A.out()));
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

  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
};

// A solve with a KSP of its own
inline PetscErrorCode solve_alone(Mat A, Vec b, Vec x, const std::string &options, Solution *solution)
{
  OwnedKSP ksp;
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PetscCall(replace_options(options));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(solve(ksp, b, x, solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline std::string in_debug(const std::string &type) { return have_gpu() ? "" : " -pc_" + type + "_space debug"; }
} // namespace amgkit::test
