// What the tests of flexible GMRES begin with: a flow's matrix and a KSP.
#pragma once
#include "support/convection.hpp"
#include "support/flexible_krylov.hpp"

namespace amgkit::test
{
class FlexibleGMRES : public FlexibleKrylov {
protected:
  void SetUp() override { set_up(convection_diffusion(3, 11, 10, Wind::rotating)); }
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
