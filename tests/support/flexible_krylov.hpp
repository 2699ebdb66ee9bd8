// What the tests of AMGKit's KSP types begin with: a system and a KSP.
#pragma once
#include "amgkit.h"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
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

  // One side's matrix with the other side's vectors
  void take_vectors_of_either_side(const std::string &type, const HostCsr &matrix)
  {
    for (const char *vectors : {"standard", "cuda"}) {
      if (!have_gpu() && std::string(vectors) == "cuda") continue;
      for (const bool on_device : {false, true}) {
        OwnedMat M;
        OwnedVec y, f, g;
        if (on_device && !have_gpu()) continue;
        OK(distribute(matrix, on_device, M.out()));
        OK(make_system(M, y.out(), f.out()));
        OwnedVec of_type[2];
        for (OwnedVec &vector : of_type) {
          PetscInt rows;
          OK(VecGetLocalSize(f, &rows));
          OK(VecCreate(PETSC_COMM_WORLD, vector.out()));
          OK(VecSetSizes(vector, rows, PETSC_DETERMINE));
          OK(VecSetType(vector, vectors));
        }
        OK(VecCopy(f, of_type[0]));
        OK(VecSet(of_type[1], 0));
        OK(solve_alone(M, of_type[0], of_type[1], "-ksp_type " + type + " -pc_type amgsa -pc_amgsa_coarse_eq_limit 50", &solution));
        EXPECT_TRUE(solution.converged()) << vectors << on_device;
        EXPECT_LE(solution.residual, 1.01e-8) << vectors << on_device;
      }
    }
  }

  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
};
} // namespace amgkit::test
