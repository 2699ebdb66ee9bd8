// Two levels under the Krylov methods outside and inside.
#include "support/convection.hpp"
#include "support/ilu_beside_petsc.hpp"

namespace amgkit::test
{
using Ilu2LevelTwo = Ilu2Level;

namespace
{
// On one rank there is no interface, and nobody reads the options of its solver.
std::string of_interface(const std::string &options) { return size_of_world() > 1 ? options : ""; }
} // namespace

// Steps for the Schur complement make the preconditioner another one at each application: methods that would not notice are refused, but on
// one rank, where there are none.
TEST_F(Ilu2LevelTwo, TwoLevelsAreForFlexibleMethodsOnly)
{
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OK(distribute(convection_diffusion(2, 20, 10, Wind::rotating), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    for (const char *krylov : {"gmres", "bcgs", "fgmres", "gcr"}) {
      const bool fits = size_of_world() == 1 || std::string(krylov) == KSPFGMRES || std::string(krylov) == KSPGCR;
      const std::string options = use.option + std::string(" -pc_ilu2level_levels 2 -ksp_type ") + krylov;
      OwnedKSP ksp;
      Solution solution;
      OK(make_ksp(A, options, ksp.out()));
      OK(VecSet(x, 0));
      if (!fits) {
        EXPECT_EQ(static_cast<int>(quietly([&] { return KSPSolve(ksp, b, x); })), PETSC_ERR_ARG_INCOMP) << options;
        continue;
      }
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << options;
    }
  }
}

// One that estimates eigenvalues when it is set up, before anything is solved, and anew for new values.
TEST_F(Ilu2LevelTwo, AnySolverOfTheInterfaceMayBeChosen)
{
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OwnedKSP ksp;
    Solution solution;
    PetscInt expected = 0;
    OK(distribute(grid7(12, 11, 10), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, use.option + (" -pc_ilu2level_levels 2 -ksp_type fgmres" + of_interface(" -ilu2level_schur_ksp_type chebyshev")),
                ksp.out()));
    for (const double factor : {1.0, 4096.0}) {
      OK(MatScale(A, factor));
      OK(KSPSetOperators(ksp, A, A));
      OK(VecSet(x, 0));
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << use.name;
      EXPECT_EQ(solution.iterations, factor == 1 ? solution.iterations : expected) << use.name;
      expected = solution.iterations;
    }
  }
}

// It is no answer, and the method outside must not take it for one; other right-hand sides are tried anew.
TEST_F(Ilu2LevelTwo, FailureOfTheInterfacesSolverEndsTheSolve)
{
  const std::string diverging =
      of_interface(" -ilu2level_schur_ksp_type richardson -ilu2level_schur_ksp_richardson_scale 1e3 -ilu2level_schur_ksp_divtol 10 "
                   "-ilu2level_schur_ksp_norm_type preconditioned -ilu2level_schur_ksp_convergence_test default");
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OwnedKSP ksp;
    KSPConvergedReason reason;
    OK(distribute(grid7(8, 7, 6), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, use.option + (" -pc_ilu2level_levels 2 -ksp_type fgmres" + diverging), ksp.out()));
    for (int round = 0; round < 2; round++) {
      OK(VecSet(x, 0));
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, size_of_world() == 1 ? KSP_CONVERGED_RTOL : KSP_DIVERGED_NANORINF) << use.name;
    }
  }
}
} // namespace amgkit::test
